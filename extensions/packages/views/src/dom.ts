/**
 * Making elements. Text always enters as text nodes, so nothing that a program is called can turn
 * into markup.
 */

export type Child = Node | string | null | undefined | false;
export type Attributes = Record<string, string | number | boolean | null | undefined>;

const SVG_NAMESPACE = 'http://www.w3.org/2000/svg';

function fill(element: Element, attributes: Attributes, children: readonly Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) {
      element.setAttribute(name, '');
    } else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, String(value));
    }
  }
  for (const child of children) {
    if (child !== null && child !== undefined && child !== false) {
      element.append(child);
    }
  }
}

/** An HTML element: `h('button', {class: 'btn'}, 'Undo')`. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

/** An SVG element, in the same manner. */
export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG_NAMESPACE, tag);
  fill(element, attributes, children);
  return element;
}

/** The closest ancestor that carries a data attribute, and its value. */
export function closestData(
  target: EventTarget | null,
  name: string
): { element: HTMLElement; value: string } | null {
  if (!(target instanceof Element)) {
    return null;
  }
  const element = target.closest<HTMLElement>(`[data-${name}]`);
  const value = element?.getAttribute(`data-${name}`);
  return element && value !== null && value !== undefined ? { element, value } : null;
}

/** What an element stands in: its page, or the shadow tree that a host has put it into. */
export function treeOf(element: Element): Document | ShadowRoot {
  const root = element.getRootNode();
  return root instanceof ShadowRoot ? root : element.ownerDocument;
}

let lastId = 0;

/** An id that no other view on the page has. */
export function uniqueId(prefix: string): string {
  lastId += 1;
  return `tvmlab-${prefix}-${lastId}`;
}
