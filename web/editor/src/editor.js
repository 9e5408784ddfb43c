// The text editor of the page: CodeMirror behind a small class.
//
// The Rust side (web/src/bridge/editor.rs) imports `createEditor` and calls the methods of what it returns.
//
// Offsets, everywhere in this file, count UTF-16 code units from the start of the document, as JavaScript strings do.
// The compiler counts bytes and characters: the Rust side converts, both ways. Lines count from 1.
// Positions outside the document are moved to its nearest end, so a late answer never throws.

import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Annotation, Compartment, EditorState, Transaction } from "@codemirror/state";
import {
  EditorView,
  drawSelection,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { offerFixes } from "./fixes.js";
import { foldHead, head } from "./head.js";
import { linkedRanges, setLinkedRangesEffect } from "./links.js";
import { text } from "./locale.js";
import { phrases } from "./phrases.js";
import { prose } from "./prose.js";
import { isShown, openRemarks, remarks, setRemarksEffect } from "./remarks.js";
import { actionsOf, applyEdits, service } from "./service.js";
import { appearance, highlighting, theme } from "./theme.js";
import { keepAboveKeyboard, keepCaret, takesCaret, wrapping } from "./view.js";

/** Marks a change that the page made itself, of which it needs no report. */
const fromPage = Annotation.define();

/**
 * Makes an editor inside `parent`.
 *
 * It lives in a shadow root of `parent`: there, and only there, CodeMirror adds its styles as constructed style
 * sheets, which a strict `style-src 'self'` allows; `<style>` elements it would refuse.
 *
 * @param {HTMLElement} parent an empty element with a height
 * @param {object} options
 * @param {string} [options.doc] the first text
 * @param {(text: string) => void} [options.onChange] after each edit of the user (not after `setDoc`)
 * @param {(offset: number, line: number) => void} [options.onCursor] when the caret moves, and after each edit
 * @param {(query: string) => Promise<string|null>} [options.ask] what the compiler tells about the text, as JSON
 * @param {(json: string) => void} [options.onElsewhere] a place of another file is to be shown
 * @param {(json: string) => void} [options.onEdits] edits of other files
 * @param {() => void} [options.onHead] the folded head of the text is to be shown
 * @param {(at: number) => void} [options.onRemark] a remark was chosen, by the number that it came with
 * @returns {Editor}
 */
export function createEditor(parent, options = {}) {
  return new Editor(parent, options);
}

export class Editor {
  #view;
  #appearance = new Compartment();
  #wrapping = new Compartment();
  #extensions;
  /** By the names of files, what was open before: with its undo history and its caret. */
  #states = new Map();
  #file = null;
  /** What belongs to the editor and not to a file. */
  #theme = "light";
  #isWrapping = false;
  #isHeadFolded = false;

  constructor(parent, { doc = "", onChange, onCursor, ask, onElsewhere, onEdits, onRemark, onHead }) {
    const root = parent.shadowRoot ?? parent.attachShadow({ mode: "open", delegatesFocus: true });
    root.replaceChildren();
    // For tests and the console: what is drawn is not the whole text.
    parent.editor = this;
    keepAboveKeyboard();
    const report = EditorView.updateListener.of((update) => {
      const byPage = update.transactions.some((it) => it.annotation(fromPage));
      if (update.docChanged && !byPage) onChange?.(update.state.doc.toString());
      if (update.selectionSet || update.docChanged) {
        const { head } = update.state.selection.main;
        onCursor?.(head, update.state.doc.lineAt(head).number);
      }
    });
    this.#extensions = [
      lineNumbers(),
      lintGutter(),
      highlightSpecialChars(),
      history(),
      drawSelection(),
      indentUnit.of("    "),
      indentOnInput(),
      bracketMatching(),
      highlightActiveLine(),
      highlightActiveLineGutter(),
      highlightSelectionMatches(),
      search({ top: true }),
      python(),
      syntaxHighlighting(highlighting),
      linkedRanges,
      remarks((at) => onRemark?.(at)),
      // Before the other keys: Tab accepts a completion, Escape closes what is open.
      ask ? service(asked(ask), told(onElsewhere), told(onEdits)) : [],
      keymap.of([...defaultKeymap, ...searchKeymap, ...historyKeymap, ...lintKeymap, indentWithTab]),
      EditorView.contentAttributes.of({ "aria-label": text("code-label"), spellcheck: "false", autocapitalize: "off" }),
      phrases,
      theme,
      this.#appearance.of(appearance("light")),
      this.#wrapping.of([]),
      keepCaret,
      takesCaret,
      head(() => onHead?.()),
      report,
    ];
    this.#view = new EditorView({
      parent: root,
      root,
      state: EditorState.create({
        doc,
        extensions: this.#extensions,
      }),
    });
  }

  /** Replaces the whole text as one undoable step; the caret stays where it was, if it can. */
  setDoc(text) {
    const { state } = this.#view;
    if (state.doc.toString() === text) return;
    this.#view.dispatch({
      changes: { from: 0, to: state.doc.length, insert: text },
      selection: { anchor: Math.min(state.selection.main.head, text.length) },
      annotations: [fromPage.of(true), Transaction.addToHistory.of(true)],
      scrollIntoView: true,
    });
  }

  /**
   * Shows a file in place of another one. Each has its own undo history and caret; a text that changed meanwhile
   * begins anew.
   */
  openFile(name, text) {
    if (this.#file !== null) this.#states.set(this.#file, this.#view.state);
    this.#file = name;
    const before = this.#states.get(name);
    const isSame = before?.doc.toString() === text;
    this.#view.setState(isSame ? before : EditorState.create({ doc: text, extensions: this.#extensions }));
    this.setTheme(this.#theme);
    this.setWrapping(this.#isWrapping);
    this.setHeadFolded(this.#isHeadFolded);
  }

  /** Tells which file the text is, which was there from the beginning or has another name now. */
  nameFile(name) {
    this.#states.delete(name);
    this.#file = name;
  }

  /** Shows one line in place of the `# @...` lines at the head of the text, or these lines. */
  setHeadFolded(isFolded) {
    this.#isHeadFolded = isFolded;
    this.#view.dispatch({ effects: foldHead(isFolded) });
  }

  getDoc() {
    return this.#view.state.doc.toString();
  }

  /**
   * Shows these diagnostics in place of those before.
   *
   * @param {{from: number, to: number, severity: "error"|"warning"|"hint"|"info", message: string,
   *   code?: string, help?: string, fixes?: string, file?: string}[]} diagnostics `fixes` is the compiler's list as JSON
   */
  setDiagnostics(diagnostics) {
    const length = this.#view.state.doc.length;
    const shown = Array.from(diagnostics, ({ from, to, severity, message, code, help, fixes, file }) => ({
      ...atLeastOne(clamp(from, length), clamp(to, length), length),
      severity,
      message,
      source: code,
      renderMessage: () => explain(message, help),
      actions: actionsOf(fixes && JSON.parse(fixes), file),
    }));
    shown.sort((a, b) => a.from - b.from || a.to - b.to);
    this.#view.dispatch(setDiagnostics(this.#view.state, shown));
  }

  /**
   * Lights the lines of these ranges, in place of those before. Ranges of one `group` (0, 1, ...) get one colour.
   *
   * @param {{from: number, to: number, group: number}[]} ranges
   */
  setLinkedRanges(ranges) {
    const length = this.#view.state.doc.length;
    const clamped = Array.from(ranges, ({ from, to, group }) => ({
      from: clamp(from, length),
      to: Math.max(clamp(from, length), clamp(to, length)),
      group,
    }));
    this.#view.dispatch({ effects: setLinkedRangesEffect.of(clamped) });
  }

  /**
   * Shows what the compiler did with lines, in place of what was shown before.
   *
   * @param {{from: number, items: {at: number, sign: string, shown: "applied"|"missed"|"removed", pass: string,
   *   text: string, traffic?: string}[]}[]} remarks the weightiest item of a line first
   */
  setRemarks(remarks) {
    const length = this.#view.state.doc.length;
    const clamped = Array.from(remarks, ({ from, items }) => ({ from: clamp(from, length), items }));
    // What is open stays open where nothing is new.
    if (isShown(this.#view.state, clamped)) return;
    this.#view.dispatch({ effects: setRemarksEffect.of(clamped) });
  }

  /** Whether the remarks that are shown are of a text from before an edit with errors. */
  setRemarksStale(areStale) {
    this.#view.dom.classList.toggle("cm-remarks-stale", areStale);
  }

  /** Opens what the compiler did with the caret's line, and gives it the keyboard; tells whether there is anything. */
  openRemarks() {
    return openRemarks(this.#view);
  }

  /** Opens the menu of the fixes of the caret's line, and gives it the keyboard. */
  offerFixes() {
    offerFixes(this.#view);
  }

  /** Carries out the edits of a fix, of which those of the file `own` are the editor's; `edits` is JSON. */
  applyEdits(own, edits) {
    applyEdits(this.#view, own, JSON.parse(edits));
    this.#view.focus();
  }

  /** Whether long lines are broken. */
  setWrapping(wraps) {
    this.#isWrapping = wraps;
    this.#view.dispatch({ effects: this.#wrapping.reconfigure(wraps ? wrapping : []) });
  }

  /** @param {"light"|"dark"} name tells CodeMirror which; the colours come from the page's custom properties */
  setTheme(name) {
    this.#theme = name;
    this.#view.dispatch({ effects: this.#appearance.reconfigure(appearance(name)) });
  }

  focus() {
    this.#view.focus();
  }

  /** Types `text` in place of what is selected, as the user would. */
  insert(text) {
    this.#view.dispatch(this.#view.state.replaceSelection(text), { scrollIntoView: true, userEvent: "input.type" });
  }

  /** Puts the caret at `offset` and brings it into view. */
  revealOffset(offset) {
    const anchor = clamp(offset, this.#view.state.doc.length);
    this.#view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: "center" }) });
  }

  /** Brings `offset` into view; the caret stays. */
  scrollToOffset(offset) {
    const at = clamp(offset, this.#view.state.doc.length);
    this.#view.dispatch({ effects: EditorView.scrollIntoView(at, { y: "center" }) });
  }

  /** For tests: where the sign at `offset` stands on the screen; null where it is not drawn. */
  placeOf(offset) {
    const at = this.#view.coordsAtPos(clamp(offset, this.#view.state.doc.length), 1);
    return at && { x: at.left + 2, y: (at.top + at.bottom) / 2 };
  }

  destroy() {
    this.#view.destroy();
  }
}

function asked(ask) {
  return async (query) => JSON.parse((await ask(JSON.stringify(query))) ?? "null");
}

function told(tell) {
  return (what) => tell?.(JSON.stringify(what));
}

function clamp(offset, length) {
  return Math.min(Math.max(0, offset | 0), length);
}

/** An empty range is widened to one character where there is one: a mark of no width is not seen. */
function atLeastOne(from, to, length) {
  if (to > from) return { from, to };
  if (from < length) return { from, to: from + 1 };
  return { from: Math.max(0, from - 1), to: from };
}

function explain(message, help) {
  const node = document.createElement("div");
  node.append(prose(message));
  if (help) {
    const advice = document.createElement("div");
    advice.className = "cm-diagnostic-help";
    advice.append(`${text("code-help")} `, prose(help));
    node.append(advice);
  }
  return node;
}

export {
  askToKeep,
  claimText,
  forgetAll,
  forgetText,
  keepAside,
  keepText,
  laterText,
  listStates,
  listTexts,
  loadState,
  loadText,
  newTextId,
  outlived,
  timeInWords,
} from "./workspaces.js";
