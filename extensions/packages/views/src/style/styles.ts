import tokens from './tokens.css';

const STYLE_ID = 'tvmlab-styles';

/** Bring the styles into a document, once. */
export function addStyles(page: Document): void {
  if (page.getElementById(STYLE_ID) === null) {
    const style = page.createElement('style');
    style.id = STYLE_ID;
    style.textContent = [tokens].join('\n');
    page.head.append(style);
  }
}
