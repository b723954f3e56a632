import type { ReplyMessage, Slot } from '@tvmlab/schema';

import { t } from './hostPage';
import type { Acts } from './acts';
import type { Request } from './client';
import { type IMoving, nextSlot, slotAt, slotWords } from './moving';
import { type IViewState, refusedFor, rowOf, visibleRows } from './viewState';

/** What moving a line needs of the controller. */
export interface IMoverHost {
  acts: Acts;
  view(): IViewState | null;
  request(command: Request): Promise<ReplyMessage>;
  show(moving: IMoving | null): void;
  refuse(title: string, verdict: ReturnType<typeof refusedFor>): void;
  announce(text: string): void;
}

/** Moving a line to another place, by pointer or by keys: lift, look at the places, drop. */
export class Mover {
  constructor(host: IMoverHost) {
    this._host = host;
  }

  /** Take a line up; the verdicts of all places follow. */
  lift(row: string): void {
    const view = this._host.view();
    const line = view && rowOf(view.session, row);
    if (!line || (line.type !== 'loop' && line.type !== 'block')) {
      return;
    }
    this._under = null;
    this._letGo = false;
    this._host.show({ row, name: line.name, slots: null, at: null });
    void this._host.acts.do(() => this._look(row, line.name));
  }

  /** Have the verdicts of all places; let the line go if it was let go before they came. */
  private async _look(row: string, name: string): Promise<void> {
    const { data } = await this._host.request({ type: 'slots', row });
    const { moving } = this;
    if (moving?.row !== row || data === null || !('slots' in data)) {
      return;
    }
    this._host.show({ ...moving, slots: data.slots });
    this._rehover();
    if (this._letGo) {
      await this._drop();
      return;
    }
    const open = data.slots.filter(slot => slot.status === 'allowed').length;
    this._host.announce(
      t(
        'Moving %1: %2 of %3 places are allowed. Up and down choose one, Enter drops, Escape puts it back.',
        name,
        open,
        data.slots.length
      )
    );
  }

  /** The pointer is over the upper or lower half of a line, or over none. */
  hover(row: string | null, lower: boolean): void {
    const { moving } = this;
    this._under = { row, lower };
    if (moving) {
      const at = row === null ? null : slotAt(moving, this._order(), row, lower);
      if (at !== moving.at) {
        this._host.show({ ...moving, at });
      }
    }
  }

  /** Choose the next place by key. */
  step(by: number): void {
    const { moving } = this;
    if (moving?.slots) {
      const at = nextSlot(moving, this._order(), by);
      this._host.show({ ...moving, at });
      this._host.announce(at === null ? t('No place.') : slotWords(at));
    }
  }

  /** Let the line go at its place: take the step, or say why not. */
  async drop(): Promise<void> {
    if (this.moving?.slots === null && this._under?.row) {
      this._letGo = true; // the verdicts are on their way
    } else {
      await this._host.acts.do(() => this._drop());
    }
  }

  private async _drop(): Promise<void> {
    const { moving } = this;
    this._host.show(null);
    const slot = moving?.at;
    if (!moving || !slot || slot.status === 'here') {
      return;
    }
    if (slot.status !== 'allowed') {
      this._refuse(moving, slot);
      return;
    }
    const { row } = moving;
    const reply = await this._host.request({ type: 'move', row, to: slot.row, place: slot.place });
    if (!reply.ok) {
      this._host.refuse(t('move %1', moving.name), refusedFor(reply.error ?? ''));
    }
  }

  /** Put the line back where it was; false if none was taken up. */
  cancel(): boolean {
    const lifted = this.moving !== null;
    if (lifted) {
      this._host.show(null);
      this._host.announce(t('Put back.'));
    }
    return lifted;
  }

  get moving(): IMoving | null {
    return this._host.view()?.moving ?? null;
  }

  /** The pointer may rest already where a place has just been painted. */
  private _rehover(): void {
    if (this._under !== null) {
      this.hover(this._under.row, this._under.lower);
    }
  }

  private _refuse({ name }: IMoving, slot: Slot): void {
    this._host.refuse(t('move %1', name), slot.verdict ?? refusedFor(slot.reason));
  }

  private _order(): string[] {
    const view = this._host.view();
    return view === null ? [] : visibleRows(view.session, view.collapsed).map(row => row.id);
  }

  private readonly _host: IMoverHost;
  private _under: { row: string | null; lower: boolean } | null = null;
  private _letGo = false;
}
