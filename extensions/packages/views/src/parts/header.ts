import { t } from '../hostPage';
import { h } from '../dom';
import type { IViewState } from '../viewState';
import { Part } from './part';

/** What is computed for what machine, and what can be done with the whole. */
export class Header extends Part<IViewState> {
  constructor() {
    super(h('header', { class: 'tvmlab-head' }));
  }

  protected inputs({ session, connection }: IViewState): readonly unknown[] {
    const { workload, target, history, measurement, job, auto } = session;
    return [workload, target, history, measurement, job, auto, connection.state];
  }

  protected draw({ session, connection }: IViewState): void {
    const { workload, target, history, measurement, job } = session;
    const dead = connection.state === 'gone';
    const { status } = measurement;
    const measuring = status === 'queued' || status === 'running' || Boolean(job);
    this.element.replaceChildren(
      h('b', {}, workload.name),
      h(
        'span',
        { class: 'tvmlab-pills' },
        h('span', { class: 'tvmlab-pill' }, workload.summary),
        h('span', { class: 'tvmlab-pill' }, target.summary)
      ),
      h('span', { class: 'tvmlab-grow' }),
      h(
        'span',
        { class: 'tvmlab-buttons' },
        button('undo', `↶ ${t('Undo')}`, 'Ctrl Z', dead || !history.can_undo),
        button('redo', `↷ ${t('Redo')}`, null, dead || !history.can_redo),
        button('next', `✦ ${t('Next step')}`, null, false),
        button('palette', `⌕ ${t('Find')}`, '/', false),
        share(dead),
        h(
          'button',
          {
            class: 'tvmlab-btn',
            type: 'button',
            'data-command': 'auto',
            'aria-pressed': String(session.auto),
            title: t('Measure by itself after each step'),
            disabled: dead
          },
          `${session.auto ? '◉' : '○'} ${t('Auto')}`
        ),
        measuring
          ? button('cancel', `■ ${t('Stop')}`, null, dead)
          : button('measure', `▶ ${t('Measure')}`, 'M', dead, 'tvmlab-pri')
      )
    );
  }
}

/** Ways to take the session along. */
function share(dead: boolean): HTMLElement {
  const item = (command: string, label: string, disabled: boolean): HTMLElement =>
    h('li', {}, button(command, label, null, disabled));
  return h(
    'details',
    { class: 'tvmlab-menu' },
    h('summary', { class: 'tvmlab-btn' }, `⤓ ${t('Share')}`),
    h(
      'ul',
      {},
      item('copy', t('Copy Python'), false),
      item('cell', t('Write into the notebook'), dead),
      item('save', t('Save the session'), dead),
      item('page', t('Save as a page'), dead)
    )
  );
}

function button(
  command: string,
  label: string,
  key: string | null,
  disabled: boolean,
  extra = ''
): HTMLElement {
  return h(
    'button',
    { class: `tvmlab-btn ${extra}`, type: 'button', 'data-command': command, disabled },
    label,
    key !== null &&
      h(
        'span',
        { class: 'tvmlab-key', 'aria-hidden': 'true', 'data-letter': key.length === 1 },
        key
      )
  );
}
