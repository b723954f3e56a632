/**
 * Finds texts that readers see and that translators never get: literals that do not pass through
 * `t`, `marked` or a bundle's `__`.
 *
 * Three kinds of literals are looked at: what stands where text is shown (children of an element,
 * its accessible name), what reads as a sentence or a label, and templates with words beside their
 * values.
 */
import ts from 'typescript';

const TRANSLATORS = new Set(['t', 'marked', '__']);
const MAKERS = new Set(['h', 's']);
const SHOWN_ATTRIBUTES = new Set(['aria-label', 'aria-valuetext', 'title', 'placeholder', 'alt']);
const SHOWN_PROPERTIES = new Set(['textContent', 'title', 'ariaLabel', 'placeholder']);
const HIDDEN_ATTRIBUTE = /^(class|style|d|id|for|transform|data-.*)$/;

const LETTERS = /[A-Za-z]{2,}/;
const READABLE = /^[A-Z][a-z]+$|[A-Za-z]{2,},? [a-z]{2,}/;
const WORD_BESIDE_VALUE = /(^|[ (])[A-Za-z]{2,}([ ,;)…]|[.:]( |$)|$)/;
/** What looks like words, but is read by machines: selectors, styles, drawings. */
const FOR_MACHINES = /tvmlab-|\[data|^[.#<]|^svg,|> summary|translate|rotate|width:|var\(|--\w/;
/** What programs and keyboards call things, the same in every language. */
const SAME_EVERYWHERE = new Set([
  ...['Enter', 'Escape', 'Esc', 'Home', 'End', 'Tab'],
  ...['Shift', 'Control', 'Alt', 'Meta']
]);

/** Texts of one source file, as `line: text`. */
export function untranslated(name: string, source: string): string[] {
  const file = ts.createSourceFile(name, source, ts.ScriptTarget.Latest, true);
  const found = new Map<ts.Node, string>();

  const tell = (node: ts.Node, text: string): void => {
    if (!FOR_MACHINES.test(text) && !SAME_EVERYWHERE.has(text)) {
      const { line } = file.getLineAndCharacterOfPosition(node.getStart());
      found.set(node, `${line + 1}: ${text}`);
    }
  };

  /** Everything that an expression in a shown place may turn out to be. */
  const shown = (node: ts.Node): void => {
    const text = textOf(node);
    if (text !== null) {
      if (LETTERS.test(text)) {
        tell(node, text);
      }
    } else if (ts.isConditionalExpression(node)) {
      [node.whenTrue, node.whenFalse].forEach(shown);
    } else if (ts.isBinaryExpression(node)) {
      partsOf(node).forEach(shown);
    } else if (ts.isParenthesizedExpression(node) || ts.isSpreadElement(node)) {
      shown(node.expression);
    } else if (ts.isArrayLiteralExpression(node)) {
      node.elements.forEach(shown);
    } else if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
      if (ts.isArrayLiteralExpression(node.expression.expression)) {
        shown(node.expression.expression); // [...].map(text => an element of it)
      }
    }
  };

  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node) || ts.isTypeNode(node)) {
      return;
    }
    if (ts.isCallExpression(node)) {
      const called = calledName(node);
      if (TRANSLATORS.has(called)) {
        node.arguments.slice(1).forEach(visit);
        return;
      }
      if (MAKERS.has(called)) {
        node.arguments.slice(2).forEach(shown);
      }
    }
    if (ts.isPropertyAssignment(node)) {
      const attribute = node.name.getText().replaceAll("'", '');
      if (SHOWN_ATTRIBUTES.has(attribute)) {
        shown(node.initializer);
      } else if (HIDDEN_ATTRIBUTE.test(attribute)) {
        return;
      }
    }
    if (assignsText(node)) {
      shown(node.right);
    }
    const text = textOf(node);
    const words = ts.isTemplateExpression(node) ? WORD_BESIDE_VALUE : READABLE;
    if (text !== null && words.test(text)) {
      tell(node, text);
    }
    ts.forEachChild(node, visit);
  };

  visit(file);
  return [...found.values()];
}

/** The words of a literal, with its values left out; null for anything else. */
function textOf(node: ts.Node): string | null {
  if (ts.isStringLiteralLike(node)) {
    return node.text;
  }
  return ts.isTemplateExpression(node)
    ? [node.head.text, ...node.templateSpans.map(span => span.literal.text)].join('%')
    : null;
}

/** What a binary expression may give: both sides, or the right one where the left decides. */
function partsOf({ left, operatorToken, right }: ts.BinaryExpression): ts.Expression[] {
  switch (operatorToken.kind) {
    case ts.SyntaxKind.PlusToken:
    case ts.SyntaxKind.BarBarToken:
    case ts.SyntaxKind.QuestionQuestionToken:
      return [left, right];
    case ts.SyntaxKind.AmpersandAmpersandToken:
      return [right];
    default:
      return [];
  }
}

function calledName({ expression }: ts.CallExpression): string {
  if (ts.isPropertyAccessExpression(expression)) {
    return expression.name.text;
  }
  return ts.isIdentifier(expression) ? expression.text : '';
}

function assignsText(node: ts.Node): node is ts.BinaryExpression {
  return (
    ts.isBinaryExpression(node) &&
    node.operatorToken.kind === ts.SyntaxKind.EqualsToken &&
    ts.isPropertyAccessExpression(node.left) &&
    SHOWN_PROPERTIES.has(node.left.name.text)
  );
}
