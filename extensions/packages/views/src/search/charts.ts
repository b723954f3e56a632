import type { SearchState, SearchTrial } from '@tvmlab/schema';

import { t } from '../hostPage';
import { digits } from '../format';
import type { IChartData, IChartPoint } from './chart';

/** What is said of a trial. */
export function trialText(trial: SearchTrial, unit: string): string {
  const result =
    trial.measured === null
      ? `${trial.status}: ${trial.error}`
      : t('measured %1 %2', digits(trial.measured), unit);
  const guess = trial.predicted === null ? '' : `, ${t('predicted %1', digits(trial.predicted))}`;
  return t('Trial %1: %2%3', trial.index + 1, result, guess);
}

function point(trial: SearchTrial, state: SearchState, x: number, y: number): IChartPoint {
  return {
    trial: trial.index,
    x,
    y,
    best: trial.index === state.best,
    text: trialText(trial, state.unit)
  };
}

/** All trials, and over them the best so far. */
export function progressChart(state: SearchState): IChartData {
  const line: [number, number][] = [];
  for (const { index, best } of state.trials) {
    const before = line.at(-1)?.[1] ?? 0;
    if (best > before) {
      line.push([index + 1, before], [index + 1, best]);
    }
  }
  const last = state.trials.at(-1);
  if (last !== undefined && last.best > 0) {
    line.push([last.index + 1, last.best]);
  }
  const best = last?.best ?? 0;
  return {
    caption: t('Best so far'),
    note: best > 0 ? `${digits(best)} ${state.unit}` : '',
    x: 'trials',
    y: state.unit,
    xTop: Math.max(10, state.wanted),
    yTop: best,
    points: state.trials.map(t => point(t, state, t.index + 1, t.measured ?? 0)),
    line,
    identity: false,
    empty: t('Nothing has been measured yet.')
  };
}

/** What the model expected of each trial before it was measured. */
export function predictionChart(state: SearchState): IChartData {
  const both = state.trials.filter(t => t.measured !== null && t.predicted !== null);
  const top = Math.max(0, ...both.map(t => Math.max(t.measured ?? 0, t.predicted ?? 0)));
  const rank = state.rank.at(-1)?.spearman;
  return {
    caption: t('Predicted against measured · %1', both.length),
    note: rank === undefined ? '' : t('rank ρ = %1', rank.toFixed(2)),
    x: t('measured %1', state.unit),
    y: t('predicted %1', state.unit),
    xTop: top,
    yTop: top,
    points: both.map(t => point(t, state, t.measured ?? 0, t.predicted ?? 0)),
    line: [],
    identity: true,
    empty: t('The model predicts as soon as it has learned from a few trials.')
  };
}

/** How the order of the predictions came to agree with that of the measurements. */
export function rankChart(state: SearchState): IChartData {
  return {
    caption: t('Rank correlation so far'),
    note: t('1 is perfect, 0 is guessing'),
    x: 'trials',
    y: 'Spearman’s ρ',
    xTop: Math.max(10, state.wanted),
    yTop: 1,
    points: [],
    line: state.rank.map(({ count, spearman }) => [count, Math.max(0, spearman)] as const),
    identity: false,
    empty: t('It takes eight predicted trials to compare orders.')
  };
}
