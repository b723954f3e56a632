import type { Memory, TracedBuffer } from '@tvmlab/schema';

import { h } from '../dom';
import { count } from '../format';
import type { IInsight } from '../insights';

const KINDS = ['hit', 'compulsory miss', 'capacity miss', 'conflict miss'];
const COLORS = ['--ok', '--k-thread', '--move', '--bad'];
/** How many accesses stay lit behind the current one. */
const TRAIL = 240;
const CELL = 6;

/** Where each access finds its data, with a scrubber over time. */
export const memoryInsight: IInsight = {
  id: 'memory',
  label: 'Memory',
  ask: ({ session, caches }) => ({
    version: `${session.history.current}:${caches}`,
    command: { type: 'memory', caches }
  }),
  inputs: ({ caches }) => [caches],
  draw: ({ caches }, answer) => {
    const choice = (name: string, label: string): HTMLElement =>
      h('option', { value: name, selected: name === caches }, label);
    const chooser = h(
      'span',
      {},
      h(
        'select',
        { 'data-set': 'caches', 'aria-label': 'Caches' },
        choice('tiny', 'tiny teaching cache'),
        choice('machine', 'caches of this machine')
      )
    );
    if (!answer?.data || !('turns' in answer.data)) {
      return [chooser, h('p', { class: 'tvmlab-why' }, answer?.error ?? 'Running the accesses…')];
    }
    return [h('div', { class: 'tvmlab-cap' }, chooser, legend()), ...scrubber(answer.data)];
  }
};

function legend(): HTMLElement {
  return h(
    'span',
    { class: 'tvmlab-legend' },
    ...KINDS.map((kind, i) =>
      h('span', {}, h('i', { style: `background:var(${COLORS[i] ?? ''})` }), kind)
    )
  );
}

function scrubber(memory: Memory): HTMLElement[] {
  const last = memory.kind.length - 1;
  const words = h('output', { class: 'tvmlab-why' });
  const pictures = memory.buffers.map(buffer => h('canvas', sizeOf(buffer)));
  const range = h('input', {
    type: 'range',
    min: 0,
    max: last,
    value: 0,
    'aria-label': 'Access'
  });
  const show = (): void => {
    const at = Number(range.value);
    words.textContent = textAt(memory, at);
    range.setAttribute('aria-valuetext', words.textContent);
    draw(memory, at, pictures);
  };
  range.addEventListener('input', show);
  range.value = String(Math.min(last, TRAIL));
  setTimeout(show); // once it is on the page, so that its colours are known
  return [
    h('div', { class: 'tvmlab-scrub' }, range),
    words,
    h(
      'div',
      { class: 'tvmlab-buffers' },
      ...memory.buffers.map((buffer, i) =>
        h(
          'figure',
          {},
          pictures[i],
          h('figcaption', {}, `${buffer.row} ${buffer.shape.join(' × ')}`)
        )
      )
    ),
    levels(memory)
  ];
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
  const does = write[at] === 1 ? 'writes' : 'reads';
  return `${count(at + 1)} of ${count(kind.length)}: ${counters.join(' ')} ${does} ${traced?.row ?? ''}[${place}], ${KINDS[kind[at] ?? 0] ?? ''}`;
}

function indices({ shape }: TracedBuffer, element: number): number[] {
  const found: number[] = [];
  for (const extent of [...shape].reverse()) {
    found.unshift(element % extent);
    element = Math.floor(element / extent);
  }
  return found;
}

/** A picture has the last dimension across and all others down. */
function gridOf({ shape }: TracedBuffer): { columns: number; rows: number } {
  const columns = shape.at(-1) ?? 1;
  return { columns, rows: shape.slice(0, -1).reduce((product, extent) => product * extent, 1) };
}

function sizeOf(buffer: TracedBuffer): {
  width: number;
  height: number;
  role: string;
  'aria-label': string;
} {
  const { columns, rows } = gridOf(buffer);
  const cell = Math.max(1, Math.min(CELL, Math.floor(140 / Math.max(columns, 1))));
  return {
    width: Math.min(columns * cell, 280),
    height: Math.min(rows * cell, 280),
    role: 'img',
    'aria-label': `Elements of ${buffer.row} that were touched last`
  };
}

function draw(memory: Memory, at: number, pictures: readonly HTMLCanvasElement[]): void {
  const style = pictures[0] ? getComputedStyle(pictures[0]) : null;
  const color = (name: string): string => style?.getPropertyValue(name).trim() ?? 'gray';
  // A custom property keeps light-dark(); a canvas needs the colour that came of it.
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
    const { columns, rows } = gridOf(buffer);
    const [width, height] = [picture.width / columns, picture.height / rows];
    const element = memory.element[time] ?? 0;
    const x = (element % columns) * width;
    const y = Math.floor(element / columns) * height;
    context.globalAlpha = time === at ? 1 : 0.25 + (0.75 * (time - at + TRAIL)) / TRAIL;
    context.fillStyle = (time === at ? resolved[5] : resolved[memory.kind[time] ?? 0]) ?? 'gray';
    context.fillRect(x, y, Math.max(width, 1), Math.max(height, 1));
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
          ...['level', 'accesses', 'hits', 'first touch', 'capacity', 'conflict'].map(text =>
            h('th', { scope: 'col' }, text)
          )
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
      `With ${caches}. ${sample === '' ? 'The whole program.' : `A sample: ${sample}.`}`
    )
  );
}
