import type { Memory, TracedBuffer } from '@tvmlab/schema';

import { marked, t } from '../hostPage';
import { h } from '../dom';
import { count } from '../format';

export const KINDS = [
  marked('hit'),
  marked('compulsory miss'),
  marked('capacity miss'),
  marked('conflict miss')
];
export const COLORS = ['--ok', '--k-thread', '--move', '--bad'];
/** How many accesses stay lit behind the current one. */
export const TRAIL = 240;
const CELL = 8;

/** The buffers of one program, and what was touched last before a moment. */
export class MemoryPane {
  constructor(memory: Memory) {
    this._memory = memory;
    this._grids = gridsOf(memory);
    this._pictures = memory.buffers.map((buffer, i) =>
      h('canvas', sizeOf(buffer, this._grids[i] as IGrid))
    );
    const { label } = memory;
    this.element = h(
      'section',
      {
        class: 'tvmlab-memory-pane',
        'aria-label': label === '' ? t('Accesses') : t('Accesses of %1', label)
      },
      label !== '' && h('h5', {}, label),
      this._words,
      h(
        'div',
        { class: 'tvmlab-buffers' },
        ...memory.buffers.map((buffer, i) =>
          h(
            'figure',
            {},
            this._pictures[i],
            h('figcaption', {}, captionOf(buffer, this._grids[i] as IGrid))
          )
        )
      ),
      levels(memory)
    );
  }

  readonly element: HTMLElement;

  /** The number of the last access. */
  get last(): number {
    return this._memory.kind.length - 1;
  }

  /** Show the moment of an access; returns it in words. */
  show(at: number): string {
    const words = textAt(this._memory, at);
    this._words.textContent = words;
    draw(this._memory, at, this._pictures, this._grids);
    return words;
  }

  private readonly _memory: Memory;
  private readonly _grids: readonly IGrid[];
  private readonly _pictures: readonly HTMLCanvasElement[];
  private readonly _words = h('output', { class: 'tvmlab-why' });
}

function textAt(
  { kind, buffer, buffers, element, write, loops, turns }: Memory,
  at: number
): string {
  const traced = buffers[buffer[at] ?? 0];
  const counters = loops
    .map((loop, i) => [loop, turns[i]?.[at] ?? -1] as const)
    .filter(([, turn]) => turn >= 0)
    .map(([loop, turn]) => `${loop}=${turn}`);
  const place = traced ? indices(traced, element[at] ?? 0).join(', ') : '';
  const does = write[at] === 1 ? t('writes') : t('reads');
  return t(
    '%1 of %2: %3 %4 %5[%6], %7',
    count(at + 1),
    count(kind.length),
    counters.join(' '),
    does,
    traced?.row ?? '',
    place,
    t(KINDS[kind[at] ?? 0] ?? '')
  );
}

function indices({ shape }: TracedBuffer, element: number): number[] {
  const found: number[] = [];
  for (const extent of [...shape].reverse()) {
    found.unshift(element % extent);
    element = Math.floor(element / extent);
  }
  return found;
}

/** The part of a buffer that is touched: the last dimension across and all others down. */
interface IGrid {
  left: number;
  top: number;
  columns: number;
  rows: number;
  /** The size of an element in the picture. */
  wide: number;
  high: number;
}

const [ROOM_ACROSS, ROOM_DOWN] = [250, 190];

function gridsOf({ buffers, buffer, element }: Memory): IGrid[] {
  return buffers.map(({ shape }, number) => {
    const width = acrossOf(shape);
    const touched = element.filter((_, at) => buffer[at] === number);
    const across = touched.map(place => place % width);
    const down = touched.map(place => Math.floor(place / width));
    const [left, right] = [lowest(across), highest(across)];
    const [top, bottom] = [lowest(down), highest(down)];
    const [columns, rows] = [right - left + 1, bottom - top + 1];
    const [wide, high] = [fitting(ROOM_ACROSS / columns), fitting(ROOM_DOWN / rows)];
    return { left, top, columns, rows, wide, high };
  });
}

/** The last dimension that has more than one element goes across. */
function acrossOf(shape: readonly number[]): number {
  return [...shape].reverse().find(extent => extent > 1) ?? 1;
}

function fitting(room: number): number {
  return room > 1 ? Math.floor(Math.min(CELL, room)) : room;
}

function lowest(values: readonly number[]): number {
  return values.reduce((a, b) => Math.min(a, b), Infinity);
}

function highest(values: readonly number[]): number {
  return values.reduce((a, b) => Math.max(a, b), 0);
}

/** What of a buffer the picture shows, such as `C, rows 0–11, columns 0–31 of 256 × 256`. */
function captionOf({ row, shape }: TracedBuffer, { left, top, columns, rows }: IGrid): string {
  const whole = shape.join(' × ');
  const width = acrossOf(shape);
  const height = shape.reduce((product, extent) => product * extent, 1) / width;
  if (columns === width && rows === height) {
    return `${row} ${whole}`;
  }
  const down = rows === height ? '' : `, ${t('rows %1–%2', top, top + rows - 1)}`;
  const across = columns === width ? '' : `, ${t('columns %1–%2', left, left + columns - 1)}`;
  return t('%1%2%3 of %4', row, down, across, whole);
}

function sizeOf(
  buffer: TracedBuffer,
  { columns, rows, wide, high }: IGrid
): { width: number; height: number; role: string; 'aria-label': string } {
  return {
    width: Math.max(Math.round(columns * wide), 2),
    height: Math.max(Math.round(rows * high), 2),
    role: 'img',
    'aria-label': t('Elements of %1 that were touched last', buffer.row)
  };
}

function draw(
  memory: Memory,
  at: number,
  pictures: readonly HTMLCanvasElement[],
  grids: readonly IGrid[]
): void {
  const style = pictures[0] ? getComputedStyle(pictures[0]) : null;
  const color = (name: string): string => style?.getPropertyValue(name).trim() ?? 'gray';
  // A custom property keeps light-dark(); a canvas needs the color that came of it.
  const probe = h('i');
  pictures[0]?.parentElement?.append(probe);
  const resolved = [...COLORS, '--bg3', '--ink'].map(name => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color || color(name);
  });
  probe.remove();
  const contexts = pictures.map(picture => picture.getContext('2d'));
  memory.buffers.forEach((_, i) => {
    const context = contexts[i];
    const picture = pictures[i];
    if (context && picture) {
      context.globalAlpha = 1;
      context.fillStyle = resolved[4] ?? 'gray';
      context.fillRect(0, 0, picture.width, picture.height);
    }
  });
  for (let time = Math.max(0, at - TRAIL); time <= at; time += 1) {
    const number = memory.buffer[time] ?? 0;
    const buffer = memory.buffers[number];
    const context = contexts[number];
    const picture = pictures[number];
    if (!buffer || !context || !picture) {
      continue;
    }
    const { left, top, wide, high } = grids[number] as IGrid;
    const across = acrossOf(buffer.shape);
    const element = memory.element[time] ?? 0;
    const x = ((element % across) - left) * wide;
    const y = (Math.floor(element / across) - top) * high;
    context.globalAlpha = time === at ? 1 : 0.25 + (0.75 * (time - at + TRAIL)) / TRAIL;
    context.fillStyle = (time === at ? resolved[5] : resolved[memory.kind[time] ?? 0]) ?? 'gray';
    const gap = Math.min(wide, high) > 4 ? 1 : 0;
    context.fillRect(x, y, Math.max(wide - gap, 1), Math.max(high - gap, 1));
  }
}

function levels({ levels: found, sample, caches }: Memory): HTMLElement {
  const cell = (value: number, all: number): HTMLElement =>
    h('td', {}, all === 0 ? '–' : `${count(value)} (${Math.round((100 * value) / all)} %)`);
  return h(
    'div',
    {},
    h(
      'table',
      { class: 'tvmlab-facts-table' },
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          ...[
            t('level'),
            t('accesses'),
            t('hits'),
            t('first touch'),
            t('capacity'),
            t('conflict')
          ].map(text => h('th', { scope: 'col' }, text))
        )
      ),
      h(
        'tbody',
        {},
        ...found.map(level =>
          h(
            'tr',
            {},
            h('th', { scope: 'row' }, level.name),
            h('td', {}, count(level.accesses)),
            cell(level.hits, level.accesses),
            cell(level.compulsory, level.accesses),
            cell(level.capacity, level.accesses),
            cell(level.conflict, level.accesses)
          )
        )
      )
    ),
    h(
      'p',
      { class: 'tvmlab-why' },
      t('With %1. %2', caches, sample === '' ? t('The whole program.') : t('A sample: %1.', sample))
    )
  );
}
