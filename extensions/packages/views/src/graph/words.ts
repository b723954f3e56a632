import type { GraphRow } from '@tvmlab/schema';

/** The classes that decide fusion: a letter, and words. */
export const KINDS: Record<GraphRow['kind'], readonly [string, string]> = {
  complex: ['C', 'convolution or product'],
  reduction: ['R', 'reduction'],
  opaque: ['O', 'stays alone'],
  injective: ['E', 'element-wise']
};

/** Keys of the view, as its status line names them. */
export const KEYS: readonly (readonly [string, string])[] = [
  ['Enter', 'open the schedule'],
  ['← →', 'nodes of a kernel'],
  ['P', 'pin'],
  ['M', 'measure'],
  ['/', 'search']
];
