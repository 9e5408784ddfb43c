// The head of a text, its `# @...` lines: while a card above the text shows what they say, one line stands for them.
//
// It ends with the last such line before the first line that is neither empty nor a comment.

import { StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, WidgetType } from "@codemirror/view";
import { text } from "./locale.js";

const setFolded = StateEffect.define();

/** The offset behind the head; 0 where there is none. */
function headEnd(doc) {
  let end = 0;
  for (let number = 1; number <= doc.lines; number += 1) {
    const { text, to } = doc.line(number);
    const line = text.trim();
    if (line !== "" && !line.startsWith("#")) break;
    if (/^#\s*@\w/.test(line)) end = to;
  }
  return end;
}

class Folded extends WidgetType {
  constructor(lines, open) {
    super();
    this.lines = lines;
    this.open = open;
  }
  eq(other) {
    return other.lines === this.lines;
  }
  toDOM() {
    const node = document.createElement("button");
    node.type = "button";
    node.className = "cm-head-folded";
    node.textContent = text("code-head-folded", ["lines", this.lines]);
    node.title = text("code-head-show");
    node.addEventListener("click", () => this.open());
    return node;
  }
  ignoreEvent() {
    return true;
  }
}

const look = EditorView.baseTheme({
  ".cm-head-folded": {
    display: "block",
    padding: "3px 8px",
    border: "none",
    borderRadius: "4px",
    background: "transparent",
    color: "inherit",
    opacity: "0.75",
    font: "inherit",
    fontStyle: "italic",
    textAlign: "start",
    cursor: "pointer",
  },
  ".cm-head-folded:hover, .cm-head-folded:focus-visible": { opacity: "1", textDecoration: "underline" },
});

function drawn(state, isFolded, open) {
  const end = isFolded ? headEnd(state.doc) : 0;
  if (end === 0) return Decoration.none;
  const widget = new Folded(state.doc.lineAt(end).number, open);
  return Decoration.set(Decoration.replace({ widget, block: true, inclusive: true }).range(0, end));
}

/** The extension; `open` hears that somebody wants to see the lines. */
export function head(open) {
  const field = StateField.define({
    create: (state) => ({ isFolded: false, marks: drawn(state, false, open) }),
    update(value, transaction) {
      let { isFolded } = value;
      for (const effect of transaction.effects) if (effect.is(setFolded)) isFolded = effect.value;
      if (isFolded === value.isFolded && !transaction.docChanged) return value;
      return { isFolded, marks: drawn(transaction.state, isFolded, open) };
    },
    provide: (it) => [
      EditorView.decorations.from(it, (value) => value.marks),
      EditorView.atomicRanges.of((view) => view.state.field(it).marks),
    ],
  });
  return [field, look];
}

/** The effect that folds or unfolds the head. */
export function foldHead(isFolded) {
  return setFolded.of(isFolded);
}
