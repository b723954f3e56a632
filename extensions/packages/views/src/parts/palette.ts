import type { Action, Row } from '@tvmlab/schema';

import { marked, t } from '../hostPage';
import { h, uniqueId } from '../dom';
import { type IViewState, rowOf } from '../viewState';
import { Part } from './part';

/** Something that the palette offers: what it is called, and the data attribute that does it. */
export interface IEntry {
  label: string;
  detail: string;
  group: string;
  attribute: readonly [string, string];
  refused: boolean;
}

const MOST_SHOWN = 60;

const COMMANDS: readonly [string, string][] = [
  ['undo', marked('Undo')],
  ['redo', marked('Redo')],
  ['measure', marked('Measure this schedule')],
  ['next', marked('Propose the next step')],
  ['copy', marked('Copy the session as Python')],
  ['cell', marked('Write the session into the notebook')],
  ['save', marked('Save the session as a file')],
  ['page', marked('Save the session as a page')],
  ['auto', marked('Measure by itself after each step')],
  ['measure_gains', marked('Measure every step')],
  ['name', marked('Name this state')],
  ['explore', marked('Train the model')],
  ['search', marked('Search from here')],
  ['grab', marked('Move the selected line')],
  ['help', marked('Show all keys')]
];

/** Everything that can be done or gone to, found by typing a part of its name. */
export class Palette extends Part<IViewState> {
  constructor() {
    super(
      h('div', {
        class: 'tvmlab-help tvmlab-palette',
        role: 'dialog',
        'aria-label': t('Commands and lines'),
        hidden: true
      })
    );
    this._input = h('input', {
      type: 'text',
      role: 'combobox',
      'aria-expanded': 'true',
      'aria-controls': this._id,
      'aria-autocomplete': 'list',
      'aria-label': t('Find a step, a command or a line'),
      placeholder: t('Find a step, a command or a line…'),
      autocomplete: 'off',
      spellcheck: 'false'
    });
    this._input.addEventListener('input', () => {
      this._entered = false;
      this._filter();
    });
    this._input.addEventListener('keydown', event => this._key(event));
    this.element.append(h('div', {}, this._input, this._remark, this._list));
  }

  protected inputs(view: IViewState): readonly unknown[] {
    const { palette, details, session } = view;
    return [palette, palette && details, palette && session.rows, palette && awaited(view)];
  }

  protected draw(view: IViewState): void {
    const opened = view.palette && this.element.hidden;
    this.element.toggleAttribute('hidden', !view.palette);
    if (!view.palette) {
      this._list.replaceChildren();
      return;
    }
    this._entries = entries(view);
    this._awaited = awaited(view);
    if (opened) {
      this._input.value = '';
      this._entered = false;
      this._input.focus();
    }
    this._filter();
    if (this._entered) {
      this._enter();
    }
  }

  /**
   * Do what is chosen. Steps of a line just selected may still be on their way: who typed faster
   * than they come means the first of what will be found, not of what is.
   */
  private _enter(): void {
    this._entered = this._awaited !== null && !this._moved;
    if (!this._entered) {
      this._list.querySelector<HTMLElement>('[aria-selected=true]')?.click();
    }
    this._tell();
  }

  private _filter(): void {
    const words = this._input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = this._entries.filter(({ label, group }) =>
      words.every(word => `${group} ${label}`.toLowerCase().includes(word))
    );
    this._list.replaceChildren(
      ...found.slice(0, MOST_SHOWN).map((entry, index) => option(entry, `${this._id}-${index}`))
    );
    this._moved = false;
    this._choose(0);
    this._tell();
  }

  private _tell(): void {
    const none = this._list.childElementCount === 0;
    const waits = this._awaited !== null && (none || this._entered);
    const text = waits
      ? t('Waiting for what can be done with %1…', this._awaited ?? '')
      : none
        ? t('Nothing is called that.')
        : '';
    if (this._remark.textContent !== text) {
      this._remark.textContent = text;
    }
  }

  private _choose(index: number): void {
    const options = [...this._list.querySelectorAll<HTMLElement>('[role=option]')];
    this._at = Math.min(Math.max(index, 0), options.length - 1);
    options.forEach((item, i) => item.setAttribute('aria-selected', String(i === this._at)));
    const chosen = options[this._at];
    this._input.setAttribute('aria-activedescendant', chosen?.id ?? '');
    if (chosen) {
      const { offsetTop: top, offsetHeight: height } = chosen;
      this._list.scrollTop = Math.min(
        Math.max(this._list.scrollTop, top + height - this._list.clientHeight),
        top
      );
    }
  }

  private _key(event: KeyboardEvent): void {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
    const step = steps[event.key];
    if (step !== undefined) {
      this._moved = true;
      this._entered = false;
      this._choose(this._at + step);
    } else if (event.key === 'Enter') {
      this._enter();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  private readonly _id = uniqueId('palette');
  private readonly _input: HTMLInputElement;
  private readonly _list = h('ul', {
    class: 'tvmlab-options',
    role: 'listbox',
    'aria-label': t('Found'),
    id: this._id
  });
  private _entries: readonly IEntry[] = [];
  private _at = 0;
  /** The line whose steps are on their way; null if none are. */
  private _awaited: string | null = null;
  /** Whether Enter was pressed before they came. */
  private _entered = false;
  /** Whether one of what was found was chosen by key. */
  private _moved = false;
  private readonly _remark = h('p', { class: 'tvmlab-why', role: 'status' });
}

/** The line whose steps are being asked for; null if they are there, or nobody will answer. */
function awaited({ details, session, selected, connection }: IViewState): string | null {
  const asked = details === null && connection.state !== 'gone';
  return asked ? (rowOf(session, selected)?.name ?? null) : null;
}

function entries(view: IViewState): IEntry[] {
  const row = rowOf(view.session, view.selected);
  return [
    ...(view.details?.actions ?? []).map(action => actionEntry(action, row)),
    ...COMMANDS.map(([command, label]) => ({
      label: t(label),
      detail: '',
      group: 'command',
      attribute: ['command', command] as const,
      refused: false
    })),
    ...view.session.rows.filter(candidate => candidate.type !== 'statement').map(lineEntry)
  ];
}

function actionEntry({ id, title, summary, verdict }: Action, row: Row | null): IEntry {
  const allowed = verdict.status === 'allowed';
  return {
    label: `${title} ${row === null ? '' : `(${row.name})`}`,
    detail: allowed ? summary : verdict.reason,
    group: 'step',
    attribute: ['action', id],
    refused: !allowed
  };
}

function lineEntry({ id, name, type, kind, extent }: Row): IEntry {
  const size = extent === null ? '' : ` ${t('of %1', extent)}`;
  return {
    label: name,
    detail: type === 'loop' ? t('%1 loop%2', kind, size) : type,
    group: 'line',
    attribute: ['row', id],
    refused: false
  };
}

function option({ label, detail, group, attribute, refused }: IEntry, id: string): HTMLElement {
  const [name, value] = attribute;
  return h(
    'li',
    { role: 'option', id, [`data-${name}`]: value, 'data-refused': String(refused) },
    h('span', { class: 'tvmlab-dim' }, group),
    h('span', {}, refused ? `⊘ ${label}` : label),
    h('span', { class: 'tvmlab-what' }, detail)
  );
}
