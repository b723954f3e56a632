import { t } from './hostPage';
import type { Slot } from '@tvmlab/schema';

/** A line that is being moved: where it may go, and where it would go now. */
export interface IMoving {
  row: string;
  name: string;
  /** Every place with its verdict; null until the session has answered. */
  slots: readonly Slot[] | null;
  /** The place under the pointer or chosen by keys. */
  at: Slot | null;
}

export const SLOT_SIGNS: Record<Slot['status'], string> = {
  allowed: '✓',
  refused: '⊘',
  unknown: '?',
  here: '·'
};

/** What is said of a place, for those who see and those who listen. */
export function slotWords(slot: Slot): string {
  switch (slot.status) {
    case 'allowed':
      return slot.reason;
    case 'here':
      return t('where it is now');
    case 'refused':
      return t('not here: %1', withoutCannot(slot.reason));
    case 'unknown':
      return t('not proved safe: %1', withoutCannot(slot.reason));
  }
}

/** The place so many places below (or above) another, in the order of the lines. */
export function nextSlot(moving: IMoving, order: readonly string[], by: number): Slot | null {
  const slots = [...(moving.slots ?? [])].sort(
    (a, b) => order.indexOf(a.row) - order.indexOf(b.row)
  );
  const seen = slots.filter(slot => order.includes(slot.row));
  const at = seen.findIndex(slot => slot.row === (moving.at?.row ?? moving.row));
  return seen[Math.min(Math.max(at + by, 0), seen.length - 1)] ?? null;
}

/** The place that a pointer at a height within a line means. */
export function slotAt(
  moving: IMoving,
  order: readonly string[],
  row: string,
  lower: boolean
): Slot | null {
  const slots = moving.slots ?? [];
  if (slots[0]?.place === 'into') {
    return slots.find(slot => slot.row === row) ?? null;
  }
  const line = lower ? order[order.indexOf(row) + 1] : row;
  return slots.find(slot => slot.row === line) ?? null;
}

function withoutCannot(reason: string): string {
  return reason.replace(/^cannot [^:]*: /, '');
}
