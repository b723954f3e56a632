import type { Controller } from './controller';

/** What a key does beyond the controller: moving the focus. */
export interface IFocus {
  tree(): void;
  form(): void;
  /** Whether single letters do something. */
  letters: boolean;
}

/** The name of a key with its modifiers, as actions give theirs: `s`, `Shift+ArrowUp`. */
export function keyName(event: KeyboardEvent): string {
  const { key } = event;
  const name = key.length === 1 ? key.toLowerCase() : key;
  const shift = event.shiftKey && (key.length > 1 || /[a-z]/i.test(key));
  const control = event.ctrlKey || event.metaKey;
  return `${control ? 'Ctrl+' : ''}${event.altKey ? 'Alt+' : ''}${shift ? 'Shift+' : ''}${name}`;
}

/** Whether keys there are text, or choose among options. */
export const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLInputElement || target instanceof HTMLSelectElement;

const isButton = (target: EventTarget | null): boolean =>
  target instanceof HTMLButtonElement ||
  (target instanceof HTMLElement && target.tagName === 'SUMMARY');

/**
 * Handle a key pressed anywhere in the view.
 *
 * What is handled goes no further, and neither does a plain letter that is not: in a notebook's
 * command mode it would delete or add cells.
 */
export function handleKey(event: KeyboardEvent, controller: Controller, focus: IFocus): void {
  const name = keyName(event);
  if (isField(event.target)) {
    event.stopPropagation();
    if (name === 'Escape') {
      controller.escape();
      focus.tree();
    }
    return;
  }
  const off = !focus.letters && /^[\p{L}\p{P}]$/u.test(name);
  if (!off && run(name, event, controller, focus)) {
    event.preventDefault();
    event.stopPropagation();
  } else if (event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.stopPropagation();
  }
}

function run(name: string, event: KeyboardEvent, controller: Controller, focus: IFocus): boolean {
  switch (name) {
    case 'ArrowUp':
    case 'ArrowDown':
      (controller.mover.moving ? controller.mover : controller).step(name === 'ArrowUp' ? -1 : 1);
      return true;
    case 'g':
      controller.grab();
      return true;
    case '/':
    case 'Ctrl+Shift+p':
      controller.toggle('palette');
      return true;
    case 'ArrowLeft':
    case 'ArrowRight':
      controller.fold(name === 'ArrowRight');
      return true;
    case 'Home':
    case 'End':
      controller.step(name === 'Home' ? -Infinity : Infinity);
      return true;
    case 'Escape':
      if (controller.escape()) {
        focus.tree();
        return true;
      }
      return false;
    case 'Ctrl+z':
      void controller.command({ type: 'undo' });
      return true;
    case 'Ctrl+Shift+z':
    case 'Ctrl+y':
      void controller.command({ type: 'redo' });
      return true;
    case 'm':
      void controller.command({ type: 'measure' });
      return true;
    case '?':
      controller.toggle('help');
      return true;
    case 'Enter':
      if (controller.mover.moving) {
        void controller.mover.drop();
        return true;
      }
      return (
        !isButton(event.target) &&
        startAction(controller, focus, action => action.params.length > 0)
      );
    default:
      return startAction(controller, focus, action => action.key === name);
  }
}

type Find = Parameters<Controller['start']>[0];

/** Start an action if the selected line has it. */
function startAction(controller: Controller, focus: IFocus, find: Find): boolean {
  const details = controller.view?.details;
  if (details && !details.actions.some(find)) {
    return false;
  }
  void controller.start(find).then(result => {
    if (result === 'form') {
      focus.form();
    }
  });
  return true;
}
