import type { Param, Value } from '@tvmlab/schema';

import { t } from './hostPage';
import type { Controller } from './controller';
import { closestData } from './dom';
import { readFactors, readNumber, readNumbers } from './parts/factors';

/** The parameter that an element of the open form belongs to. */
function paramAt(controller: Controller, target: EventTarget | null): Param | undefined {
  const field = closestData(target, 'field');
  return controller.view?.draft?.action.params.find(param => param.name === field?.value);
}

/** A click on a chip, on a choice, or on an arrow of an order. */
export function fieldClicked(controller: Controller, target: EventTarget | null): void {
  const param = paramAt(controller, target);
  if (param === undefined) {
    return;
  }
  const picked = closestData(target, 'value')?.value;
  const moved = closestData(target, 'move');
  const item = closestData(target, 'item')?.value;
  if (picked !== undefined) {
    controller.setParam(param.name, pickedValue(param, picked));
  } else if (moved && item !== undefined) {
    const order = controller.view?.draft?.params[param.name];
    const names = Array.isArray(order) ? order.map(String) : [];
    controller.setParam(param.name, swap(names, item, Number(moved.value)));
    moved.element.focus();
  }
}

function pickedValue(param: Param, picked: string): Value {
  switch (param.kind) {
    case 'factors':
      return [null, Number(picked)];
    case 'int':
      return Number(picked);
    default:
      return picked;
  }
}

/** A change in a field: what cannot be meant is marked there and goes no further. */
export function fieldEdited(controller: Controller, target: EventTarget | null): void {
  const param = paramAt(controller, target);
  if (param === undefined || !(target instanceof HTMLInputElement)) {
    return;
  }
  const stop =
    target.type === 'range' ? target.dataset['stops']?.split(',')[Number(target.value)] : undefined;
  if (stop !== undefined) {
    controller.setParam(param.name, pickedValue(param, stop));
    return;
  }
  const read = readField(param, target);
  const error = 'error' in read ? read.error : '';
  target.setCustomValidity(error);
  target.setAttribute('aria-invalid', String(error !== ''));
  const problem = closestData(target, 'field')?.element.querySelector('.tvmlab-problem');
  if (problem) {
    problem.textContent = error;
  }
  if ('value' in read) {
    controller.setParam(param.name, read.value);
  }
}

function readField(param: Param, input: HTMLInputElement): { value: Value } | { error: string } {
  switch (param.kind) {
    case 'bool':
      return { value: input.checked };
    case 'factors':
      return readFactors(input.value);
    case 'ints':
      return readNumbers(input.value, param.optional);
    case 'int':
      return readNumber(input.value, param.optional);
    default:
      return readText(input.value, param.optional);
  }
}

function readText(text: string, optional: boolean): { value: Value } | { error: string } {
  if (text.trim() === '') {
    return optional ? { value: null } : { error: t('This cannot be left empty') };
  }
  return { value: text };
}

/** The list with one item moved by some places. */
function swap(list: readonly string[], item: string, by: number): string[] {
  const to = Math.min(Math.max(list.indexOf(item) + by, 0), list.length - 1);
  const result = list.filter(other => other !== item);
  result.splice(to, 0, item);
  return result;
}
