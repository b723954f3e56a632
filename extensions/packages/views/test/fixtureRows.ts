import type { Row } from '@tvmlab/schema';

const TYPES: Partial<Record<Row['kind'], Row['type']>> = {
  block: 'block',
  buffer: 'buffer',
  let: 'statement',
  call: 'statement',
  barrier: 'statement'
};

function row(
  id: string,
  parent: string | null,
  depth: number,
  kind: Row['kind'],
  name: string,
  extra: Partial<Row>,
  cost: readonly [number, number, number]
): Row {
  const type = TYPES[kind] ?? 'loop';
  const own = type === 'block' ? 1 : 0;
  return {
    id,
    parent,
    depth,
    type,
    kind,
    name,
    reduction: false,
    extent: null,
    text: '',
    note: null,
    scope: null,
    bytes: null,
    marks: [],
    cost:
      type === 'buffer' || type === 'statement'
        ? null
        : {
            compute: cost[0],
            compute_own: own * cost[0],
            moved: cost[1],
            moved_own: own * cost[1],
            time: cost[2]
          },
    ...extra
  };
}

export function rows(): Row[] {
  return [
    row(
      'L0',
      null,
      0,
      'parallel',
      'i_outer',
      { extent: 86, note: '1024 / 12, last one 4' },
      [1, 1, 1]
    ),
    row(
      'L1',
      'L0',
      1,
      'serial',
      'k_outer',
      { extent: 3, reduction: true, note: '384' },
      [0.99, 0.96, 0.99]
    ),
    row(
      'T0',
      'L1',
      2,
      'buffer',
      'B_packed',
      { text: 'float32[32, 384, 32]', scope: 'global', bytes: 49152 },
      [0, 0, 0]
    ),
    row('L2', 'L1', 2, 'serial', 'ax0', { extent: 32 }, [0.04, 0.3, 0.03]),
    row(
      'B0',
      'L2',
      3,
      'block',
      'B_packed',
      { text: '[j, k, j16] = B[k, j * 32 + j16]' },
      [0.01, 0.3, 0.03]
    ),
    row('L3', 'L1', 2, 'serial', 'j_outer', { extent: 32 }, [0.96, 0.7, 0.96]),
    row('L4', 'L3', 3, 'serial', 'k_inner', { extent: 384, reduction: true }, [0.96, 0.66, 0.96]),
    row('L5', 'L4', 4, 'unrolled', 'i_inner', { extent: 12 }, [0.92, 0.4, 0.92]),
    row(
      'L6',
      'L5',
      5,
      'vectorized',
      'j_inner',
      { extent: 32, note: '2 × 16 lanes' },
      [0.92, 0.4, 0.92]
    ),
    row(
      'B1',
      'L6',
      6,
      'block',
      'C_local',
      { text: '[i, j] += A[i, k] * B_packed[j, k]', note: '24 registers' },
      [0.92, 0.22, 0.92]
    ),
    row(
      'B2',
      'L3',
      3,
      'block',
      'C',
      { text: '[i, j] = C_local[i, j]', note: 'write back' },
      [0.02, 0.16, 0.004]
    )
  ];
}
