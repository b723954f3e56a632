import { Announcer } from './announcer';
import { choose, forget } from './choices';
import { Controller } from './controller';
import { closestData, h } from './dom';
import { Doing } from './doing';
import { Drag } from './drag';
import { fieldClicked, fieldEdited } from './fields';
import { FocusKeeper } from './focus';
import { useUnits } from './format';
import { onPublished, t } from './hostPage';
import { handleKey } from './keys';
import type { IViewModel } from './model';
import { type IExplorer, mountNotice } from './notice';
import { Banner } from './parts/banner';
import { Code } from './parts/code';
import { Header } from './parts/header';
import { Help } from './parts/help';
import { History } from './parts/history';
import { Insights } from './parts/insights';
import { Nest } from './parts/nest';
import { Palette } from './parts/palette';
import { SearchTab } from './parts/searchTab';
import { redrawParts } from './parts/part';
import { Side } from './parts/side';
import { Status } from './parts/status';
import type { Region } from './plot/brushing';
import { openPoint, plotted } from './plot/opening';
import { BRUSHED, Scatter } from './plot/scatter';
import { dress, type IPreferences, preferencesOf } from './preferences';
import { Presses } from './presses';
import { ownShortcuts } from './shortcuts';
import { addStyles } from './style/styles';
import { tabKey } from './tabKeys';
import { TypeAhead } from './typeAhead';
import type { IViewState, Tab } from './viewState';

/** Show the session behind a model in an element. */
export function mountExplorer(model: IViewModel, element: HTMLElement): IExplorer {
  addStyles(element);
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
      this._insights.element,
      this._status.element
    );
    this._root.append(
      this._frame,
      this._help.element,
      this._palette.element,
      this._announcer.element
    );
    element.append(this._root);
    this._preferences = preferencesOf(model);
    this._controller = new Controller(
      model,
      () => this._keeper.around(() => this._draw()),
      text => this._announcer.say(text)
    );
    this._doing = new Doing(this._controller, this._root, {
      say: text => this._announcer.say(text),
      focus: () => this.focus(),
      name: () => this._history.focusName()
    });
    dress(this._root, this._preferences);
    this._controller.prefer(this._preferences);
    this._ends = [onPublished(() => this._prefer(preferencesOf(model))), ownShortcuts(this._root)];
    new TypeAhead(this._root, this._controller.acts, text => this._announcer.say(text));
    new Presses(this._root);
    this._listen();
    this._draw();
  }

  dispose(): void {
    this._controller.dispose();
    this._search.dispose();
    this._ends.forEach(end => end());
    this._waiting?.dispose();
    this._root.remove();
  }

  focus(): void {
    this._nest.tree.focus({ preventScroll: true });
  }

  /** Show everything as the reader prefers it. */
  private _prefer(preferences: IPreferences): void {
    this._preferences = preferences;
    dress(this._root, this._preferences);
    redrawParts();
    this._plotted = null;
    this._draw();
    this._controller.prefer(preferences);
  }

  private _draw(): void {
    useUnits(this._preferences);
    // The controller reports its first state before it is known here.
    const view = (this._controller as Controller | undefined)?.view ?? null;
    this._frame.toggleAttribute('hidden', view === null);
    if (view === null) {
      this._waiting ??= mountNotice(
        this._root,
        t('Connecting…'),
        t('Waiting for the session to answer.')
      );
      return;
    }
    this._waiting?.dispose();
    this._waiting = null;
    this._root.classList.toggle('tvmlab-gone', view.connection.state === 'gone');
    for (const part of this._parts) {
      part.render(view);
    }
    this._search.render(view);
    if (view.session.plot !== this._plotted) {
      this._plotted = view.session.plot;
      this._plot.render(plotted(view.session.plot));
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
        form: () => this._side.form.focus(),
        letters: this._preferences.letterKeys
      })
    );
    root.addEventListener('keydown', event => tabKey(event, this._controller, root), true);
    root.addEventListener('change', event => choose(this._controller, event.target));
    root.addEventListener(BRUSHED, event => this._brushed((event as CustomEvent<Region>).detail));
    this._code.element.addEventListener('pointerover', event => {
      const line = closestData(event.target, 'line');
      this._point(line === null ? [] : this._code.familyOf(Number(line.value)));
    });
    this._code.element.addEventListener('pointerleave', () => this._point([]));
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
    const insight = hit('insight');
    const line = hit('line');
    const picked = hit('pick');
    const suggested = hit('suggested');
    const reset = hit('reset');
    const exercise = closestData(target, 'exercise');
    if (command !== undefined) {
      this._doing.run(command);
    } else if (row !== undefined) {
      this._controller.select(row);
      this.focus();
    } else if (action !== undefined) {
      void this._start(action);
    } else if (fix !== undefined) {
      void this._controller.command({ type: 'fix', token: fix });
    } else if (node !== undefined) {
      void this._controller.command({ type: 'goto', node });
    } else if (point !== undefined) {
      openPoint(this._controller, Number(point));
    } else if (tab !== undefined) {
      this._controller.showTab(tab as Tab);
    } else if (suggested !== undefined) {
      const [row = '', action = ''] = suggested.split('/');
      this._controller.select(row);
      void this._start(action);
    } else if (exercise !== null) {
      const value = exercise.element.dataset['guess'] ?? null;
      void this._controller.command({ type: 'exercise_do', what: exercise.value, value });
    } else if (reset !== undefined) {
      forget(this._controller, reset);
    } else if (insight !== undefined) {
      this._controller.set({ insight });
    } else if (picked !== undefined) {
      void this._controller.command({ type: 'pick', node: picked });
    } else if (line !== undefined) {
      const [own] = this._code.familyOf(Number(line));
      if (own !== undefined) {
        this._controller.select(own);
      }
    } else {
      fieldClicked(this._controller, target);
    }
  }

  private async _start(action: string): Promise<void> {
    const result = await this._controller.start(candidate => candidate.id === action);
    if (result === 'form') {
      this._side.form.focus();
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

  /** Ask what the schedules of a marked region of the plot share. */
  private _brushed(region: Region): void {
    const bounds = Object.fromEntries(
      region.map((bound, n) => [`residuals.${n}`, bound.toPrecision(6)])
    );
    const choices = { ...this._controller.view?.choices, ...bounds, 'residuals.chosen': 'region' };
    this._controller.set({ choices, insight: 'residuals' });
  }

  /** Light the lines of the nest that the pointer's line of code comes from. */
  private _point(pointed: readonly string[]): void {
    if (pointed.length > 0 || (this._controller.view?.pointed.length ?? 0) > 0) {
      this._controller.set({ pointed });
    }
  }

  private readonly _root = h('div', { class: 'tvmlab tvmlab-explorer' });
  private readonly _frame = h('div', { class: 'tvmlab-frame' });
  private readonly _announcer = new Announcer();
  private readonly _keeper = new FocusKeeper(this._root, () => this.focus());
  private readonly _header = new Header();
  private readonly _banner = new Banner();
  private readonly _nest = new Nest();
  private readonly _side = new Side();
  private readonly _history = new History();
  private readonly _code = new Code();
  private readonly _plot = new Scatter();
  private readonly _search = new SearchTab(request => this._controller.ask(request));
  private readonly _insights = new Insights({
    model: this._plot.element,
    search: this._search.element
  });
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
    this._insights,
    this._status,
    this._help,
    this._palette
  ];
  private readonly _controller: Controller;
  private readonly _doing: Doing;
  private _plotted: IViewState['session']['plot'] | null = null;
  private _waiting: IExplorer | null = null;
  private _preferences: IPreferences;
  private readonly _ends: readonly (() => void)[];
}
