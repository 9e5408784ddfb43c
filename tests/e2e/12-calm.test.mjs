// The text that is typed stays where it is; long texts are read, searched and looked at by keyboard.

import assert from "node:assert/strict";
import { focusText, pasteOver, scenario } from "./harness.mjs";

/** The lower edge of the editor, in pixels. */
const bottom = (t) => t.get("editor").evaluate((it) => Math.round(it.getBoundingClientRect().bottom));

/** Whether the caret's line stands between the edges of the editor. */
const caretIsSeen = (t) =>
  t.get("editor").evaluate((it) => {
    const line = it.shadowRoot.querySelector(".cm-activeLine").getBoundingClientRect();
    const { top, bottom } = it.getBoundingClientRect();
    return line.top >= top - 1 && line.bottom <= bottom + 1;
  });

const focusIsIn = (t, selector) =>
  t.page.waitForFunction((it) => {
    let active = document.activeElement;
    while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
    return active?.closest(it) !== null;
  }, selector);

/** A stencil of so many statements, each on a line of its own. */
export function long(n) {
  const head = [
    "from ndsl.dsl.gt4py import PARALLEL, computation, interval",
    "from ndsl.dsl.typing import Float, FloatField",
    "",
    "",
    "def long(q: FloatField, r: FloatField, alpha: Float):",
    "    with computation(PARALLEL), interval(...):",
    "        t = q",
  ];
  const body = Array.from({ length: n }, (_, at) => `        t = t * alpha + q[${at % 2}, 0, 0] - ${at}.0`);
  return [...head, ...body, "        r = t", ""].join("\n");
}

scenario("problems come and go, and the text that is typed stays where it is", async (t) => {
  await t.pick("horizontal_diffusion");
  await t.toEnd();
  const edge = await bottom(t);
  const edges = new Set();
  for (const key of "\n    r = q[1, 0") {
    await t.page.keyboard.type(key);
    edges.add(await bottom(t));
  }
  await t.see("problem", { "data-severity": "error" });
  edges.add(await bottom(t));
  assert.ok(await caretIsSeen(t));
  await t.shot("mistakes");
  // Many problems scroll inside of the drawer; inputs take their turn in it.
  await t.page.keyboard.type("\n    s = nowhere1\n    u = nowhere2\n    v = nowhere3\n");
  await t.see("problem", { "data-severity": "error" });
  edges.add(await bottom(t));
  await t.unfold();
  edges.add(await bottom(t));
  await t.get("drawer-problems").click();
  edges.add(await bottom(t));
  assert.deepEqual([...edges], [edge]);

  // Another height is the user's: by keyboard, kept, and put back; the caret's line stays in view.
  await t.toEnd();
  const handle = t.page.getByRole("separator", { name: "Height of the drawer" });
  const before = Number(await handle.getAttribute("aria-valuenow"));
  await handle.press("ArrowUp");
  await handle.press("ArrowUp");
  await handle.press("ArrowUp");
  assert.equal(Number(await handle.getAttribute("aria-valuenow")), before - 6);
  assert.ok((await bottom(t)) < edge);
  await t.page.waitForFunction(() => {
    const it = document.querySelector('[data-testid="editor"]');
    const line = it.shadowRoot.querySelector(".cm-activeLine").getBoundingClientRect();
    return line.bottom <= it.getBoundingClientRect().bottom + 1;
  });
  await t.page.reload();
  await t.see("app", { "data-ready": "true" });
  assert.equal(Number(await handle.getAttribute("aria-valuenow")), before - 6);
  await handle.dblclick();
  assert.equal(Number(await handle.getAttribute("aria-valuenow")), before);
});

scenario("a word that is half written is no mistake until the caret leaves it", { alone: true }, async (t) => {
  await t.pick("copy_scale");
  await t.toEnd();
  await t.page.keyboard.type(" + nowh");
  await t.see("stage-pane-oir", { "data-state": "stale" });
  const squiggles = () => t.get("editor").locator(".cm-lintRange-error").count();
  await t.page.evaluate(() => addEventListener("keydown", () => (window.pressedAt = performance.now()), true));
  let seen;
  for (let tries = 0; tries < 5; tries++) {
    await t.page.keyboard.press("Backspace");
    await t.page.keyboard.press("h");
    // The answer is there, and the moment of rest is over: that nothing has come, only time shows.
    await t.page.waitForTimeout(400);
    seen = await t.page.evaluate(() => ({
      ms: performance.now() - window.pressedAt,
      problems: document.querySelectorAll('[data-testid="problem"]').length,
      squiggles: document.querySelector('[data-testid="editor"]').shadowRoot.querySelectorAll(".cm-lintRange-error").length,
    }));
    // A caret that rests for a second is told: whoever looks later than that looks again.
    if (seen.ms < 950) break;
  }
  assert.ok(seen.ms < 950, `nobody looked in time: ${seen.ms} ms`);
  assert.equal(seen.squiggles, 0, "the word at the caret has a squiggle");
  assert.equal(seen.problems, 0);
  await t.page.keyboard.press("Home");
  await t.see("problem", { "data-severity": "error" });
  assert.equal(await squiggles(), 1);

  await t.page.keyboard.press("End");
  await t.page.keyboard.type("ere");
  const typed = Date.now();
  await t.page.locator('[data-testid="problem"]', { hasText: "nowhere" }).first().waitFor();
  assert.ok(Date.now() - typed > 700, "it came before the caret had rested");
});

scenario("a problem is reached, read, mended and handed on by keyboard", async (t) => {
  await t.page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await t.pick("copy_scale");
  const before = await t.text();
  await pasteOver(t.page, before.replace("PARALLEL), interval", "PARALEL), interval"));
  await t.page.keyboard.press("Control+Home");
  await t.see("problem", { "data-severity": "error" });
  await t.get("problem-fix").first().waitFor();
  await t.get("copy-problems").press("Enter");
  await t.get("status").getByText("Copied").waitFor();
  const list = await t.page.evaluate(() => navigator.clipboard.readText());
  assert.match(list, /^- \*\*error E\d+\*\* `\S+\.py:\d+:\d+`: the order of a computation/m);
  await t.page.keyboard.press("F8");
  await t.page.waitForFunction(() => !/^Ln 1 /.test(document.querySelector(".caret-place").textContent));
  await t.get("status").getByText(/Problem 1 of /).waitFor();
  assert.doesNotMatch(await t.get("problems").textContent(), /`/, "back quotes are drawn as code");
  await t.page.keyboard.press("Control+i");
  await t.get("fixes").waitFor();
  await focusIsIn(t, '[data-testid="fix"]');
  await t.shot("fixes");
  await t.page.keyboard.press("Escape");
  await t.get("fixes").waitFor({ state: "detached" });
  await t.page.keyboard.press("Control+i");
  await t.get("fix").first().waitFor();
  await focusIsIn(t, '[data-testid="fix"]');
  await t.page.keyboard.press("Enter");
  await t.get("problem").first().waitFor({ state: "detached" });
  assert.equal(await t.text(), before);

  // The same by a button that can be seen.
  await t.page.keyboard.press("Control+z");
  await t.get("problem-fix").first().click();
  await t.get("problem").first().waitFor({ state: "detached" });
  assert.equal(await t.text(), before);
});

scenario("what is said of a line survives a paste, and its list obeys keys and clicks", async (t) => {
  await t.pick("horizontal_diffusion");
  const marks = t.get("remark-mark");
  await marks.first().waitFor();
  const n = await marks.count();
  const text = await t.text();
  await pasteOver(t.page, text);
  assert.equal(await marks.count(), n, "the same text has the same signs");
  await pasteOver(t.page, text.replace("laplacian[1, 0, 0] - laplacian", "laplacian[1, 0, 0] - laplacian  # changed"));
  assert.ok((await marks.count()) >= n - 1, "the lines that stayed keep theirs");
  await t.settled();
  await t.page.waitForFunction((n) => {
    const root = document.querySelector('[data-testid="editor"]').shadowRoot;
    return root.querySelectorAll('[data-testid="remark-mark"]').length === n;
  }, n);

  const list = t.get("remark-list");
  // A list that is open when the compiler answers stays open, and keeps the keyboard.
  await pasteOver(t.page, text.replace("laplacian[1, 0, 0] - laplacian", "laplacian[1, 0, 0] - laplacian  # again"));
  await marks.first().click();
  await list.waitFor();
  await t.settled();
  await focusIsIn(t, '[data-testid="remark"]');
  assert.ok(await list.isVisible(), "the answer has the same remarks for this line");
  await t.page.keyboard.press("Escape");
  await list.waitFor({ state: "detached" });
  await marks.first().click();
  await list.waitFor();
  await t.page.keyboard.press("Escape");
  await list.waitFor({ state: "detached" });
  await marks.first().click();
  await list.waitFor();
  await t.page.locator(".column-result").click({ position: { x: 90, y: 500 } });
  await list.waitFor({ state: "detached" });
  await t.clickLine("laplacian = ");
  await t.page.keyboard.press("Alt+Enter");
  await list.waitFor();
  await focusIsIn(t, '[data-testid="remark"]');
  if ((await t.get("remark").count()) > 1) {
    await t.page.keyboard.press("ArrowDown");
    await focusIsIn(t, '[data-testid="remark"]');
  }
  await t.page.keyboard.press("Escape");
  await list.waitFor({ state: "detached" });
  await focusIsIn(t, ".cm-content");

  // A text with errors has no remarks of its own: those before stay.
  await t.toEnd();
  await t.page.keyboard.type(" + (");
  await t.see("problem", { "data-severity": "error" });
  assert.equal(await marks.count(), n);
});

scenario("long lines are broken where somebody wants to read them", async (t) => {
  await t.pick("horizontal_diffusion");
  const heightOf = (selector) => t.page.locator(selector).first().evaluate((it) => it.getBoundingClientRect().height);
  const pane = '[data-testid="stage-pane-oir"] [data-line="16"]';
  await t.settled();
  const row = await heightOf(pane);
  await t.get("stage-wrap-oir").click();
  await t.page.waitForFunction(([it, row]) => document.querySelector(it).getBoundingClientRect().height > row * 1.5, [pane, row]);
  const width = await t.page.locator("#listing-oir").evaluate((it) => it.scrollWidth - it.clientWidth);
  assert.equal(width, 0, "a broken line still runs out of the pane");
  await focusText(t.page);
  await t.page.keyboard.press("Alt+z");
  await t.see("wrap-text", { "aria-pressed": "true" });
  await t.get("editor").locator(".cm-lineWrapping").waitFor();
  const over = await t.get("editor").evaluate((it) => {
    const scroller = it.shadowRoot.querySelector(".cm-scroller");
    return scroller.scrollWidth - scroller.clientWidth;
  });
  assert.equal(over, 0);
  await t.shot("broken");
  // On a phone both are on from the start.
  const phone = await t.browser.newContext({ viewport: { width: 390, height: 780 } });
  t.contexts.push(phone);
  const page = await phone.newPage();
  await page.goto(t.runner.url);
  await t.see("app", { "data-ready": "true" }, page);
  assert.equal(await t.get("wrap-text", page).getAttribute("aria-pressed"), "true");
  await t.shot("phone", page);
});

scenario("a level of a thousand lines has few elements, and all of it can be read, searched and copied", async (t) => {
  await t.page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await pasteOver(t.page, long(1000));
  await t.settled();
  await t.show("definition");
  assert.ok((await t.lines("definition")).length >= 1000);
  const nodes = await t.page.evaluate(() => {
    const count = (root) =>
      [...root.querySelectorAll("*")].reduce((sum, it) => sum + 1 + (it.shadowRoot ? count(it.shadowRoot) : 0), 0);
    return count(document);
  });
  t.note(`${nodes} elements with a level of 1,000 lines`);
  assert.ok(nodes <= 5000, `${nodes} elements`);

  // The end of it, by keyboard.
  const listing = t.page.locator("#listing-definition");
  await listing.focus();
  await t.page.keyboard.press("End");
  const last = (await t.lines("definition")).length;
  await t.page.locator(`#listing-definition [data-line="${last}"]`).waitFor();
  assert.equal(await listing.getAttribute("aria-activedescendant"), `listing-definition-line-${last}`);
  const option = t.page.locator(`#listing-definition-line-${last}`);
  assert.equal(await option.getAttribute("aria-setsize"), String(last));
  await t.page.keyboard.press("PageUp");
  await t.page.keyboard.press("ArrowUp");
  await t.page.keyboard.press("Enter");
  await t.get("editor").locator(".cm-linked").first().waitFor();

  // A search finds what is not in the document.
  await t.page.keyboard.press("Control+f");
  await focusIsIn(t, '[data-testid="find"]');
  await t.page.keyboard.type("- 500.0");
  await t.page.locator("#listing-definition mark[data-current]").first().waitFor();
  assert.match(await t.get("found").textContent(), /^1 of 1$/);
  await t.shot("found");
  await t.page.keyboard.press("Escape");
  await t.page.locator('[data-testid="find"]').waitFor({ state: "detached" });
  await focusIsIn(t, "#listing-definition");

  await t.page.keyboard.press("Control+a");
  await t.page.keyboard.press("Control+c");
  const copied = await t.page.evaluate(() => navigator.clipboard.readText());
  assert.equal(copied.trimEnd().split("\n").length, last);
});

scenario("generated code opens where the stencil begins, in its own colours", async (t) => {
  await t.pick("horizontal_diffusion");
  await t.show("c");
  const first = t.get("stage-pane-c").locator('[data-testid="stage-line"]').first();
  assert.ok(Number(await first.getAttribute("data-line")) > 40, "the pane opens on what every text begins with");
  const prelude = t.get("stage-pane-c").locator('[data-testid="prelude"]');
  assert.match(await prelude.textContent(), /prelude, \d+ lines/);
  await t.shot("c");
  await prelude.click();
  await t.get("stage-pane-c").locator('[data-line="1"]').waitFor();
  // A comment of several lines is one.
  const classes = await t.get("stage-pane-c").locator('[data-line="1"] span').evaluateAll((all) => all.map((it) => it.className));
  assert.deepEqual(classes, ["tok-comment"]);

  await t.show("python");
  await t.get("stage-pane-python").locator('[data-testid="prelude"]').click();
  const keywords = t.get("stage-pane-python").locator(".tok-keyword");
  const words = new Set((await keywords.allTextContents()).map((it) => it.trim()));
  for (const word of ["import", "class", "def"]) assert.ok(words.has(word), `${word} has no colour: ${[...words]}`);
  assert.ok(!words.has("struct"));
});
