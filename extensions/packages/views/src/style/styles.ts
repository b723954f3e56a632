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

/** Bring the styles into a document, once. */
export function addStyles(page: Document): void {
  if (page.getElementById(STYLE_ID) === null) {
    const style = page.createElement('style');
    style.id = STYLE_ID;
    style.textContent = [tokens, layout, nest, side, below, code, insights, graph, search].join(
      '\n'
    );
    page.head.append(style);
  }
}
