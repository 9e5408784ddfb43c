// The lit lines of the editor: those of the statements that are linked to what the user points at.

import { RangeSetBuilder, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView } from "@codemirror/view";

/** There are eight link colours; more groups start again with the first. */
const COLOURS = 8;

const lines = Array.from({ length: COLOURS }, (_, group) =>
  Decoration.line({ class: `cm-linked cm-linked-${group + 1}` }),
);

/** Carries `{from, to, group}[]`, all within the document. */
export const setLinkedRangesEffect = StateEffect.define();

export const linkedRanges = StateField.define({
  create: () => Decoration.none,
  update(marks, transaction) {
    let next = marks.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (effect.is(setLinkedRangesEffect)) next = decorate(transaction.state.doc, effect.value);
    }
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});

function decorate(doc, ranges) {
  const groupOf = new Map();
  for (const { from, to, group } of ranges) {
    // A line that two groups touch takes the colour of the first.
    const last = doc.lineAt(to > from ? to - 1 : to).number;
    for (let line = doc.lineAt(from).number; line <= last; line++) {
      if (!groupOf.has(line)) groupOf.set(line, group);
    }
  }
  const builder = new RangeSetBuilder();
  for (const line of [...groupOf.keys()].sort((a, b) => a - b)) {
    const { from } = doc.line(line);
    const colour = ((groupOf.get(line) % COLOURS) + COLOURS) % COLOURS;
    builder.add(from, from, lines[colour]);
  }
  return builder.finish();
}
