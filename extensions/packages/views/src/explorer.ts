import type { Point } from '@tvmlab/schema';

import type { Request } from './client';
import { Controller } from './controller';
import { closestData, h } from './dom';
import { Drag } from './drag';
import { fieldClicked, fieldEdited } from './fields';
import { handleKey } from './keys';
import type { IViewModel } from './model';
import { type IExplorer, mountNotice } from './notice';
import { Banner } from './parts/banner';
import { Code, TABS } from './parts/code';
import { Header } from './parts/header';
import { Help } from './parts/help';
import { History } from './parts/history';
import { Nest } from './parts/nest';
import { Palette } from './parts/palette';
import { Side } from './parts/side';
import { Status } from './parts/status';
import { EXPLORE_COUNT, Scatter } from './plot/scatter';
import { addStyles } from './style/styles';
import type { IViewState, Tab } from './viewState';

/** Show the session behind a model in an element. */
export function mountExplorer(model: IViewModel, element: HTMLElement): IExplorer {
  addStyles(element.ownerDocument);
  return new Explorer(model, element);
}

/**
 * The main view of a session: the nest in the middle, actions beside it, history, code and plot
 * below. Listens once, at its root, for everything that happens in it.
 */
class Explorer implements IExplorer {
  constructor(model: IViewModel, element: HTMLElement) {
    this._frame.append(
      this._header.element,
      this._banner.element,
      this._nest.element,
      this._side.element,
      this._history.element,
      this._code.element,
      this._plot.element,
      this._status.element
    );
    this._root.append(this._frame, this._help.element, this._palette.element, this._live);
    element.append(this._root);
    this._controller = new Controller(
      model,
      () => this._draw(),
      text => (this._live.textContent = text)
    );
    this._listen();
    this._draw();
  }

  dispose(): void {
    this._controller.dispose();
    this._waiting?.dispose();
    this._root.remove();
  }

  focus(): void {
    this._nest.tree.focus();
  }

  private _draw(): void {
    // The controller reports its first state before it is known here.
    const view = (this._controller as Controller | undefined)?.view ?? null;
    this._frame.toggleAttribute('hidden', view === null);
    if (view === null) {
      this._waiting ??= mountNotice(
        this._root,
        'Connecting…',
        'Waiting for the session to answer.'
      );
      return;
    }
    this._waiting?.dispose();
    this._waiting = null;
    this._root.classList.toggle('tvmlab-gone', view.connection.state === 'gone');
    for (const part of this._parts) {
      part.render(view);
    }
    if (view.session.plot !== this._plotted) {
      this._plotted = view.session.plot;
      const { points, unit, rank_correlation: correlation, message } = view.session.plot;
      this._plot.render({
        points: points.map(point => ({ ...point, opens: openingOf(point) !== null })),
        unit,
        correlation,
        message: message ?? null
      });
    }
  }

  private _listen(): void {
    const root = this._root;
    root.addEventListener('click', event => this._click(event));
    root.addEventListener('dblclick', event => this._doubleClick(event));
    root.addEventListener('input', event => fieldEdited(this._controller, event.target));
    root.addEventListener('submit', event => this._submit(event));
    root.addEventListener('keydown', event =>
      handleKey(event, this._controller, {
        tree: () => this.focus(),
        form: () => this._side.form.focus()
      })
    );
    this._code.element.addEventListener('keydown', event => this._tabKey(event));
  }

  private _click(event: MouseEvent): void {
    const { target } = event;
    const hit = (name: string): string | undefined => closestData(target, name)?.value;
    if (this._drag.dragged) {
      return;
    }
    if (closestData(target, 'refused')) {
      this._controller.escape(); // an entry of the palette, which has done its work
      this.focus();
    }
    const command = hit('command');
    const row = hit('row');
    const action = hit('action');
    const fix = hit('fix');
    const node = hit('node');
    const tab = hit('tab');
    const point = hit('point');
    if (command !== undefined) {
      this._command(command);
    } else if (row !== undefined) {
      this._controller.select(row);
      this.focus();
    } else if (action !== undefined) {
      void this._controller
        .start(candidate => candidate.id === action)
        .then(result => {
          if (result === 'form') {
            this._side.form.focus();
          }
        });
    } else if (fix !== undefined) {
      void this._controller.fix(fix);
    } else if (node !== undefined) {
      void this._controller.command({ type: 'goto', node });
    } else if (point !== undefined) {
      this._openPoint(Number(point));
    } else if (tab !== undefined) {
      this._controller.showTab(tab as Tab);
    } else {
      fieldClicked(this._controller, target);
    }
  }

  private _doubleClick(event: MouseEvent): void {
    if (closestData(event.target, 'row')) {
      this._controller.fold(
        this._controller.view?.collapsed.has(this._controller.view.selected ?? '') ?? false
      );
    }
  }

  private _submit(event: Event): void {
    event.preventDefault();
    const name = (event.target as HTMLElement).querySelector<HTMLInputElement>(
      '.tvmlab-naming > input'
    );
    if (name) {
      void this._controller.command({ type: 'checkpoint', name: name.value.trim() });
    } else {
      void this._controller.applyDraft().then(() => this.focus());
    }
  }

  private _command(command: string): void {
    const controller = this._controller;
    switch (command) {
      case 'undo':
      case 'redo':
      case 'measure':
      case 'cancel':
        void controller.command({ type: command });
        break;
      case 'explore':
        void controller.command({ type: 'explore', count: EXPLORE_COUNT });
        break;
      case 'copy':
        void this._copy();
        break;
      case 'close':
        controller.escape();
        this.focus();
        break;
      case 'help':
        controller.toggleHelp();
        break;
      case 'palette':
        controller.togglePalette();
        break;
      case 'grab':
        controller.grab();
        this.focus();
        break;
      case 'name':
        controller.name(true);
        this._history.focusName();
        break;
    }
  }

  /** Open the schedule behind a point of the plot. */
  private _openPoint(index: number): void {
    const point = this._controller.view?.session.plot.points[index];
    const request = point ? openingOf(point) : null;
    if (request !== null) {
      void this._controller.command(request);
    }
  }

  private async _copy(): Promise<void> {
    const text = this._controller.view?.session.python ?? '';
    try {
      await navigator.clipboard.writeText(text);
      this._live.textContent = 'Copied the session as Python.';
    } catch {
      // No permission: show the text instead, selected by hand.
      this._controller.showTab('python');
      this._live.textContent = 'The browser does not allow copying; the Python tab has the text.';
    }
  }

  /** Left and right move between tabs, as in any tab list. */
  private _tabKey(event: KeyboardEvent): void {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const tab = closestData(event.target, 'tab');
    if (step === undefined || tab === null) {
      return;
    }
    const at = TABS.findIndex(([name]) => name === tab.value);
    const next = TABS[(at + step + TABS.length) % TABS.length];
    if (next) {
      this._controller.showTab(next[0]);
      this._code.element.querySelector<HTMLElement>(`[data-tab="${next[0]}"]`)?.focus();
    }
    event.preventDefault();
    event.stopPropagation();
  }

  private readonly _root = h('div', { class: 'tvmlab tvmlab-explorer' });
  private readonly _frame = h('div', { class: 'tvmlab-frame' });
  private readonly _live = h('div', { class: 'tvmlab-hidden', 'aria-live': 'polite' });
  private readonly _header = new Header();
  private readonly _banner = new Banner();
  private readonly _nest = new Nest();
  private readonly _side = new Side();
  private readonly _history = new History();
  private readonly _code = new Code();
  private readonly _plot = new Scatter();
  private readonly _status = new Status();
  private readonly _help = new Help();
  private readonly _palette = new Palette();
  private readonly _drag = new Drag(this._nest.tree, () => this._controller.mover);
  private readonly _parts: readonly { render(view: IViewState): void }[] = [
    this._header,
    this._banner,
    this._nest,
    this._side,
    this._history,
    this._code,
    this._status,
    this._help,
    this._palette
  ];
  private readonly _controller: Controller;
  private _plotted: IViewState['session']['plot'] | null = null;
  private _waiting: IExplorer | null = null;
}

/** The command that opens a point's schedule: its state in the history, or a new branch. */
function openingOf({ node, id }: Point): Request | null {
  if (node !== null) {
    return { type: 'goto', node };
  }
  return id === undefined ? null : { type: 'load', point: id };
}
