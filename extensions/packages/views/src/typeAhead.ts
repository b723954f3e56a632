import type { Acts } from './acts';
import { treeOf } from './dom';
import { t } from './hostPage';

/** A key as it was pressed, with what was held. */
type Key = Pick<KeyboardEvent, 'key' | 'code' | 'shiftKey' | 'ctrlKey' | 'altKey' | 'metaKey'>;

/** Keys that hold others, and Tab, whose way through the page no script can go. */
const LET_BY: ReadonlySet<string> = new Set(['Shift', 'Control', 'Alt', 'Meta', 'Tab']);

/**
 * Keys pressed while the session is still at what an earlier key asked for.
 *
 * They are kept and pressed again, in order, when the answer has come and the focus is where it
 * leads: `s 8 Enter` splits by 8 however fast it is typed. Escape forgets them.
 */
export class TypeAhead {
  constructor(root: HTMLElement, acts: Acts, say: (text: string) => void) {
    this._root = root;
    this._acts = acts;
    this._say = say;
    root.addEventListener('keydown', event => this._pressed(event), true);
    // Where the answer puts the focus is known only after those who wait for it have run.
    acts.onRest = () => setTimeout(() => this._resume());
  }

  private _pressed(event: KeyboardEvent): void {
    const waits = this._acts.busy || this._kept.length > 0;
    if (!waits || this._replaying || event.isComposing || LET_BY.has(event.key)) {
      return;
    }
    if (event.key === 'Escape') {
      this._kept = [];
      return;
    }
    const { key, code, shiftKey, ctrlKey, altKey, metaKey } = event;
    if (this._kept.length === 0) {
      this._say(t('The session is still at the last step; keys wait for it. Escape forgets them.'));
    }
    this._kept.push({ key, code, shiftKey, ctrlKey, altKey, metaKey });
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  private _resume(): void {
    this._replaying = true;
    this._typedInto = null;
    try {
      while (!this._acts.busy) {
        const key = this._kept.shift();
        if (key === undefined) {
          return;
        }
        this._press(key);
      }
    } finally {
      this._replaying = false;
    }
  }

  /** Do what the browser and the view do for a key. */
  private _press(key: Key): void {
    const target = this._active();
    const event = new KeyboardEvent('keydown', { ...key, bubbles: true, cancelable: true });
    if (!target.dispatchEvent(event)) {
      return;
    }
    const plain = !key.ctrlKey && !key.altKey && !key.metaKey;
    if (target instanceof HTMLInputElement) {
      if (key.key === 'Enter') {
        target.form?.requestSubmit();
      } else if (plain && key.key.length === 1) {
        this._type(target, key.key);
      }
    } else if (target instanceof HTMLButtonElement && (key.key === 'Enter' || key.key === ' ')) {
      target.click();
    }
  }

  /** What is typed first takes the place of what a field holds, as its text is selected. */
  private _type(input: HTMLInputElement, text: string): void {
    input.value = this._typedInto === input ? input.value + text : text;
    this._typedInto = input;
    input.dispatchEvent(new Event('input', { bubbles: true }));
  }

  private _active(): HTMLElement {
    const { activeElement } = treeOf(this._root);
    return activeElement instanceof HTMLElement && this._root.contains(activeElement)
      ? activeElement
      : this._root;
  }

  private readonly _root: HTMLElement;
  private readonly _acts: Acts;
  private readonly _say: (text: string) => void;
  private _kept: Key[] = [];
  private _replaying = false;
  private _typedInto: HTMLInputElement | null = null;
}
