// Running a stencil in the tab and on the runner, and looking at its fields.

import assert from "node:assert/strict";
import { scenario } from "./harness.mjs";

scenario("a run in the tab gives a picture to look around in", async (t) => {
  await t.pick("copy_scale");
  await t.runHere();
  await t.ran("done", "numpy");
  assert.ok((await t.colours()) > 8, "the picture has hardly any colours");
  assert.match(await t.get("colour-bar").textContent(), /-?\d[\s\S]*\d/);
  await t.shot("picture");

  const before = await t.hash();
  const slider = t.get("k-slider");
  const level = Number(await slider.inputValue());
  await slider.fill(String(level > 5 ? level - 5 : level + 5));
  await t.page.waitForFunction((old) => {
    return document.querySelector('[data-testid="field-canvas"]').dataset.hash !== old;
  }, before);
  assert.equal(await t.get("field-canvas").getAttribute("data-k"), await slider.inputValue());

  const box = await t.get("field-canvas").boundingBox();
  await t.page.mouse.move(box.x + box.width * 0.4, box.y + box.height * 0.6);
  await t.page.waitForFunction(() => {
    return /\d+\D+\d+\D+\d/.test(document.querySelector('[data-testid="pointer-value"]')?.textContent ?? "");
  });
  assert.deepEqual(t.asked, [], "a run in the tab asked the runner");
});

scenario("Control+Enter in the editor runs in the tab", async (t) => {
  await t.pick("copy_scale");
  await t.toEnd();
  const before = await t.text();
  await t.page.keyboard.press("Control+Enter");
  await t.ran("done", "numpy");
  assert.equal(await t.text(), before);
});

scenario("the tab runs the back end that is chosen, and both give the same picture", async (t) => {
  await t.pick("vertical_advection");
  await t.size(16, 12);
  await t.runHere();
  await t.ran("done", "numpy");
  const fast = await t.hash();
  await t.get("target-select").selectOption("here:debug");
  await t.runHere();
  await t.ran("done", "debug");
  assert.equal(await t.hash(), fast);
});

scenario("the browser's GPU gives the bits of debug, and says so where it does not", { alone: true }, async (t) => {
  const hasGpu = await t.page.evaluate(async () => Boolean(await navigator.gpu?.requestAdapter()));
  if (!hasGpu) t.skip("this browser has no GPU, not even one in software");
  const gallery = ["copy_scale", "ppm_transport", "column_physics", "horizontal_diffusion", "vertical_advection"];
  for (const example of gallery) {
    await t.pick(example);
    await t.size(12, 8);
    await t.get("target-select").selectOption("here:webgpu");
    await t.more("check");
    await t.ran("done", "debug");
    assert.match(await t.get("compare-result").textContent(), /^0 cells differ/, example);
    await t.get("target-select").selectOption("here:webgpu-fast");
    await t.runHere();
    await t.ran("done", "webgpu-fast");
    assert.match(await t.page.textContent("body"), /every f64 is an f32, and no bits are promised/);
  }
  await t.shot("webgpu");
});

scenario("a run on the runner tells how far it is and gives the same picture", { runner: "own" }, async (t) => {
  await t.pick("horizontal_diffusion");
  await t.runHere();
  await t.ran("done", "numpy");
  const inTab = await t.hash();

  await t.runOnRunner();
  await t.see("progress");
  await t.see("run-result", { "data-state": "done", "data-backend": "rayon" });
  await t.see("connection", { "data-state": "connected" });
  const names = await t.timings();
  assert.ok(names.length >= 2, `timings: ${JSON.stringify(names)}`);
  for (const { name, ms } of names) assert.ok(name && ms >= 0, `timings: ${JSON.stringify(names)}`);
  const steps = t.get("graph-steps").locator('[data-testid="graph-step"]');
  assert.ok((await steps.count()) > 0, "no step of the graph tells its time");
  assert.match(await steps.first().innerText(), /q_out.*\d+-\d+/s);
  assert.equal(await t.hash(), inTab, "the two pictures differ");
});

scenario("back ends are measured on the runner, beside copying, and stopped where that takes too long", { runner: "own", alone: true }, async (t) => {
  await t.pick("copy_scale");
  await t.size(40, 30, 20);
  await t.runOnRunner();
  await t.ran("done", "rayon");
  const [timings, picture] = [await t.timings(), await t.hash()];
  assert.equal(await t.get("bench-debug").isChecked(), false, "the interpreter is slow");

  await t.get("bench-rounds").fill("9");
  await t.get("bench-rounds").blur();
  await t.get("bench").click();
  await t.ran("done", "benchmark");
  const table = await t.see("benchmark");
  const rows = await table
    .locator('[data-testid="bench-row"]')
    .evaluateAll((all) => all.map(({ dataset }) => [dataset.backend, Number(dataset.ms), Number(dataset.ofCopy)]));
  const names = rows.map(([name]) => name);
  assert.ok(names.includes("rayon") && names.includes("numpy") && !names.includes("debug"), `${names}`);
  for (const [name, ms, ofCopy] of rows) assert.ok(ms > 0 && ofCopy > 0, `${name}: ${ms} ms, ${ofCopy}`);
  assert.ok(Number(await t.get("bench-copy").getAttribute("data-ms")) > 0, "copying takes time");
  assert.match(await t.get("bench-of").textContent(), /copy_scale on 40 × 30 × 20 points, fp64, .* 9 rounds/);
  assert.match(await t.get("bench-agree").textContent(), /same bits/);
  // The picture and its times are those of the run before.
  assert.deepEqual([await t.timings(), await t.hash()], [timings, picture]);
  await t.get("bench-agree").scrollIntoViewIfNeeded();
  await t.shot("table");

  await t.get("bench-debug").check();
  await t.size(200, 200, 80);
  await t.get("bench").click();
  await t.see("run-result", { "data-state": "working", "data-backend": "benchmark" });
  await t.see("progress", { "data-working": "true" });
  await t.get("cancel").click();
  await t.ran("cancelled");
  assert.match(await t.get("bench-of").textContent(), /40 × 30 × 20/);
  assert.deepEqual(await t.timings(), timings);

  // Of nothing nothing is asked.
  for (const name of ["bench-debug", ...names.map((it) => `bench-${it}`)]) await t.get(name).uncheck();
  await t.get("bench").click();
  await t.ran("failed");
  assert.match(await t.get("run-error").textContent(), /no back end is chosen/);
});

for (const [entry, precision] of [
  ["horizontal_diffusion", "64"],
  ["horizontal_diffusion", "32"],
  ["vertical_advection", "64"],
  ["ppm_transport", "64"],
  ["column_physics", "64"],
]) {
  scenario(`${entry} in ${precision} bits: tab and runner agree in every cell`, async (t) => {
    await t.pick(entry);
    await t.precision(precision);
    // Whole columns, fewer of them: the interpreter's patience is not what is tested.
    await t.size(24, 20);
    await t.settled();
    await t.more("compare");
    await t.ran("done");
    const result = await t.see("compare-result");
    assert.match(await result.textContent(), /\b0 cells differ/i);
  });
}
