// Classes as programs: their levels, and runs of them.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { pasteOver, scenario } from "./harness.mjs";

const DIFFUSION = readFileSync(new URL("../../static/gallery/programs/diffusion_steps.py", import.meta.url), "utf8");

scenario("a class is a program: its calls, their code, and what they compute", async (t) => {
  await t.pick("diffusion_steps");
  await t.ran("done");
  await t.show("program");
  const program = await t.lines("program");
  assert.ok(program.some((it) => it.includes("call laplacian(q=q, out=tendency)")), program.join("\n"));
  await t.shot("program");

  // A line of a stencil lights up its call, and the loops that it is a part of.
  await t.clickLine("q = q + alpha * tendency");
  const lit = (await t.litLines("program")).map((it) => program[it - 1]);
  assert.ok(lit.length === 1 && lit[0].includes("call apply("), lit.join("\n"));
  for (const stage of ["definition", "oir", "schedule", "loops", "c", "numpy"]) {
    await t.show(stage);
    const lines = await t.lines(stage);
    const lit = await t.litLines(stage);
    assert.ok(lit.length < lines.length, `${stage}: everything is lit`);
  }
  await t.shot("lit");

  // Those behind the calls are of the whole program, and its own statements are in them.
  await t.clickLine("self._comm.halo_update(q, n_points=1)");
  for (const [stage, first] of [["schedule", "schedule Diffusion"], ["sdfg", "sdfg Diffusion("], ["loops", "program Diffusion("]]) {
    await t.show(stage);
    const lines = await t.lines(stage);
    assert.ok(lines[0].startsWith(first), `${stage}: ${lines[0]}`);
    const lit = await t.litLines(stage);
    assert.ok(lit.length > 0 && lit.length < lines.length, `${stage}: ${lit.length} of ${lines.length} lines are lit`);
  }
  await t.shot("exchange");

  // The first step is the run that there was.
  const once = await t.hash();
  await t.get("step").click();
  await t.see("clock", { "data-step": "1" });
  assert.equal(await t.hash(), once);
  await t.get("step").click();
  await t.page.waitForFunction((old) => {
    return document.querySelector('[data-testid="field-canvas"]').dataset.hash !== old;
  }, once);
  assert.deepEqual(t.asked, [], "a program in the tab asked the runner");

  // A stencil is no program.
  await t.pick("copy_scale");
  await t.get("stage-tab-program").waitFor({ state: "hidden" });
});

scenario("a program gives the same picture on the runner", async (t) => {
  await t.pick("shallow_water_model");
  await t.size(40, 30);
  await t.runHere();
  await t.ran("done");
  const inTab = await t.hash();
  await t.shot("in the tab");
  const calls = () => t.get("call-row").evaluateAll((all) => all.map((it) => [it.textContent, Number(it.dataset.count)]));
  const here = await calls();
  assert.ok(here.some(([text, count]) => text.includes("call move_water(") && count === 1), `${here}`);
  await t.runOnRunner();
  await t.see("run-result", { "data-state": "done", "data-backend": "rayon" });
  // There, calls that stand behind each other are one piece of code.
  const there = await calls();
  assert.ok(there.some(([text, count]) => text.includes("group 0") && count === 1), `${there}`);
  await t.get("call-tree").scrollIntoViewIfNeeded();
  await t.shot("calls");
  assert.equal(await t.hash(), inTab, "the two pictures differ");

  // On a GPU of the runner the fields stay there, and only results come back.
  const onGpu = t.get("target-select").locator('option[value="runner:wgpu"]:not([disabled])');
  if (await onGpu.count()) {
    await t.get("target-select").selectOption("runner:wgpu");
    await t.get("run").click();
    await t.see("run-result", { "data-state": "done", "data-backend": "wgpu" });
    await t.shot("on a GPU");
    assert.equal(await t.hash(), inTab, "the picture of the GPU differs");
  }

  // A call opens its stencil.
  await t.get("call-open").filter({ hasText: "call rub(" }).first().click();
  await t.settled();
  const picked = t.get("stencil-select").locator("option:checked");
  assert.equal(await picked.getAttribute("data-name"), "rub");
});

scenario("a number that a constructor takes is an input", async (t) => {
  const text = DIFFUSION.replace("comm):", "comm, factor: float = 1.0, name: str = \"x\"):")
    .replace("        self._comm = comm\n", "        self._comm = comm\n        self._factor = factor\n")
    .replace("self._tendency, alpha)", "self._tendency, alpha * self._factor)");
  await pasteOver(t.page, text);
  await t.settled();
  await t.unfold();
  await t.runHere();
  await t.ran("done");
  const before = await t.hash();
  assert.equal(await t.get("input-external-factor").inputValue(), "1.0");
  assert.equal(await t.get("input-external-name").count(), 0);
  const inputs = t.get("inputs");
  assert.equal(await inputs.getByRole("heading", { name: "Constructor", exact: true }).count(), 1);
  assert.equal(await inputs.getByRole("heading", { name: "Externals", exact: true }).count(), 0);
  await t.shot("inputs");
  await t.give("external-factor", "0.5");
  await t.settled();
  await t.runHere();
  await t.ran("done");
  assert.notEqual(await t.hash(), before);
  await t.get("reset-external-factor").click();
  await t.settled();
  await t.runHere();
  await t.ran("done");
  assert.equal(await t.hash(), before);
});

scenario("a class is offered beside the stencils of a text", async (t) => {
  await pasteOver(t.page, DIFFUSION.replace(/# @stencil .*\n/, ""));
  await t.settled();
  const select = t.get("stencil-select");
  const option = select.locator('option[data-name="Diffusion"]');
  await option.waitFor({ state: "attached" });
  assert.equal(await t.get("stage-tab-program").isVisible(), false);
  // The caret in the class picks nothing.
  await t.clickLine("self._comm.halo_update(q, n_points=1)");
  assert.equal(await t.get("stage-tab-program").isVisible(), false);
  await select.selectOption(await option.getAttribute("value"));
  await t.get("stage-tab-program").waitFor();
  await t.show("program");
  await t.runHere();
  await t.ran("done", "numpy");
});

scenario("a class that is no program says where and why", async (t) => {
  await t.pick("diffusion_steps");
  await t.clickLine("self._comm.halo_update(q, n_points=1)");
  await t.page.keyboard.press("End");
  await t.page.keyboard.type("; self._laplacian(q, unheard)");
  const said = '[data-testid="problem"][data-severity="error"]';
  await t.page.locator(said, { hasText: "unheard" }).first().waitFor({ state: "attached" });
  await t.shot("refused");
});
