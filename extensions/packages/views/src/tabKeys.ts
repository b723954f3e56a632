import type { Controller } from './controller';
import { closestData } from './dom';
import { shownInsights } from './insights';
import { TABS } from './parts/code';
import type { Tab } from './viewState';

const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1 };

/** Left and right move between tabs, Home and End go to the first and last, as in any tab list. */
export function tabKey(event: KeyboardEvent, controller: Controller, root: HTMLElement): void {
  const tab = closestData(event.target, 'tab');
  const hit = tab ?? closestData(event.target, 'insight');
  if (hit === null) {
    return;
  }
  const { view } = controller;
  const insights = view === null ? [] : shownInsights(view).map(({ id }) => id);
  const names = tab === null ? insights : TABS.map(([name]) => name);
  const next = nextOf(names, hit.value, event.key);
  if (next === undefined) {
    return;
  }
  if (tab === null) {
    controller.set({ insight: next });
  } else {
    controller.showTab(next as Tab);
  }
  root.querySelector<HTMLElement>(`[data-${tab === null ? 'insight' : 'tab'}="${next}"]`)?.focus();
  event.preventDefault();
  event.stopPropagation();
}

function nextOf(names: readonly string[], now: string, key: string): string | undefined {
  const step = STEPS[key];
  if (step !== undefined) {
    return names[(names.indexOf(now) + step + names.length) % names.length];
  }
  return key === 'Home' ? names[0] : key === 'End' ? names.at(-1) : undefined;
}
