// What the editor knows about the language: colours, completion, hover, definitions, references, renaming, signatures,
// folding, layout. The compiler tells all of it; here it is asked and shown.
//
// The compiler counts lines and columns from 1, columns in characters; CodeMirror counts UTF-16 units from the start.

import {
  acceptCompletion,
  autocompletion,
  completionStatus,
  moveCompletionSelection,
  selectedCompletionIndex,
} from "@codemirror/autocomplete";
import { codeFolding, foldGutter, foldKeymap, foldService } from "@codemirror/language";
import { RangeSetBuilder, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, ViewPlugin, hoverTooltip, keymap, showPanel, showTooltip } from "@codemirror/view";
import { fixes, fixesAt, offerFixes } from "./fixes.js";
import { text } from "./locale.js";
import { prose } from "./prose.js";

/** Milliseconds of rest after a key before colours and folds are asked for. */
const REST_MS = 120;

/** The position of an offset, as the compiler counts. */
export function position(doc, offset) {
  const line = doc.lineAt(Math.min(Math.max(0, offset), doc.length));
  return { line: line.number, col: [...line.text.slice(0, offset - line.from)].length + 1 };
}

/** The offset of a position; past the end of a line it is the line's end, past the last line the text's. */
export function offsetOf(doc, { line, col }) {
  if (line > doc.lines) return doc.length;
  const { from, text } = doc.line(Math.max(1, line));
  let at = 0;
  for (let left = col - 1; left > 0 && at < text.length; left--) at += text.codePointAt(at) > 0xffff ? 2 : 1;
  return from + at;
}

/**
 * The extensions of the service.
 *
 * @param {(query: object) => Promise<{file: string, told: object|string}|null>} ask
 * @param {(place: object) => void} onElsewhere opens a place of another file
 * @param {(edits: object[]) => void} onEdits takes the edits of other files
 */
export function service(ask, onElsewhere, onEdits) {
  /** Asks, and gives the answer of one kind; null where there is another, or the text has changed meanwhile. */
  const tell = async (view, query, kind) => {
    const { doc } = view.state;
    const answer = await ask(query).catch(() => null);
    if (!answer || !view.state.doc.eq(doc)) return null;
    const told = answer.told[kind];
    return told === undefined ? null : { ...told, own: answer.file, all: answer.told };
  };
  const at = (view, offset = view.state.selection.main.head) => position(view.state.doc, offset);

  const goTo = (view, own, place) => {
    if (place.file !== own) return onElsewhere(place);
    const anchor = offsetOf(view.state.doc, place.start);
    view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: "center" }) });
    view.focus();
  };
  const apply = (view, own, edits) => {
    applyEdits(view, own, edits);
    const others = edits.filter((it) => it.file !== own);
    if (others.length) onEdits(others);
  };
  const refuse = async (view, query) => {
    const refused = await tell(view, query, "refused");
    if (refused) view.dispatch({ effects: setPanel.of(notice(refused.why)) });
  };

  const definition = (view, offset) => {
    tell(view, { definition: { at: at(view, offset) } }, "places").then((told) => {
      if (told?.places.length) goTo(view, told.own, told.places[0].place);
    });
    return true;
  };
  const references = (view) => {
    tell(view, { references: { at: at(view) } }, "places").then((told) => {
      if (!told) return;
      const rows = told.places.map(({ place, line }) => ({
        label: `${place.file}:${place.start.line}`,
        detail: line,
        run: () => goTo(view, told.own, place),
      }));
      view.dispatch({ effects: setPanel.of(list(text("code-places", ["n", rows.length]), rows)) });
    });
    return true;
  };
  const rename = (view) => {
    const query = { at: at(view) };
    tell(view, { name: query }, "name").then((told) => {
      if (!told) return refuse(view, { name: query });
      const submit = (name) =>
        tell(view, { rename: { ...query, name } }, "edits").then((found) => {
          if (!found) return refuse(view, { rename: { ...query, name } });
          view.dispatch({ effects: setPanel.of(null) });
          apply(view, found.own, found.edits);
          view.focus();
        });
      view.dispatch({ effects: setPanel.of(question(text("code-rename", ["name", told.name]), told.name, submit)) });
    });
    return true;
  };
  const format = (view) => {
    tell(view, "format", "edits").then((told) => {
      if (told) apply(view, told.own, told.edits);
    });
    return true;
  };

  return [
    colours(tell),
    folds,
    codeFolding(),
    foldGutter({ openText: "⌄", closedText: "›" }),
    foldService.of((state, from, to) => {
      const found = state.field(folds).find((it) => it.from >= from && it.from <= to);
      return found && found.to > found.from ? found : null;
    }),
    // Nothing is chosen until somebody chooses: Enter ends a line, whatever is offered meanwhile.
    autocompletion({ override: [completion(tell)], icons: false, selectOnOpen: false, interactionDelay: 0 }),
    hoverTooltip((view, offset) => hover(view, offset, tell), { hoverTime: 250 }),
    signature,
    fixes,
    signatureWatch(tell),
    panel,
    EditorView.domEventHandlers({
      mousedown: (event, view) => {
        const offset = view.posAtCoords({ x: event.clientX, y: event.clientY });
        if (event.button !== 0 || !(event.ctrlKey || event.metaKey) || offset === null) return false;
        event.preventDefault();
        return definition(view, offset);
      },
    }),
    keymap.of([
      { key: "F12", run: definition },
      { key: "Shift-F12", run: references },
      { key: "F2", run: rename },
      { key: "Shift-Alt-f", run: format },
      { key: "Mod-.", run: (view) => quickFix(view) },
      { key: "Mod-Shift-Space", run: (view) => (askSignature(view, tell), true) },
      { key: "Escape", run: closeAll },
      { key: "Tab", run: acceptFirst },
      ...foldKeymap,
    ]),
  ];
}

// Colours and folds follow the text after a moment of rest; until then they move with it.

const setColours = StateEffect.define();
const colourField = StateField.define({
  create: () => Decoration.none,
  update(marks, transaction) {
    let next = marks.map(transaction.changes);
    for (const effect of transaction.effects) if (effect.is(setColours)) next = effect.value;
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});

const setFolds = StateEffect.define();
const folds = StateField.define({
  create: () => [],
  update(all, transaction) {
    for (const effect of transaction.effects) if (effect.is(setFolds)) return effect.value;
    if (!transaction.docChanged) return all;
    const moved = (at) => transaction.changes.mapPos(at);
    return all.map(({ from, to }) => ({ from: moved(from), to: moved(to) }));
  },
});

function colours(tell) {
  const follower = ViewPlugin.fromClass(
    class {
      constructor(view) {
        this.view = view;
        this.later(0);
      }
      update(update) {
        if (update.docChanged) this.later(REST_MS);
      }
      later(rest) {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.follow(), rest);
      }
      async follow() {
        const { view } = this;
        const tokens = await tell(view, "tokens", "tokens");
        if (tokens) {
          const { doc } = view.state;
          const builder = new RangeSetBuilder();
          for (const [start, end, of, how] of tokens.tokens) {
            const [from, to] = [offsetOf(doc, start), offsetOf(doc, end)];
            if (from < to) builder.add(from, to, mark(tokens.classes[of], how));
          }
          view.dispatch({ effects: setColours.of(builder.finish()) });
        }
        const found = await tell(view, "folds", "folds");
        if (found) {
          const { doc } = view.state;
          const ranges = found.folds.map(([start, end]) => ({ from: offsetOf(doc, start), to: offsetOf(doc, end) }));
          view.dispatch({ effects: setFolds.of(ranges) });
        }
      }
      destroy() {
        clearTimeout(this.timer);
      }
    },
  );
  return [colourField, follower];
}

const marks = new Map();
function mark(name, how) {
  const spelled = `cm-word cm-word-${name}${how & 1 ? " cm-word-declared" : ""}${how & 2 ? " cm-word-written" : ""}`;
  if (!marks.has(spelled)) marks.set(spelled, Decoration.mark({ class: spelled }));
  return marks.get(spelled);
}

// Completion.

const after = /[\w.]$|[[(,@]\s*$|^\s*$|\bimport\s+$|\bwith\s+$/;

function completion(tell) {
  return async (context) => {
    const { state, pos, view } = context;
    const line = state.doc.lineAt(pos);
    const before = line.text.slice(0, pos - line.from);
    if (!view || (!context.explicit && (!after.test(before) || before.trim() === ""))) return null;
    const told = await tell(view, { complete: { at: position(state.doc, pos) } }, "complete");
    // An answer about an older text: an empty result, which no text keeps, is asked for again. `null` would end the wait.
    if (!view.state.doc.eq(state.doc)) return { from: pos, options: [] };
    if (!told?.items.length) return null;
    const { length } = told.items;
    return {
      from: offsetOf(state.doc, told.place.start),
      // The compiler's order, with what is typed before it.
      options: told.items.map((item, rank) => ({
        label: item.label,
        type: item.kind,
        detail: item.detail,
        apply: item.insert,
        boost: 99 - (198 * rank) / length,
        info: item.about ? () => paragraphs(item.about) : undefined,
      })),
      validFor: /^\w*$/,
    };
  };
}

/** Takes what is chosen, else the best. */
function acceptFirst(view) {
  if (completionStatus(view.state) !== "active") return false;
  if (selectedCompletionIndex(view.state) === null) moveCompletionSelection(true)(view);
  return acceptCompletion(view);
}

// Hover.

async function hover(view, offset, tell) {
  const told = await tell(view, { hover: { at: position(view.state.doc, offset) } }, "hover");
  if (!told) return null;
  const { doc } = view.state;
  return {
    pos: offsetOf(doc, told.place.start),
    end: offsetOf(doc, told.place.end),
    above: true,
    create: () => {
      const dom = element("div", "cm-hover");
      dom.dataset.testid = "hover";
      dom.append(element("code", "cm-hover-code", told.code));
      if (told.rows.length) {
        const rows = element("dl", "cm-hover-rows");
        for (const [label, text] of told.rows) rows.append(element("dt", "", label), element("dd", "", text));
        dom.append(rows);
      }
      if (told.about) dom.append(paragraphs(told.about));
      return { dom };
    },
  };
}

// The signature of the call that is being written.

const setSignature = StateEffect.define();
const signature = StateField.define({
  create: () => null,
  update(shown, transaction) {
    for (const effect of transaction.effects) if (effect.is(setSignature)) return effect.value;
    return shown && transaction.docChanged ? { ...shown, pos: transaction.changes.mapPos(shown.pos) } : shown;
  },
  provide: (field) => showTooltip.from(field),
});

function signatureWatch(tell) {
  return EditorView.updateListener.of((update) => {
    const isShown = update.state.field(signature) !== null;
    const hasMoved = update.docChanged || update.selectionSet;
    if (!hasMoved) return;
    let isOpened = false;
    if (update.transactions.some((it) => it.isUserEvent("input.type"))) {
      const { head } = update.state.selection.main;
      isOpened = /[(,]/.test(update.state.sliceDoc(Math.max(0, head - 1), head));
    }
    // Not during an update: the answer comes later anyway.
    if (isShown || isOpened) askSignature(update.view, tell);
  });
}

async function askSignature(view, tell) {
  const { head } = view.state.selection.main;
  const told = await tell(view, { signature: { at: position(view.state.doc, head) } }, "signature");
  if (view.state.selection.main.head !== head) return;
  if (!told) {
    if (view.state.field(signature)) view.dispatch({ effects: setSignature.of(null) });
    return;
  }
  const create = () => {
    const dom = element("div", "cm-signature");
    dom.dataset.testid = "signature";
    const label = [...told.label];
    const [start, end, about] = told.params[told.active] ?? [0, 0, ""];
    const code = element("code", "", label.slice(0, start).join(""));
    code.append(element("b", "", label.slice(start, end).join("")), label.slice(end).join(""));
    dom.append(code);
    if (about || told.about) dom.append(paragraphs(about || told.about));
    return { dom };
  };
  view.dispatch({ effects: setSignature.of({ pos: head, above: true, create }) });
}

// The panel below the text: a list of places, a question, a sentence.

const setPanel = StateEffect.define();
const panel = StateField.define({
  create: () => null,
  update(shown, transaction) {
    for (const effect of transaction.effects) if (effect.is(setPanel)) return effect.value;
    return shown;
  },
  provide: (field) => showPanel.from(field),
});

function closeAll(view) {
  const isOpen = view.state.field(panel) !== null || view.state.field(signature) !== null;
  if (isOpen) view.dispatch({ effects: [setPanel.of(null), setSignature.of(null)] });
  return isOpen;
}

function inPanel(view, ...parts) {
  const dom = element("div", "cm-service");
  dom.dataset.testid = "service-panel";
  const close = element("button", "cm-button", text("code-close"));
  close.type = "button";
  const leave = () => {
    view.dispatch({ effects: setPanel.of(null) });
    view.focus();
  };
  close.addEventListener("click", leave);
  dom.addEventListener("keydown", (event) => event.key === "Escape" && leave());
  dom.append(...parts, close);
  return dom;
}

function notice(text) {
  return (view) => {
    const message = element("span", "cm-service-text", text);
    message.setAttribute("role", "status");
    return { dom: inPanel(view, message) };
  };
}

function list(title, rows) {
  return (view) => {
    const all = element("ul", "cm-service-list");
    for (const { label, detail, run } of rows) {
      const button = element("button", "cm-service-row");
      button.type = "button";
      button.append(element("span", "cm-service-place", label), element("code", "", detail));
      button.addEventListener("click", run);
      const item = element("li", "");
      item.append(button);
      all.append(item);
    }
    return {
      dom: inPanel(view, element("span", "cm-service-text", title), all),
      mount: () => all.querySelector("button")?.focus(),
    };
  };
}

function question(label, value, submit) {
  return (view) => {
    const form = element("form", "cm-service-form");
    const input = element("input", "cm-textfield");
    input.value = value;
    input.setAttribute("aria-label", label);
    form.append(element("label", "cm-service-text", label), input);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      submit(input.value);
    });
    return { dom: inPanel(view, form), mount: () => input.select() };
  };
}

// The fixes of the diagnostics at the caret.

function quickFix(view) {
  const found = fixesAt(view.state);
  if (found.length === 1) found[0].apply(view, found[0].from, found[0].to);
  else offerFixes(view);
  return true;
}

/** The actions of a diagnostic: each of its fixes, as the compiler tells them. */
export function actionsOf(fixes, own) {
  return (fixes ?? []).map(({ title, edits }) => ({
    name: title,
    apply: (view) => applyEdits(view, own, edits),
  }));
}

/** Carries out the edits of the file that the editor shows, as one step that can be undone. */
export function applyEdits(view, own, edits) {
  const { doc } = view.state;
  const changes = edits
    .filter((it) => it.file === own)
    .map((it) => ({ from: offsetOf(doc, it.start), to: offsetOf(doc, it.end), insert: it.text }));
  if (changes.length) view.dispatch({ changes, userEvent: "input.service" });
}

function paragraphs(text) {
  const node = element("div", "cm-about");
  node.append(prose(text));
  return node;
}

function element(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}
