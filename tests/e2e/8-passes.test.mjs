// What each pass did to a level, and what the compiler says about it.

import assert from "node:assert/strict";
import { betweenWorkers, focusText, scenario } from "./harness.mjs";

/** Brings a stage into view, opens its list of passes, and waits until they were watched. */
async function openPasses(t, stage) {
  await t.get(`stage-tab-${stage}`).click();
  const toggle = t.get(`passes-toggle-${stage}`);
  if ((await toggle.getAttribute("aria-expanded")) !== "true") await toggle.click();
  await t.see(`passes-${stage}`, { "data-state": "fresh" });
}

/** The row of a pass in a pane's list. */
function row(t, stage, pass) {
  return t.get(`passes-${stage}`).locator(`[data-testid="pass"][data-pass="${stage}/${pass}"]`);
}

/** Picks a pass, and waits until the pane shows its level around it. */
async function pick(t, stage, pass) {
  await row(t, stage, pass).click();
  await t.get(`stage-pane-${stage}`).locator(".listing[data-compared]").waitFor();
}

/** The lines of a pane that are marked so, of which there are some, or all of them. */
async function lines(t, stage, mark) {
  if (!mark) return t.lines(stage);
  const marked = t.get(`stage-pane-${stage}`).locator(`[data-testid="stage-line"][data-mark="${mark}"]`);
  // Lines are drawn after the listing says that it compares.
  await marked.first().waitFor();
  return marked.allTextContents();
}

scenario("a pass that is picked shows what it removed and added, with its lines still linked", async (t) => {
  await t.pick("horizontal_diffusion");
  await openPasses(t, "oir");
  const changed = row(t, "oir", "merge-horizontal-executions");
  assert.equal(await changed.getAttribute("data-went"), "changed");
  assert.equal(await row(t, "oir", "fold-constants").getAttribute("data-went"), "unchanged");
  await pick(t, "oir", "merge-horizontal-executions");
  const [removed, added] = [await lines(t, "oir", "removed"), await lines(t, "oir", "added")];
  assert.ok(removed.some((it) => /flux_i = 0\.0 if/.test(it)), `${removed}`);
  assert.ok(added.some((it) => /flux_i = 0\.0 if/.test(it)), `${added}`);
  assert.match(await changed.textContent(), new RegExp(`−${removed.length} \\+${added.length}`));
  await t.shot("oir");

  // From a removed line to the source, and from the source to both.
  const pane = t.get("stage-pane-oir");
  await pane.locator('[data-mark="removed"]', { hasText: "flux_i = 0.0 if" }).first().click();
  const source = t.get("editor").locator(".cm-linked", { hasText: "flux_i = 0.0 if" });
  await source.first().waitFor();
  for (const mark of ["removed", "added"]) {
    await pane.locator(`[data-mark="${mark}"][data-lit]`, { hasText: "flux_i" }).first().waitFor();
  }
  await t.clickLine("flux_j = 0.0 if");
  await pane.locator('[data-mark="removed"][data-lit]', { hasText: "flux_j" }).first().waitFor();

  // By keyboard: from change to change, back to the level that goes on.
  await t.get("passes-oir").locator('[role="listbox"]').focus();
  await t.page.keyboard.press("End");
  await pane.locator(".listing:not([data-compared])").waitFor();
  await t.page.keyboard.press("<");
  await t.see("pass", { "data-went": "changed", "aria-selected": "true" });
  await t.page.keyboard.press("ArrowUp");
  await t.see("pass", { "data-went": "unchanged", "aria-selected": "true" });
});

scenario("a remark beside its line tells what moves, leads to the change, and its pass can be left out", async (t) => {
  await t.pick("horizontal_diffusion");
  const laplacian = t.get("editor").locator(".cm-line", { hasText: "laplacian = " }).first();
  await laplacian.click();
  const note = t.get("remark-note");
  await note.waitFor();
  assert.match(await note.textContent(), /138\.29 MB → 32\.12 MB/);
  await t.shot("note");
  await note.click();
  const remark = t.get("remark").first();
  await remark.waitFor();
  assert.match(await remark.textContent(), /run row by row.*138\.29 MB → 32\.12 MB.*schedule\/fuse-in-tiles/);
  await t.shot("remark");
  await remark.click();

  const pane = t.get("stage-pane-schedule");
  await pane.locator(".listing[data-compared]").waitFor();
  await pane.locator('[data-mark="added"][data-lit]', { hasText: "laplacian" }).first().waitFor();
  assert.ok((await lines(t, "schedule", "added")).some((it) => it.includes("j_front")));
  const beside = pane.locator('[data-mark="added"][data-note="✓"]', { hasText: "laplacian" }).first();
  assert.match(await beside.getAttribute("title"), /run row by row.*\(138\.29 MB → 32\.12 MB\)/);
  await t.get("editor").locator(".cm-linked", { hasText: "laplacian = " }).first().waitFor();
  await t.see("passes-schedule", { "data-state": "fresh" });
  await t.shot("schedule");

  const schedule = async () => {
    await row(t, "schedule", "fuse-in-tiles").click();
    await t.page.keyboard.press("Escape");
    await t.get("passes-schedule").locator('[data-testid="pass"]', { hasText: "after all passes" }).click();
    await pane.locator(".listing:not([data-compared])").waitFor();
    return (await lines(t, "schedule")).join("\n");
  };
  assert.match(await schedule(), /j_front/);
  await row(t, "schedule", "fuse-in-tiles").click();
  await t.get("passes-schedule").locator('[data-testid="pass-skip"]').click();
  await t.settled();
  await t.see("passes-schedule", { "data-state": "fresh" });
  await t.see("skipped-pass", { "data-pass": "schedule/fuse-in-tiles" });
  assert.equal(await row(t, "schedule", "fuse-in-tiles").getAttribute("data-went"), "skipped");
  assert.doesNotMatch(await schedule(), /j_front/);
  await t.shot("without");

  // A link keeps the choice; the result is the same without the pass, and the chip takes the choice back.
  const other = await t.open(await t.link());
  await t.see("skipped-pass", { "data-pass": "schedule/fuse-in-tiles" }, other);
  await t.runHere();
  await t.ran("done", "numpy");
  const without = await t.hash();
  await t.get("skipped-pass").click();
  await t.settled();
  assert.equal(await t.get("skipped-pass").count(), 0);
  await t.runHere();
  await t.ran("done", "numpy");
  assert.equal(await t.hash(), without);
  assert.match(await schedule(), /j_front/);
});

scenario("a statement that is gone says which pass removed it, and why", async (t) => {
  await t.pick("ppm_transport");
  await t.get("stage-tab-oir").click();
  // The caret goes to a line that is not drawn yet.
  await t.get("editor").evaluate(({ editor }) => editor.revealOffset(editor.getDoc().indexOf("curvature = ")));
  const gone = t.get("stage-pane-oir").locator('[data-testid="gone"]');
  await gone.waitFor();
  assert.match(await gone.textContent(), /removed by oir\/prune-inlined.*is never read, so it is not computed/);
  await t.shot("gone");
  await gone.getByRole("button", { name: "Show" }).click();
  const pane = t.get("stage-pane-oir");
  await pane.locator('[data-mark="removed"][data-lit]', { hasText: "curvature" }).first().waitFor();
  await gone.waitFor({ state: "hidden" });
  await t.shot("tombstone");

  // The list of decisions has it as well, with a way to its line.
  const decisions = t.get("decisions");
  await decisions.locator("summary").first().click();
  await t.get("decisions-removed").click();
  const entry = decisions.locator('[data-testid="decision"]', { hasText: "curvature" }).first();
  await entry.scrollIntoViewIfNeeded();
  await t.shot("decisions");
  const line = decisions.locator("li", { has: t.page.locator('[data-testid="decision"]', { hasText: "curvature" }) });
  await line.first().locator('[data-testid="decision-line"]').first().click();
  await t.get("editor").locator(".cm-activeLine", { hasText: "curvature" }).first().waitFor();
});

scenario("nobody who types waits for the passes", { page: "none", alone: true }, async (t) => {
  t.page = await t.open(t.runner.url, betweenWorkers);
  await t.page.evaluate(() => {
    window.watched = [];
    window.onQuestion = (ask, worker) => {
      if (ask.passes) window.watched.push(worker);
      if (ask.compile) window.compiler = worker;
    };
  });
  await t.pick("ppm_transport");
  const KEYS = 10;
  await t.toEnd();
  await t.page.keyboard.type(" * 1.0");
  await t.settled();
  const closed = await t.keyTimes("0", KEYS);
  assert.equal(await t.page.evaluate(() => window.watched.length), 0, "nobody looks at the passes yet");
  await openPasses(t, "oir");
  assert.ok(await t.page.evaluate(() => window.watched.length > 0 && !window.watched.includes(window.compiler)));
  await pick(t, "oir", "inline-temporaries");
  await t.toEnd();
  const open = await t.keyTimes("0", KEYS);
  const told = (times) => `median ${times[KEYS / 2].toFixed(0)} ms, least ${times[0].toFixed(0)}, greatest ${times.at(-1).toFixed(0)}`;
  t.note(`key press to refreshed panes: ${told(closed)}; while the passes are watched: ${told(open)}`);
  await t.see("passes-oir", { "data-state": "fresh" });
  assert.equal(await row(t, "oir", "inline-temporaries").getAttribute("data-went"), "changed");
  await t.page.keyboard.type(" + (");
  await t.see("problem", { "data-severity": "error" });
  await t.see("passes-oir", { "data-state": "fresh" });
  assert.equal(await row(t, "oir", "inline-temporaries").getAttribute("data-went"), "not-reached");
});

scenario("on a phone the passes, their changes and remarks are within reach", async (t) => {
  await t.page.setViewportSize({ width: 360, height: 740 });
  await t.pick("horizontal_diffusion");
  // An example runs at once, and its result is shown.
  await t.page.getByRole("tab", { name: "Code" }).click();
  await t.clickLine("laplacian = ");
  // Remarks come when nobody has typed for a while; the note lies beyond the edge of so narrow a page.
  await t.get("remark-note").waitFor({ state: "attached" });
  await t.shot("code");
  await focusText(t.page);
  await t.page.keyboard.press("Alt+Enter");
  const remark = t.get("remark").first();
  await remark.waitFor();
  await t.shot("remark");
  await t.page.keyboard.press("Enter");
  await t.see("app", { "data-tab": "stages" });
  await t.get("stage-pane-schedule").locator('[data-mark="added"]').first().waitFor();
  await t.shot("change");
  const width = await t.page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(width <= 360, `the page is ${width} wide`);
});
