// How the text is looked at: long lines can be broken, with their further rows indented, and the caret stays in view
// when the editor gets another size.

import { RangeSetBuilder } from "@codemirror/state";
import { Decoration, EditorView, ViewPlugin } from "@codemirror/view";

/** Characters that the further rows of a line are indented by beside the line's own indent; and most of both. */
const HANG = 2;
const MOST = 40;

const lineOf = new Map();
function hanging(indent) {
  const by = Math.min(indent, MOST) + HANG;
  if (!lineOf.has(by)) {
    const style = `text-indent: -${by}ch; padding-left: calc(${by}ch + 6px)`;
    lineOf.set(by, Decoration.line({ attributes: { style } }));
  }
  return lineOf.get(by);
}

const hangingIndent = ViewPlugin.fromClass(
  class {
    constructor(view) {
      this.decorations = this.draw(view);
    }
    update(update) {
      if (update.docChanged || update.viewportChanged) this.decorations = this.draw(update.view);
    }
    draw({ state, visibleRanges }) {
      const builder = new RangeSetBuilder();
      let before = -1;
      for (const { from, to } of visibleRanges) {
        for (let at = from; at <= to; ) {
          const line = state.doc.lineAt(at);
          if (line.from > before) builder.add(line.from, line.from, hanging(/^[ \t]*/.exec(line.text)[0].length));
          before = line.from;
          at = line.to + 1;
        }
      }
      return builder.finish();
    }
  },
  { decorations: (it) => it.decorations },
);

/** The extension that breaks long lines. */
export const wrapping = [EditorView.lineWrapping, hangingIndent];

/** Brings the caret's line back into view where a smaller editor would hide it. */
export const keepCaret = ViewPlugin.fromClass(
  class {
    constructor(view) {
      this.height = 0;
      this.observer = new ResizeObserver(() => this.resized(view));
      this.observer.observe(view.scrollDOM);
    }
    resized(view) {
      const before = this.height;
      this.height = view.scrollDOM.clientHeight;
      if (before === 0 || this.height === 0 || this.height === before) return;
      const { head } = view.state.selection.main;
      const { top, bottom } = view.lineBlockAt(head);
      const { scrollTop } = view.scrollDOM;
      const wasSeen = bottom > scrollTop && top < scrollTop + before;
      if (wasSeen) view.dispatch({ effects: EditorView.scrollIntoView(head, { y: "nearest", yMargin: 8 }) });
    }
    destroy() {
      this.observer.disconnect();
    }
  },
);

/** The editor asks so many milliseconds after an event whether it has the keyboard. */
const ASKS_AFTER = 10;

/**
 * Puts the caret back where the browser has none. An editor that lost the keyboard for less than a moment, to a dialog
 * that was closed at once, takes it for never lost, and the browser would throw away every key.
 */
export const takesCaret = EditorView.domEventHandlers({
  focus(_, view) {
    setTimeout(() => {
      const root = view.root.getSelection ? view.root : document;
      if (view.hasFocus && root.getSelection().rangeCount === 0) view.focus();
    }, 2 * ASKS_AFTER);
  },
});

/** Tells the style sheets, as `--keyboard`, what a keyboard on the screen covers where it does not make the page lower. */
export function keepAboveKeyboard() {
  const { visualViewport } = window;
  const tell = () => {
    // A page that somebody zoomed into is larger than what is seen of it, without any keyboard.
    const covered = visualViewport.scale > 1 ? 0 : window.innerHeight - visualViewport.height - visualViewport.offsetTop;
    document.documentElement.style.setProperty("--keyboard", `${Math.max(0, Math.round(covered))}px`);
  };
  visualViewport?.addEventListener("resize", tell);
}
