import type { DiffLine, Param, Row, Value } from '@tvmlab/schema';

import { t } from '../hostPage';
import { h, treeOf, uniqueId } from '../dom';
import type { IDraft, IViewState } from '../viewState';
import { diffView } from './diff';
import { followSlider, factorSlider } from './factorSlider';
import { factorChips, factorsText, numbersText } from './factors';
import { Part } from './part';
import { verdictCard } from './verdict';

/**
 * The parameters of one action, with what would come of them.
 *
 * Fields are drawn once for an action, so that typing is never disturbed; only the chips that are
 * pressed and the outcome follow the values.
 */
export class Form extends Part<IViewState> {
  constructor() {
    super(h('form', { class: 'tvmlab-form', hidden: true }));
    this.element.append(this._title, this._fields, this._outcome.element, this._buttons);
  }

  override render(view: IViewState): void {
    super.render(view);
    this._outcome.render(view.draft);
    if (view.draft !== null) {
      this._follow(view.draft);
    }
  }

  /** Put the cursor into the first field. */
  focus(): void {
    const field = this._fields.querySelector<HTMLElement>(
      'input, [data-value]:not(:disabled), select'
    );
    field?.focus();
    if (field instanceof HTMLInputElement) {
      field.select(); // what is typed takes its place
    }
  }

  protected inputs({ draft, session }: IViewState): readonly unknown[] {
    return [draft?.action, session.rows];
  }

  protected draw({ draft, session }: IViewState): void {
    this.element.toggleAttribute('hidden', draft === null);
    if (draft === null) {
      this._fields.replaceChildren();
      return;
    }
    this._title.textContent = draft.action.title;
    const drawn = (param: Param): HTMLElement =>
      field(param, draft.params[param.name] ?? null, session.rows);
    const { params } = draft.action;
    const more = params.filter(param => param.optional);
    const first = params.length > more.length ? params.filter(param => !param.optional) : params;
    this._fields.replaceChildren(
      ...first.map(drawn),
      ...(first === params || more.length === 0 ? [] : [moreFields(more.map(drawn))])
    );
  }

  /** Show the values where they are shown as pressed, and in fields nobody types in. */
  private _follow(draft: IDraft): void {
    const focused = treeOf(this.element).activeElement;
    for (const param of draft.action.params) {
      const value = draft.params[param.name] ?? null;
      const last = Array.isArray(value) ? value[value.length - 1] : value;
      const field = this._fields.querySelector(`[data-field="${param.name}"]`);
      for (const chip of field?.querySelectorAll('[data-value]') ?? []) {
        const pressed =
          chip.getAttribute('data-value') === String(last) &&
          (!Array.isArray(value) || value.length === 2);
        chip.setAttribute('aria-pressed', String(pressed));
      }
      const input = field?.querySelector<HTMLInputElement>('input');
      if (field && param.extent !== null) {
        followSlider(field, param.extent, Number(last));
      }
      if (input && input !== focused && param.kind === 'factors') {
        input.value = factorsText(value);
      } else if (input && input !== focused && param.kind === 'int') {
        input.value = String(value ?? '');
      }
      if (param.kind === 'order' && Array.isArray(value)) {
        const list = field?.querySelector('ol');
        const items = value.map(id => list?.querySelector(`[data-item="${String(id)}"]`) ?? null);
        list?.append(...items.filter(item => item !== null));
      }
    }
  }

  private readonly _title = h('b');
  private readonly _fields = h('div');
  private readonly _outcome = new Outcome();
  private readonly _buttons = h(
    'div',
    { class: 'tvmlab-fixes' },
    h(
      'button',
      { class: 'tvmlab-btn tvmlab-pri', type: 'submit', 'data-command': 'apply' },
      t('Apply')
    ),
    h('button', { class: 'tvmlab-btn', type: 'button', 'data-command': 'close' }, t('Cancel'))
  );
}

/** What the session says of the parameters as they stand, and the nest that they would make. */
class Outcome extends Part<IDraft | null> {
  constructor() {
    super(h('div'));
    this.element.append(this._words, this._after);
  }

  protected inputs(draft: IDraft | null): readonly unknown[] {
    return [draft?.outcome];
  }

  protected draw(draft: IDraft | null): void {
    const outcome = draft?.outcome ?? null;
    const preview = outcome?.preview ?? null;
    this._after.replaceChildren(...(preview === null ? [] : [nestAfter(preview)]));
    if (draft === null || outcome === null) {
      this._words.replaceChildren();
    } else if (outcome.verdict.status === 'allowed') {
      const mark = h('span', { class: 'tvmlab-good' }, '✓ ');
      this._words.replaceChildren(mark, outcome.summary === '' ? t('allowed') : outcome.summary);
    } else {
      this._words.replaceChildren(verdictCard(draft.action.title, outcome.verdict));
    }
  }

  private readonly _words = h('div', { class: 'tvmlab-outcome', 'aria-live': 'polite' });
  private readonly _after = h('div');
}

/** The nest as it would be, unchanged lines pale. */
function nestAfter(lines: readonly DiffLine[]): HTMLElement {
  return h(
    'details',
    { class: 'tvmlab-preview', open: true },
    h('summary', {}, t('The nest as it would be')),
    diffView(lines, t('Preview of the loop nest'))
  );
}

function field(param: Param, value: Value, rows: readonly Row[]): HTMLElement {
  const id = uniqueId('field');
  const words = h('span', {}, param.doc === '' ? param.name : `${param.name}: ${param.doc}`);
  // Lists of buttons have no one field that a label could belong to.
  const listed = param.kind === 'choice' || param.kind === 'order';
  const label = listed
    ? h('span', { class: 'tvmlab-label', id }, words)
    : h('label', { for: id }, words);
  return h(
    'div',
    { class: 'tvmlab-field', 'data-field': param.name },
    label,
    ...control(param, value, id, rows),
    h('div', { class: 'tvmlab-problem', role: 'alert' })
  );
}

function control(param: Param, value: Value, id: string, rows: readonly Row[]): HTMLElement[] {
  switch (param.kind) {
    case 'factors':
      return [textInput(id, factorsText(value)), ...slider(param.extent), chips(param.extent)];
    case 'int':
      return [
        h('input', { id, type: 'number', value: String(value ?? ''), autocomplete: 'off' }),
        chips(param.extent)
      ];
    case 'bool':
      return [h('input', { id, type: 'checkbox', checked: value === true })];
    case 'ints':
      return [textInput(id, numbersText(value))];
    case 'text':
      return [textInput(id, String(value ?? ''))];
    case 'choice':
      return [choices(param, id)];
    case 'order':
      return [order(param, Array.isArray(value) ? value.map(String) : [], rows)];
  }
}

/** What is seldom given, out of the way. */
function moreFields(fields: readonly HTMLElement[]): HTMLElement {
  return h('details', { class: 'tvmlab-more' }, h('summary', {}, t('More')), ...fields);
}

function textInput(id: string, value: string): HTMLElement {
  return h('input', { id, type: 'text', value, autocomplete: 'off', spellcheck: 'false' });
}

function slider(extent: number | null): HTMLElement[] {
  return extent === null ? [] : [factorSlider(extent)];
}

/** Factors of one click: the divisors plain, those with a tail marked. */
function chips(extent: number | null): HTMLElement {
  const offered = extent === null ? [] : factorChips(extent);
  return h(
    'div',
    { class: 'tvmlab-chips' },
    ...offered.map(({ factor, tail }) =>
      h(
        'button',
        {
          class: 'tvmlab-chip',
          type: 'button',
          'data-value': factor,
          'data-tail': String(tail),
          'aria-pressed': 'false',
          title: tail
            ? t('%1 leaves a tail of %2', factor, (extent ?? 0) % factor)
            : t('%1 divides evenly', factor)
        },
        tail ? `${factor}+` : String(factor)
      )
    )
  );
}

/** A closed set of values; those that would be refused stay, with their reason. */
function choices(param: Param, label: string): HTMLElement {
  return h(
    'ul',
    { class: 'tvmlab-acts', 'aria-labelledby': label },
    ...param.choices.map(choice =>
      h(
        'li',
        {},
        h(
          'button',
          {
            class: 'tvmlab-act tvmlab-choice',
            type: 'button',
            'data-value': choice.value,
            'data-status': choice.status,
            'aria-pressed': 'false',
            title: choice.reason
          },
          h('span', {}, choice.status === 'allowed' ? '✓' : '⊘'),
          h('span', { class: 'tvmlab-mono' }, choice.label),
          h('span', { class: 'tvmlab-what' }, choice.reason)
        )
      )
    )
  );
}

/** Lines to put in order, each moved by two small buttons. */
function order(param: Param, value: readonly string[], rows: readonly Row[]): HTMLElement {
  const name = (id: string): string =>
    param.choices.find(choice => choice.value === id)?.label ??
    rows.find(row => row.id === id)?.name ??
    id;
  return h(
    'ol',
    { class: 'tvmlab-order' },
    ...value.map(id =>
      h(
        'li',
        { 'data-item': id },
        h('span', {}, name(id)),
        h(
          'button',
          {
            class: 'tvmlab-btn',
            type: 'button',
            'data-move': -1,
            'aria-label': t('Move %1 out', name(id))
          },
          '↑'
        ),
        h(
          'button',
          {
            class: 'tvmlab-btn',
            type: 'button',
            'data-move': 1,
            'aria-label': t('Move %1 in', name(id))
          },
          '↓'
        )
      )
    )
  );
}
