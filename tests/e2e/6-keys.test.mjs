// The keyboard, the help, and the page on a phone.

import assert from "node:assert/strict";
import { caretIsInText, countQuestions, scenario, workersRest } from "./harness.mjs";

const focusIsIn = (t, selector) =>
  t.page.waitForFunction((it) => document.activeElement?.closest(it) !== null, selector);

scenario("the help opens with a key, and single letters act outside of text only", async (t) => {
  await t.pick("copy_scale");
  await t.toEnd();
  const before = await t.text();
  await t.page.keyboard.type("  # n?");
  assert.equal(await t.text(), before.replace(/(\n*)$/, "  # n?$1"), "a letter that is typed does something else");
  assert.equal(await t.get("help-dialog").isVisible(), false);
  await t.settled();

  await t.get("stage-tab-oir").click();
  await t.page.keyboard.press("s");
  await t.see("stage-tab-npir", { "aria-selected": "true" });
  await t.page.keyboard.press("S");
  await t.see("stage-tab-oir", { "aria-selected": "true" });

  await t.page.keyboard.press("?");
  await t.get("help-dialog").waitFor();
  assert.match(await t.get("help-dialog").textContent(), /# @domain/);
  await t.shot("help");
  const address = await t.get("licences").evaluate((it) => it.href);
  const licences = await (await t.page.request.get(address)).text();
  assert.match(licences, /^leptos \S+ +MIT$/m);
  assert.match(licences, /^@codemirror\/view \S+ +MIT$/m);
  await t.get("letters").uncheck();
  await t.page.keyboard.press("Escape");
  await t.get("help-dialog").waitFor({ state: "hidden" });
  await t.page.keyboard.press("s");
  assert.equal(await t.get("stage-tab-oir").getAttribute("aria-selected"), "true", "single letters are turned off");
  await t.more("help");
  await t.get("help-dialog").waitFor();
  await t.get("help-close").click();
  await t.get("help-dialog").waitFor({ state: "hidden" });
});

scenario("the first keys of a visit lead to text, stages and result", async (t) => {
  for (const [presses, id, pane] of [
    [1, "skip-editor", ".column-code"],
    [2, "skip-stages", ".column-stages"],
    [3, "skip-result", ".column-result"],
  ]) {
    await t.page.evaluate(() => document.activeElement.blur());
    for (let n = 0; n < presses; n++) await t.page.keyboard.press("Tab");
    await focusIsIn(t, `[data-testid="${id}"]`);
    // What has the keyboard is seen.
    const top = await t.get(id).evaluate((it) => it.getBoundingClientRect().top);
    assert.ok(top >= 0, `${id} is at ${top}`);
    await t.page.keyboard.press("Enter");
    await focusIsIn(t, pane);
    await t.page.reload();
    await t.see("app", { "data-ready": "true" });
  }
});

scenario("time goes on by a key, and back", { page: "none" }, async (t) => {
  await t.open(t.runner.url, countQuestions);
  await t.pick("shallow_water");
  await t.see("clock", { "data-step": "1" });
  await t.get("stage-tab-oir").click();
  await workersRest(t.page);
  await t.page.keyboard.press(".");
  await t.see("clock", { "data-step": "2" });
  await workersRest(t.page);
  await t.page.keyboard.press(".");
  await t.see("clock", { "data-step": "3" });
  await workersRest(t.page);
  await t.page.keyboard.press(",");
  await t.see("clock", { "data-step": "1" });
});

scenario("everything that a run needs is on the keyboard", async (t) => {
  await t.pick("copy_scale");
  await t.size(16, 16, 8);
  await t.toEnd();
  await t.page.keyboard.press("Control+Alt+Enter");
  await t.see("run-result", { "data-state": "done", "data-backend": "rayon" });
  await t.page.keyboard.press("Control+Shift+Enter");
  await t.see("compare-result");
  await t.ran("done");

  await t.page.keyboard.press("F6");
  await focusIsIn(t, ".column-stages");
  await t.page.keyboard.press("F6");
  await focusIsIn(t, ".column-result");
  const level = await t.get("field-canvas").getAttribute("data-k");
  await t.page.keyboard.press("[");
  await t.page.waitForFunction((old) => {
    return document.querySelector('[data-testid="field-canvas"]').dataset.k !== old;
  }, level);
  await t.page.keyboard.press("Shift+F6");
  await focusIsIn(t, ".column-stages");
  await t.page.keyboard.press("e");
  await focusIsIn(t, ".column-code");
  // What is not there yet cannot come back from the dialog.
  await caretIsInText(t.page);

  await t.page.keyboard.press("Control+Alt+s");
  await t.get("share-link").waitFor();
  await t.page.keyboard.press("Escape");
  // The browser closes a dialog a moment later; then the keyboard and the caret are where they were.
  await t.get("share-link").waitFor({ state: "hidden" });
  await caretIsInText(t.page);
  await t.page.keyboard.type(" + nowhere");
  await t.see("problem", { "data-severity": "error" });
  await t.page.keyboard.press("Control+Home");
  await t.page.keyboard.press("F8");
  await t.page.waitForFunction(() => !/^Ln 1 /.test(document.querySelector(".caret-place").textContent));
});

scenario("a text that lost the keyboard for less than a moment takes what is typed", async (t) => {
  await t.pick("copy_scale");
  await t.toEnd();
  await t.page.evaluate(() => {
    // A dialog that is closed at once: the editor asks later, and finds that it has the keyboard.
    const dialog = document.createElement("dialog");
    dialog.append(document.createElement("input"));
    document.body.append(dialog);
    dialog.showModal();
    dialog.firstChild.select();
    dialog.close();
    dialog.remove();
  });
  await caretIsInText(t.page);
  await t.page.keyboard.type(" + nowhere");
  await t.see("problem", { "data-severity": "error" });
});

scenario("on a Mac, the page names the keys of a Mac", { page: "none" }, async (t) => {
  t.page = await t.open(t.runner.url, () => {
    Object.defineProperty(Navigator.prototype, "platform", { get: () => "MacIntel" });
  });
  assert.match(await t.get("run").getAttribute("title"), /⌘/);
  await t.more("help");
  const text = await t.get("help-dialog").textContent();
  assert.match(text, /⌘F/);
  assert.doesNotMatch(text, /Ctrl/);
});

scenario("the menu of a narrow page gives the focus back", async (t) => {
  await t.page.setViewportSize({ width: 800, height: 700 });
  await t.pick("copy_scale");
  const toggle = t.get("more");
  await toggle.press("Enter");
  await t.page.keyboard.press("Tab");
  await focusIsIn(t, '[data-testid="check"]');
  await t.page.keyboard.press("Escape");
  await t.see("more", { "aria-expanded": "false" });
  await focusIsIn(t, '[data-testid="more"]');

  await toggle.press("Enter");
  await t.get("help").press("Enter");
  await t.get("help-close").waitFor();
  await t.page.keyboard.press("Escape");
  await t.get("help-close").waitFor({ state: "hidden" });
  await focusIsIn(t, '[data-testid="more"]');

  await toggle.press("Enter");
  await t.see("more", { "aria-expanded": "true" });
  // Past all that the menu has, and one further.
  for (let step = 0; step < 10; step++) await t.page.keyboard.press("Tab");
  await t.see("more", { "aria-expanded": "false" });
});

scenario("a phone has everything, one view at a time", async (t) => {
  await t.page.setViewportSize({ width: 360, height: 640 });
  await t.pick("copy_scale");
  await t.shot("code");
  await t.unfolded("more");
  await t.get("theme-select").selectOption("dark");
  assert.equal(await t.page.evaluate(() => document.documentElement.dataset.theme), "dark");
  await t.shot("menu");
  await t.more("help");
  await t.get("help-dialog").waitFor();
  await t.shot("help");
  await t.get("help-close").click();
  const overflow = await t.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(overflow <= 0, `the page is ${overflow} pixels wider than the phone`);
  await t.runHere();
  await t.ran("done", "numpy");
  await t.page.getByRole("tab", { name: "Result" }).click();
  await t.get("field-canvas").waitFor();
  await t.shot("result");
  await t.page.getByRole("tab", { name: "Stages" }).click();
  await t.shot("stages");
});
