// The remedies of the compiler: those of the caret's line, as a menu at the caret.

import { forEachDiagnostic } from "@codemirror/lint";
import { StateEffect, StateField } from "@codemirror/state";
import { showTooltip } from "@codemirror/view";
import { text } from "./locale.js";
import { prose } from "./prose.js";

const setMenu = StateEffect.define();
const menu = StateField.define({
  create: () => null,
  update(shown, transaction) {
    for (const effect of transaction.effects) if (effect.is(setMenu)) return effect.value;
    return transaction.docChanged || transaction.selection ? null : shown;
  },
  provide: (field) => showTooltip.from(field),
});

/** The extension. */
export const fixes = menu;

/** The fixes of the diagnostics that touch the caret's line, each once. */
export function fixesAt(state) {
  const line = state.doc.lineAt(state.selection.main.head);
  const found = [];
  forEachDiagnostic(state, (diagnostic, from, to) => {
    if (from > line.to || to < line.from) return;
    for (const action of diagnostic.actions ?? []) found.push({ ...action, from, to, message: diagnostic.message });
  });
  return found;
}

/** Opens the menu and gives it the keyboard; Escape, and a click elsewhere, close it. */
export function offerFixes(view) {
  const found = fixesAt(view.state);
  const close = () => {
    if (view.state.field(menu)) view.dispatch({ effects: setMenu.of(null) });
  };
  const create = () => {
    const dom = document.createElement("div");
    dom.className = "cm-fixes";
    dom.dataset.testid = "fixes";
    if (found.length === 0) {
      dom.setAttribute("role", "status");
      dom.textContent = text("code-fixes-none");
    } else {
      dom.setAttribute("role", "menu");
      dom.setAttribute("aria-label", text("code-fixes"));
    }
    for (const it of found) {
      const item = document.createElement("button");
      item.type = "button";
      item.className = "cm-service-row";
      item.dataset.testid = "fix";
      item.setAttribute("role", "menuitem");
      item.tabIndex = -1;
      item.append(prose(it.name));
      item.addEventListener("click", () => {
        close();
        it.apply(view, it.from, it.to);
        view.focus();
      });
      dom.append(item);
    }
    dom.addEventListener("keydown", (event) => {
      const items = [...dom.querySelectorAll("button")];
      const at = items.indexOf(dom.getRootNode().activeElement);
      const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
      if (event.key === "Escape" || event.key === "Tab") {
        close();
        view.focus();
      } else if (next !== undefined) items[(next + items.length) % items.length]?.focus();
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    const outside = (event) => event.composedPath().includes(dom) || close();
    return {
      dom,
      mount: () => {
        document.addEventListener("pointerdown", outside, true);
        dom.querySelector("button")?.focus();
      },
      destroy: () => document.removeEventListener("pointerdown", outside, true),
    };
  };
  view.focus();
  view.dispatch({ effects: setMenu.of({ pos: view.state.selection.main.head, above: false, create }) });
}
