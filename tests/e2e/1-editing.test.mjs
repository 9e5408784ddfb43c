// From text to every level, while the user types.

import assert from "node:assert/strict";
import { STAGES, betweenWorkers, keepCompilations, scenario } from "./harness.mjs";

const GALLERY = ["copy_scale", "horizontal_diffusion", "vertical_advection", "ppm_transport", "column_physics"];

/** What the project promises on the machine it is measured on; and what a busy machine is held to. */
const AIM_MS = 100;
const BOUND_MS = 300;

scenario("each stencil of the gallery shows all its levels", { long: true }, async (t) => {
  const options = await t.examples();
  for (const entry of GALLERY) assert.ok(options.includes(entry), `the gallery has no ${entry}: ${options}`);
  for (const entry of GALLERY) {
    await t.pick(entry);
    const errors = await t.page.locator('[data-testid="problem"][data-severity="error"]').allTextContents();
    assert.deepEqual(errors, [], entry);
    for (const stage of STAGES) {
      const pane = await t.show(stage);
      assert.ok((await pane.textContent()).trim().length > 20, `${entry}: ${stage} is empty`);
    }
    await t.shot(entry);
  }
});

scenario("a mistake is underlined, explained and repaired without losing text", async (t) => {
  await t.pick("copy_scale");
  const before = await t.text();
  await t.toEnd();
  await t.page.keyboard.type(" + nowhere");
  // Not the problem of a word that is half written.
  const said = '[data-testid="problem"][data-severity="error"]';
  const problem = t.page.locator(said, { hasText: "nowhere" }).first();
  await problem.waitFor({ state: "attached" });
  assert.match(await problem.getAttribute("data-code"), /^[A-Z]\w*\d+$/);
  await t.get("editor").locator(".cm-lintRange-error").first().waitFor();
  assert.equal(await t.text(), before.replace(/(\n*)$/, " + nowhere$1"));
  await t.shot("mistake");

  for (let key = 0; key < " + nowhere".length; key++) await t.page.keyboard.press("Backspace");
  await t.page.locator('[data-testid="problem"]').first().waitFor({ state: "detached" });
  await t.settled();
  assert.equal(await t.text(), before);
  for (const stage of STAGES) await t.show(stage);
});

scenario("a text that is no Python at all keeps the page alive", async (t) => {
  await t.pick("copy_scale");
  await t.toEnd();
  await t.page.keyboard.type("\n)))]] def while with : 0x ''' \u00e9\u{1F600} (((");
  await t.see("problem", { "data-severity": "error" });
  assert.match(await t.text(), /def while with/);
  await t.shot("nonsense");
  await t.pick("horizontal_diffusion");
  await t.show("c");
});

scenario("the lines of the statement under the cursor are lit in every pane", async (t) => {
  await t.pick("horizontal_diffusion");
  await t.clickLine("laplacian = ");
  for (const stage of STAGES) {
    await t.show(stage);
    const lit = await t.litLines(stage);
    assert.ok(lit.length < (await t.lines(stage)).length, `${stage}: everything is lit`);
    if (["cuda", "wgsl"].includes(stage)) {
      // Out of view, they are a click away.
      const chip = t.get(`stage-pane-${stage}`).locator(".chip");
      const drawn = t.get(`stage-pane-${stage}`).locator('[data-testid="stage-line"][data-lit]');
      await chip.or(drawn).first().waitFor({ state: "attached" });
      if ((await chip.count()) > 0) await chip.click();
      await drawn.first().waitFor();
      await t.shot(stage);
    }
  }
  await t.show("oir");
  const first = await t.get("stage-pane-oir").locator("[data-lit]").allTextContents();
  await t.shot("laplacian");
  await t.clickLine("q_out = q - alpha");
  await t.page.waitForFunction((before) => {
    const lit = [...document.querySelectorAll('[data-testid="stage-pane-oir"] [data-lit]')];
    return lit.length > 0 && lit.map((it) => it.textContent).join() !== before;
  }, first.join());
});

scenario("the panes follow the keys at once", { alone: true }, async (t) => {
  await t.pick("ppm_transport");
  await t.toEnd();
  // Each key changes the program, and each text on the way is a whole one: q_out = q + q_change * 1.000...
  await t.page.keyboard.type(" * 1.0");
  await t.settled();
  const KEYS = 15;
  const times = await t.keyTimes("0", KEYS);
  const median = times[Math.floor(times.length / 2)];
  const verdict = median < AIM_MS ? "as promised" : `more than the ${AIM_MS} ms promised`;
  t.note(
    `key press to refreshed panes: median ${median.toFixed(0)} ms, least ${times[0].toFixed(0)},` +
      ` greatest ${times.at(-1).toFixed(0)}, ${KEYS} keys: ${verdict}`,
  );
  assert.ok(median < BOUND_MS, `median ${median} ms`);
});

scenario("only the stages that are open are made, and each as soon as it is opened", { page: "none" }, async (t) => {
  // As early as there is a tab to click.
  t.page = await t.visit(t.runner.url, keepCompilations, betweenWorkers);
  await t.get("stage-tab-gtir").click();
  await t.see("stage-pane-gtir", { "data-state": "fresh" });

  const made = () => t.page.evaluate(() => window.compilations.at(-1).compiled.stages.map((it) => it.stage));
  await t.pick("horizontal_diffusion");
  assert.deepEqual(await made(), ["definition", "gtir"]);
  await t.show("c");
  assert.deepEqual(await made(), ["definition", "c"]);

  // Side by side, and after an edit.
  await t.get("stage-add").click();
  await t.settled();
  await t.toEnd();
  await t.page.keyboard.type("  # edited");
  await t.settled();
  assert.equal((await made()).length, 3, "the definition, C, and what stands beside it");
  await t.show("numpy");
  await t.see("stage-pane-c", { "data-state": "fresh" });
  assert.deepEqual(await made(), ["definition", "numpy", "c"]);

  // While an answer is under way that has no such text, although the one before it had.
  await t.show("oir");
  await t.show("sdfg");
  await t.page.evaluate(() => {
    window.onQuestion = (ask, worker, pass) => {
      if (!ask.compile) return false;
      window.onQuestion = undefined;
      window.goOn = pass;
      return true;
    };
  });
  await t.page.keyboard.press("Escape");
  await t.toEnd();
  await t.page.keyboard.type("!");
  await t.page.waitForFunction(() => window.goOn !== undefined);
  await t.get("stage-tab-oir").click();
  await t.page.evaluate(() => window.goOn());
  await t.settled();
  await t.see("stage-pane-oir", { "data-state": "fresh" });
  await t.shot("opened");

  // A link opens what was open.
  const other = await t.open(await t.link());
  await t.settled(other);
  await t.see("stage-pane-oir", { "data-state": "fresh" }, other);
  await t.see("stage-pane-c", { "data-state": "fresh" }, other);
});

scenario("the compiler answers a key before the next frame", { page: "none", alone: true }, async (t) => {
  t.page = await t.open(t.runner.url, keepCompilations);
  const KEYS = 20;
  const [answers, steps] = [[], []];
  for (const entry of GALLERY) {
    await t.pick(entry);
    await t.toEnd();
    await t.page.keyboard.type("  # ");
    await t.settled();
    await t.page.evaluate(() => (window.compilations.length = 0));
    for (let key = 0; key < KEYS; key++) {
      await t.page.keyboard.type("a");
      await t.settled();
    }
    const told = await t.page.evaluate(() =>
      window.compilations.map(({ ms, compiled }) => ({
        ms,
        own: compiled.timings.reduce((sum, it) => sum + it.ms, 0),
        stages: compiled.stages.map((it) => it.stage).join(),
      })),
    );
    assert.ok(told.length >= KEYS, `${entry}: ${told.length} answers`);
    assert.ok(told.every((it) => it.stages === "definition,oir"), entry);
    answers.push(...told.map((it) => it.ms));
    steps.push(...told.map((it) => it.own));
  }
  const p95 = (all) => all.sort((a, b) => a - b)[Math.floor(all.length * 0.95)];
  const [answer, own] = [p95(answers), p95(steps)];
  t.note(
    `from key to answer with one level open: p95 ${answer.toFixed(1)} ms, of which doors and passes` +
      ` ${own.toFixed(1)} ms, ${answers.length} keys`,
  );
  assert.ok(answer < BOUND_MS, `p95 ${answer} ms`);
});

scenario("a size that is typed while the compiler works is not taken back", async (t) => {
  await t.pick("vertical_advection");
  await t.unfolded("size");
  const points = t.get("domain-k");
  await points.fill("24");
  // The compiler answers between the digits and the end of the typing.
  await t.get("precision-select").evaluate((it) => {
    it.value = "32";
    it.dispatchEvent(new Event("change", { bubbles: true }));
  });
  await t.settled();
  assert.equal(await points.inputValue(), "24");
  await points.blur();
  assert.equal(await points.inputValue(), "24");
  await points.fill("0");
  await points.blur();
  assert.equal(await points.inputValue(), "1", "a domain has a point at least");
});
