// CodeMirror's own words, in the visitor's language.

import { EditorState } from "@codemirror/state";
import { text } from "./locale.js";

/** The extension. */
export const phrases = EditorState.phrases.of({
  Find: text("code-phrase-find"),
  Replace: text("code-phrase-replace"),
  next: text("code-phrase-next"),
  previous: text("code-phrase-previous"),
  all: text("code-phrase-all"),
  "match case": text("code-phrase-match-case"),
  regexp: text("code-phrase-regexp"),
  "by word": text("code-phrase-by-word"),
  replace: text("code-phrase-do-replace"),
  "replace all": text("code-phrase-do-replace-all"),
  close: text("code-phrase-close"),
  "current match": text("code-phrase-current-match"),
  "on line": text("code-phrase-on-line"),
  "replaced match on line $": text("code-phrase-replaced-on-line"),
  "replaced $ matches": text("code-phrase-replaced"),
  "Go to line": text("code-phrase-go-to-line"),
  go: text("code-phrase-go"),
  Diagnostics: text("code-phrase-diagnostics"),
  "No diagnostics": text("code-phrase-no-diagnostics"),
  Completions: text("code-phrase-completions"),
  "Selection deleted": text("code-phrase-selection-deleted"),
  "Folded lines": text("code-phrase-folded-lines"),
  "Unfolded lines": text("code-phrase-unfolded-lines"),
  to: text("code-phrase-to"),
  "folded code": text("code-phrase-folded-code"),
  unfold: text("code-phrase-unfold"),
  "Fold line": text("code-phrase-fold-line"),
  "Unfold line": text("code-phrase-unfold-line"),
  "Control character": text("code-phrase-control-character"),
});
