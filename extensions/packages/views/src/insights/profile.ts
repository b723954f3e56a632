import type { CounterFact, Profile } from '@tvmlab/schema';

import { marked, t } from '../hostPage';
import { h } from '../dom';
import { count, percent, time } from '../format';
import type { IInsight } from '../insights';
import { type IViewState, rowOf } from '../viewState';
import { studyButton, studyQuestion } from './studies';

/** Where the time of the running kernel goes, line by line, and what the processor counted. */
export const profileInsight: IInsight = {
  id: 'profile',
  label: marked('Profile'),
  ask: view => studyQuestion(view, { type: 'profile' }),
  inputs: ({ session, connection }) => [session.job, session.rows, connection.state],
  draw: (view, answer) => {
    const caption = h(
      'div',
      { class: 'tvmlab-cap' },
      h('span', {}, t('Where the time goes')),
      studyButton(view, 'profile', t('Watch it run'))
    );
    if (!answer?.data || !('study' in answer.data) || answer.data.study !== 'profile') {
      return [caption, h('p', { class: 'tvmlab-why' }, answer?.error ?? t('Asking…'))];
    }
    return [caption, ...found(view, answer.data)];
  }
};

function found(view: IViewState, profile: Profile): HTMLElement[] {
  const { known, failure, lines, counters, message } = profile;
  if (!known) {
    return [
      h(
        'p',
        { class: 'tvmlab-why' },
        t(
          'Runs the kernel for a second in a process of its own, and notes ten thousand times a second at which instruction each thread is. The shares then show in the margin of the nest as “measured time”, too.'
        )
      )
    ];
  }
  if (failure !== '') {
    return [
      h(
        'p',
        { class: 'tvmlab-why tvmlab-wrong', role: 'status' },
        t('It could not be watched: %1', failure)
      )
    ];
  }
  return [
    h('p', { class: 'tvmlab-why', role: 'status' }, `${message}${message && ' '}${told(profile)}`),
    ...(lines.length === 0 ? [] : [table(view, profile)]),
    h('h5', {}, t('Counters, for one call')),
    counterTable(counters)
  ];
}

function told({ seconds, overhead, samples, unknown, elsewhere }: Profile): string {
  const parts = [t('A call takes %1', time(seconds))];
  if (samples > 0) {
    parts.push(
      t('%1 samples', count(samples)),
      t('%1 slower while they were taken', percent(overhead)),
      t('%1 at code of no known line', percent(unknown)),
      t('%1 outside of the kernel', percent(elsewhere))
    );
  }
  return `${parts.join(', ')}.`;
}

function table(view: IViewState, { lines, seconds }: Profile): HTMLElement {
  const shown = view.session.rows.flatMap(({ id }) => lines.find(({ row }) => row === id) ?? []);
  return h(
    'table',
    { class: 'tvmlab-facts-table tvmlab-shares', 'aria-label': t('Measured shares') },
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        ...[t('line'), t('own'), t('with what is inside'), ''].map(text =>
          h('th', { scope: 'col' }, text)
        )
      )
    ),
    h(
      'tbody',
      {},
      ...shown.map(({ row, own, inclusive }) =>
        h(
          'tr',
          {},
          h(
            'th',
            { scope: 'row' },
            h(
              'button',
              { class: 'tvmlab-link', type: 'button', 'data-row': row },
              rowOf(view.session, row)?.name ?? row
            )
          ),
          h('td', {}, percent(own)),
          h('td', {}, `${percent(inclusive)}, ${time(seconds * inclusive)}`),
          h(
            'td',
            { 'aria-hidden': 'true' },
            h('i', { style: `width:${(100 * inclusive).toFixed(1)}%` }),
            h('i', { class: 'tvmlab-own', style: `width:${(100 * own).toFixed(1)}%` })
          )
        )
      )
    )
  );
}

/** What was counted, then what could not be, with the reason once for all that share it. */
function counterTable(counters: readonly CounterFact[]): HTMLElement {
  const reasons = new Map<string, string[]>();
  for (const { name, reason } of counters.filter(counter => counter.reason !== '')) {
    reasons.set(reason, [...(reasons.get(reason) ?? []), name]);
  }
  return h(
    'div',
    {},
    h(
      'table',
      { class: 'tvmlab-facts-table', 'aria-label': t('Counters') },
      h(
        'tbody',
        {},
        ...counters
          .filter(({ reason }) => reason === '')
          .map(({ name, value }) =>
            h('tr', {}, h('th', { scope: 'row' }, name), h('td', {}, value))
          )
      )
    ),
    ...[...reasons].map(([reason, names]) =>
      h(
        'p',
        { class: 'tvmlab-why' },
        t(
          'Not counted: %1. The system says: %2. The tab Memory simulates misses instead.',
          names.join(', '),
          reason
        )
      )
    )
  );
}
