// How the editor looks. Every colour is a custom property of the page, which reaches into the shadow root;
// the second value is the light theme's, for a page that does not define it.

import { HighlightStyle } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const mono = 'var(--font-code, ui-monospace, "Cascadia Code", "SF Mono", Menlo, Consolas, monospace)';

const links = {};
for (let group = 1; group <= 8; group++) {
  links[`.cm-linked-${group}`] = {
    backgroundColor: `var(--link-${group}, #DCEBFB)`,
    boxShadow: `inset 3px 0 0 var(--link-${group}-edge, #2F6FB5)`,
  };
}

// What the compiler says a word is goes before what its shape says.
const word = (name, style) => ({ [`.cm-word-${name}, .cm-word-${name} span`]: style });
const words = {
  ...word("keyword", { color: "var(--keyword, #7A2E9E)" }),
  ...word("range", { color: "var(--keyword, #7A2E9E)" }),
  ...word("axis", { color: "var(--keyword, #7A2E9E)" }),
  ...word("field", { color: "var(--field, var(--text, #1B2130))", fontWeight: "600" }),
  ...word("temporary", { color: "var(--text, #1B2130)" }),
  ...word("scalar", { color: "var(--number, #8A4B00)" }),
  ...word("constant", { color: "var(--number, #8A4B00)" }),
  ...word("number", { color: "var(--number, #8A4B00)" }),
  ...word("external", { color: "var(--number, #8A4B00)", fontStyle: "italic" }),
  ...word("function", { color: "var(--accent, #0B5CAD)" }),
  ...word("builtin", { color: "var(--accent, #0B5CAD)" }),
  ...word("type", { color: "var(--type, #0A5F5F)" }),
  ...word("module", { color: "var(--type, #0A5F5F)" }),
  ".cm-word-written": { textDecoration: "underline", textUnderlineOffset: "3px", textDecorationThickness: "1px" },
};

// CodeMirror draws its underlines and gutter signs with `data:` images, which the page's policy refuses:
// here they are text decorations and letters.
const underline = (colour) => ({
  backgroundImage: "none",
  textDecoration: `underline wavy ${colour}`,
  textDecorationSkipInk: "none",
  textUnderlineOffset: "3px",
});
const sign = (letter, colour) => ({
  content: "normal",
  "&::before": { content: `"${letter}"`, color: colour, fontWeight: "bold" },
});

export const theme = EditorView.theme({
  "&": { height: "100%", color: "var(--text, #1B2130)", backgroundColor: "var(--bg0, #FFFFFF)" },
  // The caret and its line tell most; the edge is for who looks from further away.
  "&.cm-focused": { outline: "1px solid var(--focus, #0B5CAD)", outlineOffset: "-1px" },
  ".cm-scroller": { fontFamily: mono, fontSize: "var(--code-size, 0.875rem)", lineHeight: "1.45" },
  ".cm-content": { caretColor: "var(--text, #1B2130)" },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--text, #1B2130)" },
  ".cm-gutters": {
    backgroundColor: "var(--bg1, #F6F7F9)",
    color: "var(--text-3, #566073)",
    borderRight: "1px solid var(--hairline, #C9CED8)",
  },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--accent, #0B5CAD) 7%, transparent)" },
  ".cm-activeLineGutter": { backgroundColor: "var(--bg2, #ECEEF2)", color: "var(--text, #1B2130)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "color-mix(in srgb, var(--accent, #0B5CAD) 25%, transparent)",
  },
  "&.cm-focused .cm-matchingBracket": {
    backgroundColor: "transparent",
    outline: "1px solid var(--control-edge, #7B8494)",
  },
  ".cm-selectionMatch": { backgroundColor: "color-mix(in srgb, var(--accent, #0B5CAD) 14%, transparent)" },
  ".cm-searchMatch": { backgroundColor: "var(--link-2, #FBE7C8)" },
  ".cm-panels": { backgroundColor: "var(--bg1, #F6F7F9)", color: "var(--text, #1B2130)" },
  ".cm-button, .cm-textfield": {
    backgroundImage: "none",
    backgroundColor: "var(--bg0, #FFFFFF)",
    color: "var(--text, #1B2130)",
    border: "1px solid var(--control-edge, #7B8494)",
  },
  ".cm-tooltip": {
    backgroundColor: "var(--bg1, #F6F7F9)",
    color: "var(--text, #1B2130)",
    border: "1px solid var(--control-edge, #7B8494)",
    borderRadius: "4px",
  },
  ".cm-lintRange-error": underline("var(--error, #B3261E)"),
  ".cm-lintRange-warning": underline("var(--warn, #8A5200)"),
  ".cm-lintRange-info, .cm-lintRange-hint": underline("var(--accent, #0B5CAD)"),
  ".cm-lintRange-active": { backgroundColor: "color-mix(in srgb, var(--warn, #8A5200) 18%, transparent)" },
  ".cm-lint-marker": { width: "1em", height: "1.2em", textAlign: "center" },
  ".cm-lint-marker-error": sign("✕", "var(--error, #B3261E)"),
  ".cm-lint-marker-warning": sign("!", "var(--warn, #8A5200)"),
  ".cm-lint-marker-info, .cm-lint-marker-hint": sign("i", "var(--accent, #0B5CAD)"),
  ".cm-diagnostic": { padding: "4px 8px", maxWidth: "60ch" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--error, #B3261E)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--warn, #8A5200)" },
  ".cm-diagnostic-info, .cm-diagnostic-hint": { borderLeftColor: "var(--accent, #0B5CAD)" },
  ".cm-diagnostic-help": { marginTop: "2px", color: "var(--text-2, #4A5365)" },
  ".cm-diagnosticSource": { color: "var(--text-3, #566073)", opacity: "1" },
  ".cm-hover, .cm-signature": { padding: "6px 10px", maxWidth: "64ch", fontSize: "0.8125rem" },
  ".cm-hover-code, .cm-signature code": { fontFamily: mono, whiteSpace: "pre-wrap" },
  ".cm-hover-rows": { display: "grid", gridTemplateColumns: "max-content 1fr", gap: "1px 10px", margin: "4px 0 0" },
  ".cm-hover-rows dt": { color: "var(--text-3, #566073)" },
  ".cm-hover-rows dd": { margin: "0" },
  ".cm-about": { marginTop: "4px", whiteSpace: "pre-wrap", color: "var(--text-2, #4A5365)" },
  ".cm-signature b": { textDecoration: "underline" },
  ".cm-remarks .cm-gutterElement": { minWidth: "1.1em", textAlign: "center", cursor: "pointer", padding: "0 1px" },
  ".cm-remark-mark": { fontSize: "0.75em" },
  "&.cm-remarks-stale .cm-remark-mark": { opacity: "0.55" },
  ".cm-name": { fontFamily: mono, fontSize: "0.95em", padding: "0 3px", borderRadius: "3px", backgroundColor: "var(--bg2, #ECEEF2)" },
  ".cm-fixes": { padding: "4px", fontSize: "0.8125rem", maxWidth: "min(64ch, 94vw)", boxShadow: "0 4px 16px rgb(0 0 0 / 0.2)" },
  ".cm-fixes .cm-service-row": { padding: "5px 10px", borderRadius: "3px", font: "inherit", gap: "4px" },
  ".cm-fixes .cm-service-row:focus": { outline: "2px solid var(--focus, #0B5CAD)", outlineOffset: "-2px" },
  ".cm-fixes[role=status]": { padding: "6px 10px" },
  ".cm-remark-applied": { color: "var(--ok, #1A7037)" },
  ".cm-remark-missed": { color: "var(--text-3, #566073)" },
  ".cm-remark-removed": { color: "var(--warn, #8A5200)" },
  ".cm-remark-note": {
    margin: "0 0 0 2em",
    padding: "0 6px",
    border: "1px solid var(--hairline, #C9CED8)",
    borderRadius: "8px",
    background: "var(--bg1, #F6F7F9)",
    color: "var(--text-2, #4A5365)",
    font: "inherit",
    fontSize: "0.75rem",
    lineHeight: "1.3",
    cursor: "pointer",
  },
  ".cm-remarks-list": { maxWidth: "min(64ch, 94vw)", maxHeight: "40vh", overflow: "auto", fontSize: "0.8125rem" },
  ".cm-remarks-list ul": { listStyle: "none", margin: "0", padding: "2px" },
  ".cm-remark": {
    display: "grid",
    gridTemplateColumns: "1.2em 1fr",
    gap: "0 6px",
    width: "100%",
    padding: "4px 8px",
    border: "none",
    background: "none",
    color: "inherit",
    font: "inherit",
    textAlign: "left",
    cursor: "pointer",
  },
  ".cm-remark:hover, .cm-remark:focus": { backgroundColor: "var(--bg2, #ECEEF2)" },
  ".cm-remark-sign": { fontWeight: "bold" },
  ".cm-remark-pass": { gridColumn: "2", color: "var(--text-3, #566073)", fontFamily: mono, fontSize: "0.75rem" },
  ".cm-remark-traffic": { whiteSpace: "nowrap" },
  ".cm-tooltip-autocomplete > ul": { fontFamily: mono },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--accent, #0B5CAD)",
    color: "var(--bg0, #FFFFFF)",
  },
  ".cm-completionDetail": { marginLeft: "1.5em", fontStyle: "normal", opacity: "0.75" },
  ".cm-foldGutter": { minWidth: "1em", color: "var(--text-3, #566073)" },
  ".cm-foldPlaceholder": { backgroundColor: "var(--bg2, #ECEEF2)", color: "var(--text-2, #4A5365)", border: "none" },
  ".cm-service": { display: "flex", gap: "8px", alignItems: "flex-start", padding: "4px 8px" },
  ".cm-service-text": { whiteSpace: "nowrap", paddingTop: "3px" },
  ".cm-service-form": { display: "flex", gap: "8px", flex: "1" },
  ".cm-service-list": { listStyle: "none", margin: "0", padding: "0", flex: "1", maxHeight: "9em", overflow: "auto" },
  ".cm-service-row": {
    display: "flex",
    gap: "10px",
    width: "100%",
    border: "none",
    background: "none",
    color: "inherit",
    textAlign: "left",
    padding: "2px 4px",
    cursor: "pointer",
  },
  ".cm-service-row:hover, .cm-service-row:focus": { backgroundColor: "var(--bg2, #ECEEF2)" },
  ".cm-service-place": { color: "var(--text-3, #566073)", whiteSpace: "nowrap" },
  ".cm-diagnosticAction": {
    backgroundColor: "var(--accent, #0B5CAD)",
    color: "var(--bg0, #FFFFFF)",
    marginLeft: "0",
    marginRight: "8px",
  },
  ...words,
  ...links,
});

const modes = { light: EditorView.theme({}, { dark: false }), dark: EditorView.theme({}, { dark: true }) };

/** The extension that tells CodeMirror's own base styles which of the two themes is on. */
export function appearance(name) {
  return modes[name] ?? modes.light;
}

export const highlighting = HighlightStyle.define([
  {
    tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword, tags.definitionKeyword, tags.moduleKeyword],
    color: "var(--keyword, #7A2E9E)",
  },
  { tag: [tags.typeName, tags.className], color: "var(--type, #0A5F5F)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--number, #8A4B00)" },
  { tag: tags.string, color: "var(--string, #1A7037)" },
  { tag: tags.comment, color: "var(--comment, var(--text-3, #566073))", fontStyle: "italic" },
  {
    tag: [tags.function(tags.variableName), tags.function(tags.definition(tags.variableName))],
    color: "var(--accent, #0B5CAD)",
  },
  { tag: tags.invalid, color: "var(--error, #B3261E)" },
]);
