import type { Gain, Gains, StepGain } from '@tvmlab/schema';

import { marked, t } from '../hostPage';
import { h } from '../dom';
import { factor, time } from '../format';
import type { IInsight } from '../insights';

/** Which step bought what: a bar for each step on a scale of doublings, and the end without it. */
export const gainsInsight: IInsight = {
  id: 'gains',
  label: marked('Gains'),
  ask: ({ session }) => {
    const { nodes, current } = session.history;
    const measured = nodes.map(node => node.seconds ?? '').join();
    return {
      version: `${current}:${measured}:${Boolean(session.job)}`,
      command: { type: 'gains' }
    };
  },
  inputs: ({ session, connection }) => [session.job, connection.state],
  draw: ({ session, connection }, answer) => {
    if (!answer?.data || !('start' in answer.data)) {
      return [h('p', { class: 'tvmlab-why' }, answer?.error ?? t('Looking at the steps…'))];
    }
    const { steps, unmeasured } = answer.data;
    const idle = !session.job && connection.state !== 'gone';
    return [
      h(
        'div',
        { class: 'tvmlab-cap' },
        h('span', {}, t('Which step bought what')),
        h('span', { class: 'tvmlab-dim' }, t('log scale, hollow: inside noise'))
      ),
      steps.length === 0
        ? h('p', { class: 'tvmlab-why' }, t('No step has been taken yet.'))
        : waterfall(answer.data),
      h(
        'div',
        { class: 'tvmlab-foot' },
        h('span', {}, unmeasured === 0 ? '' : t('%1 programs are not measured yet.', unmeasured)),
        h(
          'button',
          {
            class: 'tvmlab-btn',
            type: 'button',
            'data-command': 'measure_gains',
            disabled: !idle || unmeasured === 0
          },
          t('Measure all steps')
        )
      )
    ];
  }
};

function waterfall({ start, steps }: Gains): HTMLElement {
  const times = [start, ...steps.map(step => step.seconds)].filter(value => value !== null);
  const low = Math.log(Math.min(...times));
  const span = Math.max(Math.log(Math.max(...times)) - low, 1e-9);
  const at = (seconds: number): number => (100 * (Math.log(seconds) - low)) / span;
  return h(
    'table',
    { class: 'tvmlab-waterfall' },
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        ...[t('step'), t('faster'), t('time'), t('end without it')].map(text =>
          h('th', { scope: 'col' }, text)
        )
      )
    ),
    h(
      'tbody',
      {},
      ...steps.map((step, index) =>
        row(step, index === 0 ? start : (steps[index - 1]?.seconds ?? null), at)
      )
    )
  );
}

function row(step: StepGain, before: number | null, at: (seconds: number) => number): HTMLElement {
  const { node, label, seconds, gain } = step;
  const known = before !== null && seconds !== null;
  const ends = known ? [at(before), at(seconds)].sort((a, b) => a - b) : [0, 0];
  const [left = 0, right = 0] = ends;
  return h(
    'tr',
    {},
    h(
      'th',
      { scope: 'row' },
      h('button', { type: 'button', class: 'tvmlab-link', 'data-node': node }, label)
    ),
    h(
      'td',
      { class: 'tvmlab-fall' },
      h(
        'div',
        {},
        h(
          'span',
          { class: 'tvmlab-track', 'aria-hidden': 'true' },
          known &&
            h('i', {
              'data-gain': gain?.kind ?? 'none',
              style: `left:${left.toFixed(1)}%;width:${Math.max(right - left, 0.8).toFixed(1)}%`
            })
        ),
        gainText(gain)
      )
    ),
    h('td', {}, seconds === null ? '–' : time(seconds)),
    h('td', {}, ...withoutText(step))
  );
}

function gainText(gain: Gain | null): HTMLElement {
  const text =
    gain === null
      ? '–'
      : gain.kind === 'noise'
        ? t('%1 in noise', factor(gain.ratio))
        : factor(gain.ratio);
  return h('span', { class: 'tvmlab-gain', 'data-gain': gain?.kind ?? 'none' }, text);
}

function withoutText({ without }: StepGain): (HTMLElement | string)[] {
  if (!without.possible) {
    return [h('span', { class: 'tvmlab-dim', title: without.reason }, t('others need it'))];
  }
  return without.worth === null ? ['–'] : [gainText(without.worth)];
}
