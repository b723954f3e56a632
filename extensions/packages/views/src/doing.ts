import { t } from './hostPage';
import type { Controller } from './controller';
import { h } from './dom';
import { EXPLORE_COUNT } from './plot/scatter';

const STUDIES = {
  'study:proof': 'proof',
  'study:profile': 'profile',
  'study:pool': 'pool'
} as const;

const GUESSES = {
  'guess:on': 'on',
  'guess:off': 'off',
  'guess:faster': 'faster',
  'guess:same': 'same',
  'guess:slower': 'slower'
} as const;

/** What commands need of the view besides the controller. */
export interface IDoingView {
  say(text: string): void;
  focus(): void;
  /** Put the cursor into the field for a checkpoint's name. */
  name(): void;
}

/** What the buttons and the palette do, by the names that they carry. */
export class Doing {
  constructor(controller: Controller, root: HTMLElement, view: IDoingView) {
    this._controller = controller;
    this._root = root;
    this._view = view;
  }

  run(command: string): void {
    const controller = this._controller;
    switch (command) {
      case 'undo':
      case 'redo':
      case 'measure':
      case 'cancel':
      case 'measure_gains':
      case 'measure_machine':
        void controller.command({ type: command });
        break;
      case 'study:proof':
      case 'study:profile':
      case 'study:pool':
        void controller.command({ type: 'study', what: STUDIES[command] });
        break;
      case 'guess:on':
      case 'guess:off':
      case 'guess:faster':
      case 'guess:same':
      case 'guess:slower': {
        const limit = controller.view?.choices['guess.limit'] ?? '';
        const what = GUESSES[command];
        void controller.command({ type: 'guess', what, limit: limit === '' ? null : limit });
        break;
      }
      case 'explore':
        void controller.command({ type: 'explore', count: EXPLORE_COUNT });
        break;
      case 'next':
        controller.set({ insight: 'suggest' });
        this._root.querySelector('.tvmlab-insights')?.scrollIntoView({ block: 'nearest' });
        break;
      case 'search':
        controller.set({ insight: 'search' });
        void controller.command({ type: 'search', message: null });
        break;
      case 'search_take':
        void controller.command({ type: 'search_take', trial: null });
        break;
      case 'auto':
        void controller.command({ type: 'auto', on: !controller.view?.session.auto });
        break;
      case 'save':
        void this._save('session');
        break;
      case 'page':
        void this._save('html');
        break;
      case 'cell':
        this._writeCell();
        break;
      case 'copy':
        void this._copy();
        break;
      case 'close':
        controller.escape();
        this._view.focus();
        break;
      case 'help':
        controller.toggle('help');
        break;
      case 'palette':
        controller.toggle('palette');
        break;
      case 'grab':
        controller.grab();
        this._view.focus();
        break;
      case 'name':
        controller.name(true);
        this._view.name();
        break;
    }
  }

  /** Have the session as a file, and let the browser keep it. */
  private async _save(kind: 'session' | 'html'): Promise<void> {
    const reply = await this._controller.file(kind);
    if (reply !== null) {
      const url = URL.createObjectURL(new Blob([reply.text], { type: reply.media }));
      h('a', { href: url, download: reply.name }).click();
      setTimeout(() => URL.revokeObjectURL(url), 1000);
      this._view.say(t('Saved %1.', reply.name));
    }
  }

  /** Ask the notebook around this view to take the session's code into a cell. */
  private _writeCell(): void {
    const session = this._controller.view?.session;
    const event = new CustomEvent('tvmlab:write-cell', {
      bubbles: true,
      composed: true,
      cancelable: true,
      detail: { session: session?.session.id, code: session?.cell ?? '' }
    });
    const taken = !this._root.dispatchEvent(event);
    this._view.say(
      taken
        ? t('The steps were written into the notebook.')
        : t('No notebook took the code; it can be copied instead.')
    );
    if (!taken) {
      void this._copy();
    }
  }

  private async _copy(): Promise<void> {
    const text = this._controller.view?.session.python ?? '';
    try {
      await navigator.clipboard.writeText(text);
      this._view.say(t('Copied the session as Python.'));
    } catch {
      // No permission: show the text instead, selected by hand.
      this._controller.showTab('python');
      this._view.say(t('The browser does not allow copying; the Python tab has the text.'));
    }
  }

  private readonly _controller: Controller;
  private readonly _root: HTMLElement;
  private readonly _view: IDoingView;
}
