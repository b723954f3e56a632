import type { Action, Details, Row } from '@tvmlab/schema';

import { t } from '../hostPage';
import { h } from '../dom';
import { type IViewState, rowOf } from '../viewState';
import { Form } from './form';
import { Part } from './part';
import { verdictCard } from './verdict';

/** What the selected line is, what can be done with it, and why the rest cannot. */
export class Side extends Part<IViewState> {
  constructor() {
    super(h('section', { class: 'tvmlab-side', 'aria-label': t('Selected line') }));
    this.element.append(
      this._heading,
      this.form.element,
      this._refusal,
      this._about,
      this._actions.element
    );
  }

  readonly form = new Form();

  override render(view: IViewState): void {
    super.render(view);
    this.form.render(view);
    this._actions.render(view);
  }

  protected inputs({ session, selected, details, refusal }: IViewState): readonly unknown[] {
    return [session.rows, selected, details, refusal];
  }

  protected draw({ session, selected, details, refusal }: IViewState): void {
    const row = rowOf(session, selected);
    this._heading.replaceChildren(...(row === null ? [hint()] : [heading(row)]));
    this._about.replaceChildren(...(row === null || details === null ? [] : about(details)));
    this._refusal.replaceChildren(
      ...(refusal === null ? [] : [verdictCard(refusal.title, refusal.verdict)])
    );
    if (selected !== this._shown || refusal !== null) {
      this.element.scrollTop = 0; // what is new stands at the top
    }
    if (refusal !== null && refusal !== this._refused) {
      // What was refused may have been asked for far below.
      this._refusal.scrollIntoView({ block: 'nearest' });
    }
    this._refused = refusal;
    this._shown = selected;
  }

  private _shown: string | null = null;
  private _refused: IViewState['refusal'] = null;
  private readonly _heading = h('div');
  private readonly _about = h('div');
  private readonly _refusal = h('div');
  private readonly _actions = new ActionList();
}

/** Every primitive for the line, family by family; refused ones say why. */
class ActionList extends Part<IViewState> {
  constructor() {
    super(h('div', { class: 'tvmlab-families', 'aria-label': t('Actions'), role: 'group' }));
    this.element.addEventListener('toggle', event => this._toggled(event.target), true);
  }

  protected inputs({ details, draft, connection }: IViewState): readonly unknown[] {
    return [details, draft?.action.id, connection.state];
  }

  protected draw({ details, draft, connection }: IViewState): void {
    const dead = connection.state === 'gone';
    const open = draft?.action.id;
    this.element.replaceChildren(
      ...families(details?.actions ?? []).map(([name, actions]) =>
        h(
          'details',
          { 'data-family': name, open: !this._folded.has(name) },
          h('summary', {}, name, h('span', { class: 'tvmlab-dim' }, tally(actions))),
          h(
            'ul',
            { class: 'tvmlab-acts' },
            ...actions.map(action => h('li', {}, actionButton(action, action.id === open, dead)))
          )
        )
      )
    );
  }

  /** Families that were folded stay so for other lines. */
  private _toggled(target: EventTarget | null): void {
    const name = target instanceof HTMLDetailsElement ? target.dataset['family'] : undefined;
    if (name !== undefined && (target as HTMLDetailsElement).isConnected) {
      this._folded[(target as HTMLDetailsElement).open ? 'delete' : 'add'](name);
    }
  }

  private readonly _folded = new Set<string>();
}

/** The actions by family, in the order of the session. */
function families(actions: readonly Action[]): [string, Action[]][] {
  const found = new Map<string, Action[]>();
  for (const action of actions) {
    found.set(action.family, [...(found.get(action.family) ?? []), action]);
  }
  return [...found];
}

/** How many of them can be done. */
function tally(actions: readonly Action[]): string {
  const allowed = actions.filter(action => action.verdict.status === 'allowed').length;
  return allowed === actions.length ? String(allowed) : t('%1 of %2', allowed, actions.length);
}

function hint(): HTMLElement {
  return h(
    'p',
    { class: 'tvmlab-why' },
    t('Select a loop or a block to see what can be done with it.')
  );
}

function heading(row: Row): HTMLElement {
  const kind = row.type === 'loop' && row.reduction ? `${row.kind} · ${t('reduction')}` : row.kind;
  const size = row.extent === null ? '' : ` · ${row.extent}`;
  return h('h4', {}, row.name, h('span', { class: 'tvmlab-pill' }, `${kind}${size}`));
}

function about(details: Details): HTMLElement[] {
  const facts = details.facts.flatMap(({ label, value }) => [
    h('dt', {}, label),
    h('dd', {}, value)
  ]);
  return [
    ...(details.sentence === '' ? [] : [h('p', { class: 'tvmlab-why' }, details.sentence)]),
    ...(facts.length === 0 ? [] : [h('dl', { class: 'tvmlab-facts' }, ...facts)])
  ];
}

const KEY_SIGNS: Record<string, string> = {
  'Shift+ArrowUp': '⇧↑',
  'Shift+ArrowDown': '⇧↓'
};

function actionButton(action: Action, open: boolean, disabled: boolean): HTMLElement {
  const { status, reason } = action.verdict;
  const sign = action.key === null ? '' : (KEY_SIGNS[action.key] ?? action.key.toUpperCase());
  const stop = status === 'allowed' ? '' : status === 'refused' ? '⊘ ' : '? ';
  const more = action.params.length > 0 ? '…' : '';
  const text = status === 'allowed' ? action.summary : reason;
  // Beside the action's name, only the why: 'cannot vectorize k' is said already.
  const why = text.replace(/^cannot [^:]*: /, '');
  return h(
    'button',
    {
      class: 'tvmlab-act',
      type: 'button',
      'data-action': action.id,
      'data-status': status,
      'aria-expanded': action.params.length > 0 ? String(open) : null,
      'aria-label': `${action.title}, ${status}. ${text}`,
      title: text,
      disabled
    },
    h('span', { class: sign === '' ? '' : 'tvmlab-key', 'data-letter': sign.length === 1 }, sign),
    h('span', {}, `${stop}${action.title}${more}`),
    h('span', { class: 'tvmlab-what' }, why)
  );
}
