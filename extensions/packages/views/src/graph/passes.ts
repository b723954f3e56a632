import type { GraphDiffLine, GraphPass, GraphReply } from '@tvmlab/schema';

import { t } from '../hostPage';
import { h } from '../dom';
import { diffView } from '../parts/diff';

type Ask = (name: string) => Promise<GraphReply>;

/** What each pass over the graph did; the nodes before and after it come when it is opened. */
export class GraphPasses {
  constructor(private readonly _ask: Ask) {}

  readonly element = h('section', {
    class: 'tvmlab-passes tvmlab-graph-passes',
    'aria-label': t('Passes over the graph')
  });

  show(passes: readonly GraphPass[]): void {
    if (passes === this._last) {
      return;
    }
    this._last = passes;
    const changed = passes.filter(pass => pass.changed).length;
    this.element.toggleAttribute('hidden', passes.length === 0);
    this.element.replaceChildren(
      h(
        'p',
        { class: 'tvmlab-why' },
        t(
          '%1 of %2 passes changed the graph. Open one to see the nodes before and after it.',
          changed,
          passes.length
        )
      ),
      ...passes.filter(pass => pass.changed).map(pass => this._item(pass)),
      idle(passes.filter(pass => !pass.changed))
    );
  }

  private _item(pass: GraphPass): HTMLElement {
    const { name, title, before, after, summary } = pass;
    const head = [
      h('b', {}, title),
      h(
        'span',
        { class: 'tvmlab-mono' },
        `${before} → ${after}`,
        h('span', { class: 'tvmlab-hidden' }, ` ${t('nodes')}`)
      ),
      h('span', { class: 'tvmlab-what' }, summary)
    ];
    const details = h(
      'details',
      { class: 'tvmlab-pass', 'data-changed': 'true' },
      h('summary', {}, ...head)
    );
    details.addEventListener('toggle', () => void this._fill(details, name, title), { once: true });
    return details;
  }

  private async _fill(details: HTMLElement, name: string, title: string): Promise<void> {
    const { data, error } = await this._ask(name);
    const lines: readonly GraphDiffLine[] = data !== null && 'lines' in data ? data.lines : [];
    details.append(
      error === null ? diffView(lines, title) : h('p', { class: 'tvmlab-why' }, error)
    );
  }

  private _last: readonly GraphPass[] | null = null;
}

/** Passes that had nothing to do, in one line. */
function idle(passes: readonly GraphPass[]): HTMLElement {
  const titles = passes.map(({ title }) => title).join('; ');
  return h(
    'p',
    { class: 'tvmlab-idle', hidden: titles === '' },
    t('Nothing to do for: %1.', titles)
  );
}
