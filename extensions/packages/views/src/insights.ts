import { marked } from './hostPage';
import type { IAnswer } from './answers';
import type { Request } from './client';
import { compareInsight } from './insights/compare';
import { exerciseInsight } from './insights/exercise';
import { flowInsight } from './insights/flow';
import { gainsInsight } from './insights/gains';
import { learningInsight } from './insights/learning';
import { machinesInsight } from './insights/machines';
import { guessInsight } from './insights/guess';
import { iterationsInsight } from './insights/iterations';
import { memoryInsight } from './insights/memory';
import { profileInsight } from './insights/profile';
import { proofInsight } from './insights/proof';
import { residualsInsight } from './insights/residuals';
import { rooflineInsight } from './insights/roofline';
import { suggestInsight } from './insights/suggest';
import { whatIfInsight } from './insights/whatIf';
import { whyInsight } from './insights/why';
import type { IViewState } from './viewState';

/** One tab of insights: what it asks the session for, what it depends on, and its picture. */
export interface IInsight {
  id: string;
  label: string;
  /** Whether there is such a tab for a session; there is by default. */
  shown?(view: IViewState): boolean;
  /** The question, with the version of what it is about; null where nothing is to be asked. */
  ask: ((view: IViewState) => { version: string; command: Request } | null) | null;
  inputs(view: IViewState): readonly unknown[];
  draw(view: IViewState, answer: IAnswer | undefined): HTMLElement[];
}

const modelInsight: IInsight = {
  id: 'model',
  label: marked('Model'),
  ask: null,
  inputs: () => [],
  draw: () => []
};

/** The search has a view of its own, which the panel holds. */
const searchInsight: IInsight = {
  id: 'search',
  label: marked('Search'),
  ask: null,
  inputs: () => [],
  draw: () => []
};

/** What is needed first comes first; what asks for more knowledge stands behind. */
export const INSIGHTS: readonly IInsight[] = [
  exerciseInsight,
  modelInsight,
  suggestInsight,
  gainsInsight,
  compareInsight,
  rooflineInsight,
  memoryInsight,
  iterationsInsight,
  flowInsight,
  profileInsight,
  proofInsight,
  searchInsight,
  whatIfInsight,
  machinesInsight,
  guessInsight,
  learningInsight,
  whyInsight,
  residualsInsight
];

/** The tabs that there are for a session. */
export function shownInsights(view: IViewState): readonly IInsight[] {
  return INSIGHTS.filter(insight => insight.shown?.(view) ?? true);
}

/** The tab that is open; until one is chosen, the first. */
export function insightOf(view: IViewState): IInsight {
  const shown = shownInsights(view);
  return shown.find(({ id }) => id === view.insight) ?? shown[0] ?? modelInsight;
}
