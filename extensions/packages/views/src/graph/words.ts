import { marked } from '../hostPage';
import type { GraphRow } from '@tvmlab/schema';

/** The classes that decide fusion: a letter, and words. */
export const KINDS: Record<GraphRow['kind'], readonly [string, string]> = {
  complex: ['C', marked('convolution or product')],
  reduction: ['R', marked('reduction')],
  opaque: ['O', marked('stays alone')],
  injective: ['E', marked('element-wise')]
};

/** Keys of the view, as its status line names them. */
export const KEYS: readonly (readonly [string, string])[] = [
  ['Enter', marked('open the schedule')],
  ['← →', marked('nodes of a kernel')],
  ['P', marked('pin')],
  ['M', marked('measure')],
  ['/', marked('search')]
];
