import type { Controller } from './controller';
import { closestData } from './dom';

/** Something was chosen in a tab of insights: kept under the name that its field carries. */
export function choose(controller: Controller, target: EventTarget | null): void {
  const field = closestData(target, 'set');
  const view = controller.view;
  if (field === null || view === null || target === null || !('value' in target)) {
    return;
  }
  const [name, value] = [field.value, String(target.value)];
  if (name.includes('.')) {
    controller.set({ choices: { ...view.choices, [name]: value } });
  } else if (name === 'caches') {
    controller.set({ caches: value === 'machine' ? 'machine' : 'tiny' });
  } else {
    controller.set({ compared: { ...view.compared, [name]: value } });
  }
}

/** Forget what was chosen in a tab. */
export function forget(controller: Controller, tab: string): void {
  const kept = Object.entries(controller.view?.choices ?? {}).filter(
    ([name]) => !name.startsWith(`${tab}.`)
  );
  controller.set({ choices: Object.fromEntries(kept) });
}
