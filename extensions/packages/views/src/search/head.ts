import type { SearchState } from '@tvmlab/schema';

import { marked, t } from '../hostPage';
import { h } from '../dom';
import { digits, time } from '../format';

const STATUS: Record<SearchState['status'], string> = {
  ready: marked('ready'),
  running: marked('● searching'),
  paused: marked('❚❚ paused'),
  stopping: marked('stopping…'),
  done: marked('✓ done'),
  failed: marked('✗ failed')
};
/** How many more trials the button measures after the end. */
const MORE = 100;

/** What is searched, how far it is, and the buttons. */
export class SearchHead {
  show(state: SearchState): void {
    const { status, measured, wanted, refused, rate, eta, drift } = state;
    this._name.textContent = state.title;
    const facts = [
      state.best_seconds === null ? null : t('best %1', time(state.best_seconds)),
      rate === null ? null : t('%1 trials/s', digits(rate)),
      eta === null ? null : t('%1 left', duration(eta)),
      refused > 0 ? t('%1 refused', refused) : null,
      drift !== null && Math.abs(drift) > 0.1
        ? t(
            'machine %1 % %2 now',
            Math.round(Math.abs(drift) * 100),
            drift > 0 ? t('slower') : t('faster')
          )
        : null
    ];
    this._pills.replaceChildren(
      h('span', { class: 'tvmlab-pill', 'data-status': status }, t(STATUS[status])),
      ...facts.filter(fact => fact !== null).map(fact => h('span', { class: 'tvmlab-pill' }, fact))
    );
    this._bar.value = measured;
    this._bar.max = Math.max(1, wanted);
    this._count.textContent = t('%1 of %2', measured, wanted);
    if (status !== this._status) {
      this._status = status;
      this._buttons.replaceChildren(...buttons(status));
    }
  }

  private _status: SearchState['status'] | null = null;
  private readonly _name = h('span', { class: 'tvmlab-mono' });
  private readonly _pills = h('div', { class: 'tvmlab-pills' });
  private readonly _bar = h('progress', {
    class: 'tvmlab-progress',
    'aria-label': t('Trials')
  });
  private readonly _count = h('span', { class: 'tvmlab-dim' });
  private readonly _buttons = h('div', { class: 'tvmlab-tools' });
  readonly element = h(
    'div',
    { class: 'tvmlab-head' },
    h('b', {}, `${t('Search')} `, this._name),
    this._pills,
    h('span', { class: 'tvmlab-grow' }),
    this._bar,
    this._count,
    this._buttons
  );
}

function buttons(status: SearchState['status']): HTMLElement[] {
  if (status === 'running') {
    return [button('pause', t('Pause')), button('stop', t('Stop'))];
  }
  if (status === 'paused') {
    return [button('resume', t('Resume'), true), button('stop', t('Stop'))];
  }
  if (status === 'stopping') {
    return [];
  }
  return status === 'ready'
    ? [button('start', t('Start'), true, 0)]
    : [button('start', t('%1 more', MORE), true)];
}

function button(command: string, text: string, main = false, more = MORE): HTMLElement {
  return h(
    'button',
    {
      type: 'button',
      class: main ? 'tvmlab-btn tvmlab-pri' : 'tvmlab-btn',
      'data-do': command,
      'data-more': more
    },
    text
  );
}

/** A waiting time as people say it. */
export function duration(seconds: number): string {
  if (seconds < 90) {
    return `${Math.ceil(seconds)} s`;
  }
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? t('%1 min', minutes) : `${(minutes / 60).toFixed(1)} h`;
}
