// What goes wrong costs a job, never the text.

import assert from "node:assert/strict";
import { betweenWorkers, scenario } from "./harness.mjs";

/** Makes the next job long enough to be caught at work. */
async function enlarge(t) {
  await t.pick("column_physics");
  await t.size(256, 256, 80);
}

scenario("a job on the runner can be cancelled", { runner: "own" }, async (t) => {
  await enlarge(t);
  await t.runOnRunner();
  await t.see("progress");
  await t.get("cancel").click();
  await t.ran("cancelled");
  await t.shot("cancelled");
  await t.size(16, 16, 16);
  await t.runOnRunner();
  await t.see("run-result", { "data-state": "done", "data-backend": "rayon" });
});

scenario("a run that is stopped leaves what ran before, of both sides", { runner: "own" }, async (t) => {
  await t.pick("column_physics");
  await t.size(16, 16, 16);
  await t.more("compare");
  await t.ran("done");
  const seen = await t.hash();
  const which = (name) => t.get("which").getByRole("button", { name, exact: true });

  await t.size(200, 200, 80);
  await t.runHere();
  await t.see("run-result", { "data-state": "working", "data-backend": "numpy" });
  await t.get("cancel").click();
  await t.ran("cancelled");
  await t.shot("stopped");
  assert.equal(await t.hash(), seen);
  await t.see("compare-result");
  for (const name of ["A−B", "A", "A−B", "B"]) {
    assert.ok(await which(name).isEnabled(), `${name} is lost`);
    await which(name).click();
    await t.page.waitForFunction(
      ({ seen, isSame }) => (document.querySelector('[data-testid="field-canvas"]').dataset.hash === seen) === isSame,
      { seen, isSame: name !== "A−B" },
    );
  }
  // The worker that was ended has a successor.
  await t.size(8, 8, 16);
  await t.runHere();
  await t.ran("done", "numpy");
});

scenario("a run that another stencil interrupts leaves nothing behind", async (t) => {
  await t.pick("column_physics");
  await t.size(16, 16, 16);
  await t.runHere();
  await t.ran("done", "numpy");
  assert.notDeepEqual(await t.timings(), []);
  await t.size(200, 200, 80);
  await t.runHere();
  await t.see("run-result", { "data-state": "working", "data-backend": "numpy" });
  // The other example runs at once, and nothing of the first is shown with it.
  await t.pick("copy_scale");
  assert.match(await t.get("provenance").textContent(), /64×64×40/);
  assert.match(await t.get("field-select").inputValue(), /q_out/);
});

scenario("a comparison that is stopped on the runner shows the times of what ran in the tab", { runner: "own" }, async (t) => {
  await t.pick("column_physics");
  await t.size(16, 16, 16);
  // Once it is known what the runner has, the slowest of it leaves time to stop.
  await t.runOnRunner();
  await t.ran("done", "rayon");
  await t.get("target-select").selectOption("runner:debug");
  await t.runHere();
  await t.ran("done", "numpy");
  const { length } = await t.timings();
  await t.size(24, 24, 40);
  await t.more("compare");
  await t.see("run-result", { "data-state": "working", "data-backend": "debug" });
  const inTab = (await t.timings()).slice(0, length);
  await t.get("cancel").click();
  await t.ran("cancelled");
  assert.match(await t.get("provenance").textContent(), /24×24×40/);
  assert.deepEqual(await t.timings(), inTab);
});

scenario("results whose worker falls over are told of, and can be computed again", { page: "none" }, async (t) => {
  t.page = await t.open(t.runner.url, betweenWorkers);
  await t.pick("copy_scale");
  await t.size(16, 16, 8);
  await t.runHere();
  await t.ran("done", "numpy");
  await t.page.evaluate(() => {
    window.onQuestion = (ask, worker) => {
      if (!ask.slice) return false;
      window.onQuestion = undefined;
      setTimeout(() => window.crash(worker));
      return true;
    };
  });
  await t.get("k-slider").fill("1");
  await t.see("run-result", { "data-state": "failed" });
  assert.match(await t.get("run-error").textContent(), /worker/);
  await t.shot("lost");
  await t.runHere();
  await t.ran("done", "numpy");
  assert.ok((await t.colours()) > 8, "the picture has hardly any colours");
});

scenario("an external that the compiler falls over can be taken back", { page: "none" }, async (t) => {
  t.page = await t.open(t.runner.url, betweenWorkers);
  await t.pick("ppm_transport");
  await t.unfold();
  await t.show("c");
  // A listing draws its lines behind its frame.
  const pane = t.get("stage-pane-c");
  await pane.getByText("step_1_at").first().waitFor();
  const before = await pane.textContent();
  await t.page.evaluate(() => {
    window.onQuestion = (ask, worker) => {
      if (ask.compile?.request.externals?.iord !== 2) return false;
      setTimeout(() => window.crash(worker));
      return true;
    };
  });
  await t.give("external-iord", "2");
  const notice = t.page.getByRole("alert").filter({ hasText: "crashed" });
  await notice.waitFor();
  await t.shot("crashed");
  // Whoever tells of it has something to tell.
  await t.page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await t.get("copy-report").click();
  await t.get("status").getByText("Copied").waitFor();
  const report = await t.page.evaluate(() => navigator.clipboard.readText());
  assert.match(report, /^Isobar \d+\.\d+\.\d+ crashed over this text, in Mozilla/);
  assert.match(report, /```python\n[^]*\[Open in Isobar\]\(http/);
  await t.get("reset-external-iord").click();
  await t.settled();
  await notice.waitFor({ state: "detached" });
  const isAsBefore = ([id, text]) => document.querySelector(`[data-testid="${id}"]`)?.textContent === text;
  await t.page.waitForFunction(isAsBefore, ["stage-pane-c", before]);
});

scenario("workers that could not be loaded are told of, and started again", { page: "none" }, async (t) => {
  const context = await t.browser.newContext({ viewport: { width: 1440, height: 900 } });
  t.contexts.push(context);
  // The compiler's worker is the first, and has all that it asks for, in however many requests the browser does so,
  // once the program itself is on its way; the workers for runs come after it.
  let link = "whole";
  await context.route("**/worker_bg.wasm", (route) => {
    if (link === "whole") link = "cut";
    return route.continue();
  });
  await context.route("**/worker.js", (route) => (link === "cut" ? route.abort() : route.continue()));
  const page = await context.newPage();
  await page.goto(t.runner.url);
  await page.locator('[data-testid="app"][data-ready="true"]').waitFor({ state: "attached" });
  // An example runs at once, in vain.
  await t.unfolded("opened", page);
  await t.get("example-copy_scale", page).click();
  await t.settled(page);
  await t.runHere(page);
  await t.see("run-result", { "data-state": "failed" }, page);
  assert.match(await t.get("run-error", page).textContent(), /worker/);
  link = "mended";
  await t.runHere(page);
  await t.see("run-result", { "data-state": "done" }, page);
});

scenario("a runner that is killed at work is reported, and the tab works on", { runner: "own" }, async (t) => {
  await enlarge(t);
  await t.toEnd();
  await t.page.keyboard.type("  # precious");
  const before = await t.text();
  await t.runOnRunner();
  await t.see("run-result", { "data-state": "working" });
  await t.see("connection", { "data-state": "connected" });
  await t.runner.kill();
  await t.ran("failed");
  await t.see("connection", { "data-state": "lost" });
  assert.match((await t.get("run-error").allTextContents()).join(" "), /runner/i);
  await t.shot("killed");

  assert.equal(await t.text(), before);
  await t.size(16, 16, 16);
  await t.runHere();
  await t.see("run-result", { "data-state": "done", "data-backend": "numpy" });
  assert.equal(await t.text(), before);
});

scenario("a domain that is too large is refused with both numbers", async (t) => {
  await t.pick("copy_scale");
  await t.size(30000, 30000, 30000);
  await t.runHere();
  await t.ran("failed");
  assert.match((await t.get("run-error").allTextContents()).join(" "), /\d/);
  await t.shot("refused");
});
