import type { Action, Details, HistoryNode, Param, Side, State, Verdict } from '@tvmlab/schema';

import { rows } from './fixtureRows';

/** A hand-made session, as the tests and the design page show it. All figures are invented. */

const ALLOWED: Verdict = {
  status: 'allowed',
  rule: '',
  reason: '',
  witness: null,
  clash: null,
  fixes: []
};

function side(k: number): Side {
  const loops = [
    { name: 'i_inner', value: 0, differs: false },
    { name: 'k_inner', value: k, differs: true }
  ];
  return { block: 'C_local', loops, does: 'updates' };
}

export const REDUCTION_PARALLEL: Verdict = {
  status: 'refused',
  rule: 'parallel.reduction',
  reason: 'two iterations add into the same cell.',
  witness: 'k_inner=0 and k_inner=1 both update C_local[0, 0]',
  clash: {
    first: side(0),
    second: side(1),
    element: 'C_local[0, 0]',
    sizes: ''
  },
  fixes: [{ title: 'rfactor k_inner, then parallel', token: 'fix-1' }]
};

function node(
  index: number,
  label: string,
  code: string,
  ratio: number | null,
  extra: Partial<HistoryNode> = {}
): HistoryNode {
  return {
    id: String(index),
    parent: index === 0 ? null : String(index - 1),
    label,
    code,
    checkpoint: null,
    seconds: ratio === null ? null : 0.62 / ratio,
    gain: ratio === null ? null : { ratio, low: ratio * 0.98, high: ratio * 1.02, kind: 'gain' },
    ...extra
  };
}

const PYTHON = [
  'i, j, k = sch.loops("C")',
  'i_outer, i_inner = sch.split(i, [None, 12])',
  'j_outer, j_inner = sch.split(j, [None, 32])',
  'k_outer, k_inner = sch.split(k, [None, 384])',
  'sch.reorder(i_outer, k_outer, j_outer, k_inner, i_inner, j_inner)',
  'B_packed = sch.cache_read("C", "B", at=k_outer)',
  'sch.vectorize(j_inner)',
  'sch.unroll(i_inner)',
  'sch.parallel(i_outer)'
];

export function state(): State {
  const points = Array.from({ length: 44 }, (_, i) => {
    const measured = 12 + i * 8.8;
    const wobble = ((Math.sin(i * 12.9898) * 43758.5453) % 1) * 60;
    return {
      node: null,
      label: `schedule ${i}`,
      measured,
      predicted: Math.max(4, measured + wobble),
      current: i === 43
    };
  });
  return {
    version: 1,
    auto: false,
    cell: '# steps',
    revision: 12,
    session: { id: 's1', name: 'matmul' },
    workload: { name: 'matmul', summary: '1024 × 1024 × 1024 · float32' },
    target: { name: 'cpu', summary: 'cpu · 2 cores · AVX-512 · peak 450 GFLOP/s' },
    rows: rows(),
    history: {
      nodes: [
        node(0, 'start', '', 1),
        node(1, 'split i, j, k', PYTHON[3] ?? '', 1.1, {
          gain: { ratio: 1.1, low: 0.9, high: 1.3, kind: 'noise' }
        }),
        node(2, 'reorder', PYTHON[4] ?? '', 6.3),
        node(3, 'pack B', PYTHON[5] ?? '', 9.8, { checkpoint: 'packed' }),
        node(4, 'vectorize j_inner', PYTHON[6] ?? '', 61),
        node(5, 'unroll i_inner', PYTHON[7] ?? '', 118),
        node(6, 'parallel i_outer', PYTHON[8] ?? '', 226),
        node(7, 'parallel ax0', 'sch.parallel(ax0)', 0.61, {
          parent: '3',
          gain: { ratio: 0.61, low: 0.6, high: 0.63, kind: 'loss' }
        })
      ],
      current: '6',
      can_undo: true,
      can_redo: false
    },
    python: PYTHON.join('\n'),
    measurement: {
      status: 'done',
      median: 0.00275,
      lower: 0.00273,
      upper: 0.00279,
      repeats: 30,
      gflops: 391,
      stale: false,
      equal: true,
      message: 'machine quiet'
    },
    plot: { unit: 'GFLOP/s', points, rank_correlation: 0.91 }
  };
}

function param(name: string, kind: Param['kind'], extra: Partial<Param>): Param {
  return {
    name,
    kind,
    doc: '',
    default: null,
    choices: [],
    extent: null,
    optional: false,
    ...extra
  };
}

const FAMILIES: Record<string, string> = {
  unroll: 'how it runs',
  vectorize: 'how it runs',
  parallel: 'how it runs',
  cache_read: 'memory',
  pad: 'memory'
};

function action(
  primitive: string,
  key: string | null,
  summary: string,
  extra: Partial<Action> = {}
): Action {
  return {
    id: primitive,
    primitive,
    family: FAMILIES[primitive] ?? 'shape of the loops',
    title: primitive,
    key,
    summary,
    params: [],
    verdict: ALLOWED,
    ...extra
  };
}

function refused(primitive: string, key: string, reason: string): Action {
  return action(primitive, key, '', {
    verdict: {
      status: 'refused',
      rule: `${primitive}.x`,
      reason,
      witness: null,
      clash: null,
      fixes: []
    }
  });
}

/** What the session would answer for any line. */
export function details(id: string): Details {
  return {
    row: id,
    sentence:
      'Sums 384 products into one 12 × 32 tile held in registers. Reads 1.5 KB of A and 48 KB of B; both stay in L1 and L2.',
    facts: [
      { label: 'iterations in all', value: '1,056,768' },
      { label: 'made by', value: 'split k' }
    ],
    actions: [
      action('split', 's', '96 × 4, no tail', {
        params: [
          param('factors', 'factors', {
            doc: 'extents, outermost first',
            default: [null, 4],
            extent: 384
          })
        ]
      }),
      action('unroll', 'u', 'by 4: fewer branches'),
      action('cache_read', 'c', 'stage what C_local reads', {
        title: 'cache read',
        params: [
          param('buffer', 'choice', {
            doc: 'what it reads',
            default: 'A',
            choices: [
              { value: 'A', label: 'A', status: 'allowed', reason: '' },
              {
                value: 'B_packed',
                label: 'B_packed',
                status: 'refused',
                reason: 'is staged already'
              }
            ]
          })
        ]
      }),
      action('reorder', 'o', 'put the loops in another order', {
        params: [param('loops', 'order', { default: ['L4', 'L5', 'L6'] })]
      }),
      action('move', 'Shift+ArrowUp', 'above j_outer', { title: 'move out of j_outer' }),
      refused('vectorize', 'v', 'carries C_local from one iteration to the next.'),
      action('parallel', 'p', '', { verdict: REDUCTION_PARALLEL }),
      refused('fuse', 'f', 'the next line is not a loop.')
    ]
  };
}
