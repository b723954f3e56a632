import { h, treeOf } from '../dom';
import below from './below.css';
import code from './code.css';
import graph from './graph.css';
import insights from './insights.css';
import layout from './layout.css';
import nest from './nest.css';
import search from './search.css';
import side from './side.css';
import tokens from './tokens.css';

const STYLE_ID = 'tvmlab-styles';

/** Bring the styles to an element: once into its page, or into the shadow tree that it is in. */
export function addStyles(element: Element): void {
  const tree = treeOf(element);
  if (tree.getElementById(STYLE_ID) === null) {
    const style = h('style');
    style.id = STYLE_ID;
    style.textContent = [tokens, layout, nest, side, below, code, insights, graph, search].join(
      '\n'
    );
    (tree instanceof ShadowRoot ? tree : tree.head).append(style);
  }
}
