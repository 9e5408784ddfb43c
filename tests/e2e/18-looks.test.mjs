// What looks right for everybody: sizes of examples, cells around a cell, links that keep the picture, touch, directions.

import assert from "node:assert/strict";
import { newcomer, resize, scenario, soon } from "./harness.mjs";

const base = (t) => t.runner.url.split("#")[0];

scenario("an example opens smaller or larger from its card", async (t) => {
  const { page } = t;
  for (const [size, points] of [
    ["small", "24 × 24 × 20"],
    ["large", "96 × 96 × 20"],
    ["medium", "48 × 48 × 20"],
  ]) {
    await page.goto(`${base(t)}#/gallery`);
    const card = page.locator('[data-testid="gallery-card"][data-entry="nan_hunt"]');
    await card.locator(`[data-testid="size-${size}"]`).click();
    await page.locator('[data-testid="app"][data-view="editor"]').waitFor();
    await t.settled();
    await t.ran("done");
    assert.match(await t.get("provenance").textContent(), new RegExp(points.replaceAll(" ", "")));
    assert.match(await t.get("size").textContent(), new RegExp(points));
  }
});

scenario("a cell shows the cells around it, also on the levels before and behind", async (t) => {
  await t.runHere();
  await t.ran("done");
  await t.get("field-canvas").click({ position: { x: 60, y: 60 } });
  const inspector = await t.see("inspector");
  const beside = t.get("neighbours-beside");
  await beside.nth(1).waitFor();
  const [i, j, k] = (await inspector.getAttribute("data-cell")).split(",").map(Number);
  assert.match(await t.get("neighbours").textContent(), new RegExp(`^k = ${k}`));
  assert.match(await beside.nth(0).textContent(), new RegExp(`^k = ${k - 1}`));
  const own = await t.get("neighbours").locator("td.here").textContent();
  const east = await t.get("neighbours").locator("td").nth(5).textContent();
  const above = await beside.nth(0).locator("td").nth(4).textContent();
  const exact = async () => Number(await t.get("reading").first().locator('[data-of="a"]').textContent());
  const reads = (shown) => soon(async () => assert.equal(Number(shown), Number((await exact()).toPrecision(5))));
  await reads(own);
  // Each neighbour is what its own cell has.
  await t.get("field-canvas").press("ArrowRight");
  await t.see("inspector", { "data-cell": `${i + 1},${j},${k}` });
  await reads(east);
  await t.get("field-canvas").press("ArrowLeft");
  await t.see("inspector", { "data-cell": `${i},${j},${k}` });
  await t.get("k-slider").fill(String(k - 1));
  await t.see("inspector", { "data-cell": `${i},${j},${k - 1}` });
  await reads(above);
  // At the first level nothing lies before.
  await t.get("k-slider").fill("0");
  await t.see("inspector", { "data-cell": `${i},${j},0` });
  await t.page.waitForFunction(() => document.querySelectorAll('[data-testid="neighbours-beside"]').length === 1);
});

scenario("a link keeps what the picture is, its range and its colours", async (t) => {
  await t.runHere();
  await t.ran("done");
  await t.get("range-select").selectOption("fixed");
  await t.get("range-low").fill("-0.25");
  await t.get("range-low").press("Enter");
  await t.get("range-high").fill("0.75");
  await t.get("range-high").press("Enter");
  await t.get("map-select").selectOption("cividis");
  await t.get("field-canvas").click({ position: { x: 60, y: 60 } });
  const cell = await (await t.see("inspector")).getAttribute("data-cell");
  const plan = await t.open(await t.link());
  await t.get("run", plan).click();
  await t.ran("done", undefined, plan);
  assert.equal(await t.get("range-select", plan).inputValue(), "fixed");
  assert.equal(await t.get("range-low", plan).inputValue(), "-0.25");
  assert.equal(await t.get("map-select", plan).inputValue(), "cividis");
  await t.see("inspector", { "data-cell": cell }, plan);
  assert.equal(await t.get("field-canvas", plan).getAttribute("data-hash"), await t.hash());

  await t.get("view-line").click();
  await t.get("line-select").selectOption("j");
  const line = await t.open(await t.link());
  await t.get("run", line).click();
  await t.ran("done", undefined, line);
  await t.see("view-line", { "aria-selected": "true" }, line);
  assert.equal(await t.get("line-select", line).inputValue(), "j");
});

scenario("on a touch screen a row of signs types what keyboards of glass hide", { page: "none" }, async (t) => {
  const phone = { hasTouch: true, isMobile: true, viewport: { width: 390, height: 844 } };
  t.media = phone;
  const page = (t.page = await t.open(t.runner.url));
  assert.equal(await t.get("symbols").isVisible(), false);
  await t.toEnd();
  await t.get("symbols").waitFor();
  const before = await t.text();
  for (const sign of ["[", "-1", ",", "0", ",", "0", "]"]) {
    await t.get("symbols").getByRole("button", { name: sign, exact: true }).tap();
  }
  assert.equal(await t.text(), before.replace(/\n*$/, (end) => `[-1,0,0]${end}`));
  // The text has the keyboard still, and what a finger hits is large enough.
  assert.ok(await page.evaluate(() => document.activeElement.dataset.testid === "editor"));
  const { width, height } = await t.get("symbol").first().boundingBox();
  assert.ok(width >= 32 && height >= 44, `${width} × ${height}`);
  await t.shot("row");
});

scenario("a page without a network says so, and goes on", async (t) => {
  assert.equal(await t.get("offline").count(), 0);
  await t.page.context().setOffline(true);
  await t.get("offline").waitFor();
  await t.toEnd();
  await t.page.keyboard.type("  # written without a network");
  await t.settled();
  await t.page.context().setOffline(false);
  await t.get("offline").waitFor({ state: "detached" });
});

scenario("whoever reads from right to left has a page that runs that way, with code that does not", { page: "none" }, async (t) => {
  const page = await t.visit(t.runner.url, newcomer, () => {
    document.addEventListener("DOMContentLoaded", () => (document.documentElement.dir = "rtl"));
  });
  await t.see("run-result", { "data-state": "done" }, page);
  const x = async (id) => (await t.get(id, page).first().boundingBox()).x;
  assert.ok((await x("editor")) > (await x("run-result")), "the text comes first");
  assert.ok((await x("opened")) > (await x("more")), "the bar begins at the right");
  const directions = await page.evaluate(() =>
    ["#listing-oir", '[data-testid="editor"]', '[data-testid="field-canvas"]'].map(
      (it) => getComputedStyle(document.querySelector(it)).direction,
    ),
  );
  assert.deepEqual(directions, ["ltr", "ltr", "ltr"]);
  // The arrow that points on goes on.
  await t.get("drawer-problems", page).focus();
  await page.keyboard.press("ArrowLeft");
  await t.see("drawer-inputs", { "aria-selected": "true" }, page);
  const edge = page.getByRole("separator", { name: "Width of the editor" });
  const part = async () => Number(await edge.getAttribute("aria-valuenow"));
  const before = await part();
  await edge.focus();
  await page.keyboard.press("ArrowLeft");
  assert.ok((await part()) > before, "the text grows to the left");
  for (const [width, height] of [[1440, 900], [390, 844]]) {
    await resize(page, width, height);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(overflow <= 0, `${width}: ${overflow} pixels too wide`);
    await t.shot(`${width}`, page);
  }
});

scenario("what is passed leads on to the next lesson", async (t) => {
  const { page } = t;
  await page.goto(`${base(t)}#/learn/first-course/01-first`);
  await t.see("lesson", { "data-lesson": "01-first" });
  await page.waitForFunction(() => document.querySelector('[data-testid="editor"]').editor.getDoc().includes("q_out = q"));
  await t.toEnd();
  await page.keyboard.type(" * factor");
  await t.settled();
  await t.get("check-lesson").click();
  await t.see("verdicts", { "data-state": "passed" });
  await t.get("lesson-go-on").click();
  await t.see("lesson", { "data-lesson": "02-neighbours" });
  assert.equal((await t.get("status").textContent()).trim(), "", "what was said of the lesson before is gone");
});
