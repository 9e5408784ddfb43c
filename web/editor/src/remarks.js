// What the compiler did with a line: a sign in the gutter, a short note behind the line of the caret, and the whole in a
// list that either of them opens.

import { RangeSet, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, GutterMarker, ViewPlugin, WidgetType, gutter, keymap, showTooltip } from "@codemirror/view";
import { text } from "./locale.js";
import { plain, prose } from "./prose.js";

/** Carries `{from, items: {at, sign, shown, pass, text, traffic}[]}[]`, sorted by `from`, all within the document. */
export const setRemarksEffect = StateEffect.define();
const setOpen = StateEffect.define();

class Marker extends GutterMarker {
  constructor(items) {
    super();
    this.items = items;
    // Lines about which only what was not done is told are marked more quietly.
    this.shown = items[0].shown;
  }
  eq(other) {
    return this.items === other.items;
  }
  toDOM() {
    const dom = element("span", `cm-remark-mark cm-remark-${this.shown}`, this.items[0].sign);
    // The one that keeps the gutter's width says nothing.
    if (this.items[0].pass) {
      dom.dataset.testid = "remark-mark";
      dom.title = title(this.items);
    }
    return dom;
  }
}

/**
 * The markers after a change. They move with the text; of lines that were replaced, as by pasting a file over itself,
 * those that come again keep theirs, and the others lose them until the next answer.
 */
function moved(marks, { startState, state, changes }) {
  const replaced = [];
  changes.iterChangedRanges((fromA, toA, fromB, toB) => replaced.push({ fromA, toA, fromB, toB }));
  const placesIn = new Map();
  const kept = new Map();
  for (const it = marks.iter(); it.value; it.next()) {
    const old = startState.doc.lineAt(it.from);
    const change = replaced.find(({ fromA, toA }) => fromA <= old.from && toA >= old.to && old.length > 0);
    if (!change) {
      kept.set(state.doc.lineAt(changes.mapPos(it.from, -1)).from, it.value);
      continue;
    }
    if (!placesIn.has(change)) placesIn.set(change, { next: 0, lines: linesOf(state.doc, change) });
    const places = placesIn.get(change);
    const text = old.text.trim();
    const at = places.lines.findIndex((line, at) => at >= places.next && line.text === text);
    if (at < 0) continue;
    places.next = at + 1;
    kept.set(places.lines[at].from, it.value);
  }
  return RangeSet.of([...kept].sort((a, b) => a[0] - b[0]).map(([from, marker]) => marker.range(from)));
}

function linesOf(doc, { fromB, toB }) {
  const found = [];
  const last = doc.lineAt(toB).number;
  for (let number = doc.lineAt(fromB).number; number <= last; number++) {
    const { from, text } = doc.line(number);
    found.push({ from, text: text.trim() });
  }
  return found;
}

/** Whether these remarks are what is shown. */
export function isShown(state, remarks) {
  const { doc } = state;
  const wanted = new Map(remarks.map(({ from, items }) => [doc.lineAt(from).from, JSON.stringify(items)]));
  let isSame = true;
  let n = 0;
  for (const it = state.field(lines).iter(); it.value; it.next()) {
    n += 1;
    isSame &&= wanted.get(it.from) === JSON.stringify(it.value.items);
  }
  return isSame && n === wanted.size;
}

/** The lines with remarks: their markers, which move with the text. */
const lines = StateField.define({
  create: () => RangeSet.empty,
  update(marks, transaction) {
    let next = transaction.docChanged ? moved(marks, transaction) : marks;
    for (const effect of transaction.effects) {
      if (effect.is(setRemarksEffect)) {
        const { doc } = transaction.state;
        const byLine = new Map();
        for (const { from, items } of effect.value) byLine.set(doc.lineAt(from).from, new Marker(items));
        next = RangeSet.of([...byLine].sort((a, b) => a[0] - b[0]).map(([from, marker]) => marker.range(from)));
      }
    }
    return next;
  },
});

function itemsAt(state, offset) {
  const line = state.doc.lineAt(offset);
  let found = null;
  state.field(lines).between(line.from, line.to, (_from, _to, marker) => {
    found ??= marker.items;
  });
  return found;
}

function title(items) {
  const [first] = items;
  const said = `${first.pass}: ${plain(first.text)}${first.traffic ? `, ${first.traffic}` : ""}`;
  return items.length > 1 ? text("code-remarks-more", ["said", said, "more", items.length - 1]) : said;
}

/** Behind the line of the caret. */
class Note extends WidgetType {
  constructor(items) {
    super();
    this.items = items;
  }
  eq(other) {
    return this.items === other.items;
  }
  toDOM(view) {
    const [first] = this.items;
    const more = this.items.length > 1 ? ` +${this.items.length - 1}` : "";
    const said = first.traffic ?? first.pass.split("/").at(-1);
    const dom = element("button", "cm-remark-note", `${first.sign} ${said}${more}`);
    dom.type = "button";
    dom.tabIndex = -1;
    dom.dataset.testid = "remark-note";
    dom.title = title(this.items);
    dom.addEventListener("mousedown", (event) => event.preventDefault());
    dom.addEventListener("click", () => open(view, view.posAtDOM(dom)));
    return dom;
  }
  ignoreEvent() {
    return true;
  }
}

const note = ViewPlugin.fromClass(
  class {
    constructor(view) {
      this.decorations = this.draw(view);
    }
    update(update) {
      const isOther = update.startState.field(lines) !== update.state.field(lines);
      if (isOther || update.docChanged || update.selectionSet) this.decorations = this.draw(update.view);
    }
    draw({ state }) {
      const { head } = state.selection.main;
      const items = itemsAt(state, head);
      // What was not done alone is not worth a note beside every other line.
      if (!items || items[0].shown === "missed") return Decoration.none;
      return Decoration.set(Decoration.widget({ widget: new Note(items), side: 1 }).range(state.doc.lineAt(head).to));
    }
  },
  { decorations: (it) => it.decorations },
);

function list(items, view, onPick) {
  const dom = element("div", "cm-remarks-list");
  dom.dataset.testid = "remark-list";
  dom.setAttribute("role", "dialog");
  dom.setAttribute("aria-label", text("code-remarks"));
  const all = element("ul", "");
  for (const item of items) {
    const button = element("button", "cm-remark");
    button.type = "button";
    button.dataset.testid = "remark";
    button.dataset.shown = item.shown;
    button.tabIndex = all.childElementCount === 0 ? 0 : -1;
    const said = element("span", "cm-remark-text");
    said.append(prose(item.text));
    if (item.traffic) said.append(" ", element("b", "cm-remark-traffic", item.traffic));
    const name = element("code", "cm-remark-pass", item.pass);
    button.append(element("span", `cm-remark-sign cm-remark-${item.shown}`, item.sign), said, name);
    button.addEventListener("click", () => {
      close(view);
      onPick(item.at);
    });
    const row = element("li", "");
    row.append(button);
    all.append(row);
  }
  dom.append(all);
  dom.addEventListener("keydown", (event) => {
    const buttons = [...dom.querySelectorAll("button")];
    const at = buttons.indexOf(dom.getRootNode().activeElement);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (event.key === "Escape" || event.key === "Tab") {
      close(view);
      view.focus();
    } else if (next !== undefined) {
      // One of them is in the order of Tab: the one that had the keyboard last.
      for (const [of, button] of buttons.entries()) button.tabIndex = of === next ? 0 : -1;
      buttons[next]?.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return dom;
}

function open(view, offset) {
  const items = itemsAt(view.state, offset);
  if (!items) return false;
  const { from, to } = view.state.doc.lineAt(offset);
  view.dispatch({ effects: setOpen.of({ from, pos: seen(view, from, to), items }) });
  return true;
}

/** The first place of a line that can be seen: a tooltip of one that is scrolled out is not shown. */
function seen(view, from, to) {
  const { left } = view.scrollDOM.getBoundingClientRect();
  const gutters = view.scrollDOM.querySelector(".cm-gutters")?.offsetWidth ?? 0;
  const top = view.coordsAtPos(from, 1)?.top;
  if (top === undefined) return from;
  const at = view.posAtCoords({ x: left + gutters + 8, y: top + 4 }, false);
  return Math.min(Math.max(at, from), to);
}

/** Opens what is said about the caret's line; tells whether anything is. */
export function openRemarks(view) {
  return open(view, view.state.selection.main.head);
}

function close(view) {
  if (!view.state.field(opened, false)) return false;
  view.dispatch({ effects: setOpen.of(null) });
  return true;
}

const opened = StateField.define({
  create: () => null,
  update(shown, transaction) {
    for (const effect of transaction.effects) {
      if (effect.is(setOpen)) return effect.value;
      if (effect.is(setRemarksEffect) && !transaction.docChanged) return shown && renewed(shown, effect.value, transaction.state.doc);
    }
    return transaction.docChanged || transaction.selection ? null : shown;
  },
});

/** The list after an answer of the compiler: it stays open where its line has remarks, and as it is where these are the same. */
function renewed(shown, remarks, doc) {
  const found = remarks.findLast(({ from }) => doc.lineAt(from).from === shown.from);
  if (!found) return null;
  return JSON.stringify(found.items) === JSON.stringify(shown.items) ? shown : { ...shown, items: found.items };
}

/**
 * The extensions.
 *
 * @param {(at: number) => void} onPick hears which item was chosen, by its `at`
 */
export function remarks(onPick) {
  const tooltip = showTooltip.compute([opened], (state) => {
    const shown = state.field(opened);
    return (
      shown && {
        pos: shown.pos,
        above: false,
        create: (view) => {
          const dom = list(shown.items, view, onPick);
          // The signs open and close it themselves.
          const outside = (event) => {
            const isOwn = (it) => it === dom || it.classList?.contains("cm-remarks") || it.classList?.contains("cm-remark-note");
            if (!event.composedPath().some(isOwn)) close(view);
          };
          return {
            dom,
            mount: () => {
              document.addEventListener("pointerdown", outside, true);
              dom.querySelector("button")?.focus();
            },
            destroy: () => document.removeEventListener("pointerdown", outside, true),
          };
        },
      }
    );
  });
  return [
    lines,
    note,
    opened,
    tooltip,
    gutter({
      class: "cm-remarks",
      markers: (view) => view.state.field(lines),
      initialSpacer: () => new Marker([{ sign: "✓", shown: "applied", pass: "", text: "" }]),
      domEventHandlers: {
        mousedown: (view, line) => {
          const isOpen = view.state.field(opened)?.from === line.from;
          return isOpen ? close(view) : open(view, line.from);
        },
      },
    }),
    keymap.of([
      { key: "Alt-Enter", run: openRemarks },
      { key: "Escape", run: close },
    ]),
  ];
}

function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text) made.textContent = text;
  return made;
}
