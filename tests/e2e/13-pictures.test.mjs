// Looking at a field: axes and units, other views, a single cell, what is not finite, and the way out of the page.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { pasteOver, scenario, soon } from "./harness.mjs";

/** A field with a unit, of which a level has NaN and others infinities. */
const ODD = `# @stencil odd
# @domain 20 12 6
# @input q linear(low=-1, high=1, along=i)
# @plot r k=4

from ndsl.dsl.gt4py import PARALLEL, computation, interval, sqrt
from ndsl.dsl.typing import FloatField


def odd(q: FloatField, r: FloatField):
    """Take roots of negative numbers.

    Args:
        q: anything [K] (in)
        r: what is left of it [m/s] (out)
    """
    with computation(PARALLEL), interval(0, 1):
        r = sqrt(q)
    with computation(PARALLEL), interval(1, None):
        r = 1.0 / max(q, 0.0)
`;

/** Puts a text in place of the one that is there. */
async function paste(t, text) {
  await pasteOver(t.page, text);
  await t.settled();
}

async function run(t) {
  await t.runHere();
  await t.ran("done", "numpy");
}

const drawing = (t) => t.page.locator(".figure .drawing").textContent();

/** Waits until the text of an element is like this. */
async function reads(t, id, like) {
  await t.page.waitForFunction(
    ({ id, like }) => new RegExp(like).test(document.querySelector(`[data-testid="${id}"]`)?.textContent ?? ""),
    { id, like: like.source },
  );
}

scenario("a picture has axes with numbers, a unit, and colours that suit it", async (t) => {
  await t.pick("copy_scale");
  await t.size(24, 16, 8);
  await run(t);
  const shown = await drawing(t);
  for (const wanted of ["q_out, k = ", "factor times that field", "i", "j", "20"]) {
    assert.ok(shown.includes(wanted), `${wanted} is not in ${shown}`);
  }
  // A wave around zero has a map with zero in its middle.
  assert.match(await t.get("map-select").locator("option").first().textContent(), /RdBu/);
  await soon(async () => {
    const [low, high] = (await t.get("range").textContent()).split(" … ").map(Number);
    assert.ok(low < 0 && low === -high, `${low} … ${high}`);
  });
  await t.get("map-select").selectOption("magma");
  await t.get("range-select").selectOption("fixed");
  await t.get("range-low").fill("-1");
  await t.get("range-low").blur();
  await t.get("range-high").fill("1");
  await t.get("range-high").blur();
  await reads(t, "range", /^-1 … 1$/);
  await reads(t, "clipped", /[1-9]\d* below, [1-9]\d* above/);
  await t.shot("fixed range");

  // A field without levels has none to choose from.
  await t.pick("column_physics");
  await t.size(16, 16, 16);
  await run(t);
  await t.get("field-select").selectOption("precip");
  await t.page.waitForFunction(() => !document.querySelector('[data-testid="k-slider"]'));
  assert.match(await drawing(t), /kg\/m2/);
});

scenario("sections, profile, line and histogram show the same field", async (t) => {
  await t.pick("vertical_advection");
  await t.size(16, 12, 20);
  await run(t);
  const plan = await t.hash();
  await t.get("view-section-j").click();
  await t.page.waitForFunction((old) => document.querySelector('[data-testid="field-canvas"]').dataset.hash !== old, plan);
  assert.match(await drawing(t), /k, downward/);
  const frame = await t.get("field-canvas").boundingBox();
  // The first level is the uppermost row.
  await t.page.mouse.click(frame.x + frame.width / 2, frame.y + 3);
  await reads(t, "cell-announcement", /k 0: /);
  await t.shot("section");

  await t.get("view-profile").click();
  await t.see("field-chart");
  await t.page.waitForFunction(() => /horizontal mean/.test(document.querySelector(".figure .drawing")?.textContent));
  await t.get("values-toggle").click();
  await t.page.waitForFunction(() => document.querySelectorAll('[data-testid="values-table"] tbody tr').length === 20);
  // What the table says at the cell is what the inspector says.
  const value = await t.page.locator('[data-testid="reading"][data-field="u_new"] [data-of="a"]').textContent();
  const first = t.get("values-table").locator("tbody tr").first().locator("td");
  assert.ok((await first.allTextContents()).map(Number).includes(Number(value)), value);
  await t.shot("profile");
  await t.get("cell-slider-i").fill("3");
  await t.page.waitForFunction(() => /i = 3/.test(document.querySelector(".figure .drawing")?.textContent));

  await t.get("view-line").click();
  await t.get("line-select").selectOption("j");
  await t.page.waitForFunction(() => document.querySelectorAll('[data-testid="values-table"] tbody tr').length === 12);
  await t.get("view-histogram").click();
  await t.get("histogram-select").selectOption("field");
  await t.page.waitForFunction(() => {
    const counts = document.querySelectorAll('[data-testid="values-table"] tbody tr td:last-child');
    return [...counts].reduce((n, it) => n + Number(it.textContent), 0) === 16 * 12 * 20;
  });
  await t.shot("histogram");
  await t.get("view-time").click();
  await t.see("no-steps");
  await t.get("view-plan").click();
  await t.see("field-canvas");
});

scenario("a cell is chosen by a click, moved by the arrow keys, and read in all digits", async (t) => {
  await t.pick("horizontal_diffusion");
  await t.size(20, 16, 4);
  await t.more("check");
  await t.ran("done", "debug");
  const frame = await t.get("field-canvas").boundingBox();
  await t.page.mouse.click(frame.x + frame.width * 0.52, frame.y + frame.height * 0.48);
  const cell = async () => (await t.get("inspector").getAttribute("data-cell")).split(",").map(Number);
  await t.see("inspector");
  const [i, j, k] = await cell();
  assert.deepEqual([i, j], [10, 8]);
  const canvas = t.get("field-canvas");
  await canvas.focus();
  await t.page.keyboard.press("ArrowRight");
  await t.page.keyboard.press("ArrowUp");
  await t.see("inspector", { "data-cell": `${i + 1},${j + 1},${k}` });
  await reads(t, "cell-announcement", new RegExp(`^i ${i + 1}, j ${j + 1}, k ${k}: -?[\\d.]+`));
  const of = (what) => t.page.locator(`[data-testid="reading"] [data-of="${what}"]`).first().textContent();
  assert.equal(await of("a"), await of("b"));
  assert.deepEqual([await of("difference"), await of("ulp")], ["0.0", "0"]);
  await soon(async () => {
    assert.equal(await t.get("neighbours").locator("td").count(), 9);
    const here = await t.get("neighbours").locator("td.here").textContent();
    assert.equal(Number(here).toPrecision(3), Number(await of("a")).toPrecision(3));
  });

  // What is identical says so, and has no statistics of A.
  await t.get("which").getByRole("button", { name: "A−B", exact: true }).click();
  await reads(t, "sameness", /^identical: all 1,280 values/);
  await reads(t, "range", /^identical/);
  await reads(t, "stat-max", /^max0/);
  await t.get("difference-select").selectOption("ulp");
  await reads(t, "sameness", /^identical/);
  await t.shot("identical");
  await t.get("inspector-close").click();
  await t.get("inspector").waitFor({ state: "detached" });
});

scenario("what is not finite is hatched, counted, and found", async (t) => {
  await paste(t, ODD);
  await run(t);
  await reads(t, "odd", /^120 NaN \(hatched\) and 600 Inf \(cross-hatched\) of 1,440 values/);
  assert.equal(await t.get("field-canvas").getAttribute("data-k"), "4");
  assert.match(await drawing(t), /r \(m\/s\)/);
  await t.shot("infinite");
  await t.get("go-nan").click();
  await t.see("field-canvas", { "data-k": "0" });
  await t.see("inspector", { "data-cell": "0,0,0" });
  await reads(t, "cell-announcement", /NaN m\/s$/);
  // A hatch has two colours beside each other where a value has one.
  const colours = await t.get("field-canvas").evaluate((canvas) => {
    const { data, width } = canvas.getContext("2d").getImageData(0, 0, canvas.width, 1);
    const cell = Math.floor(width / 20);
    const seen = (from) => new Set(Array.from({ length: cell }, (_, x) => data[(from + x) * 4])).size;
    return [seen(0), seen(19 * cell)];
  });
  assert.deepEqual(colours, [2, 1]);
  await t.get("go-inf").click();
  await t.see("field-canvas", { "data-k": "1" });
  await reads(t, "stat-nan", /^NaN0120$/);
});

scenario("a picture leaves as PNG and SVG, the fields as .npz, the values as text", async (t) => {
  await t.pick("copy_scale");
  await t.size(6, 4, 3);
  await run(t);
  await t.page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const folder = await mkdtemp(join(tmpdir(), "isobar-pictures-"));
  const save = async (id) => {
    const [download] = await Promise.all([t.page.waitForEvent("download"), t.get(id).click()]);
    const path = join(folder, download.suggestedFilename());
    await download.saveAs(path);
    return { path, name: download.suggestedFilename(), bytes: await readFile(path) };
  };
  try {
    const png = await save("export-png");
    assert.match(png.name, /^q_out-k\d+\.png$/);
    assert.equal(png.bytes.subarray(1, 4).toString(), "PNG");
    assert.ok(png.bytes.readUInt32BE(16) >= 640, "it is small");

    const svg = (await save("export-svg")).bytes.toString();
    for (const wanted of ["<svg", "q_out, k = ", "data:image/png;base64,", "numpy fp64", "</svg>"]) {
      assert.ok(svg.includes(wanted), `${wanted} is not in the file`);
    }
    const isWhole = await t.page.evaluate((text) => {
      return new DOMParser().parseFromString(text, "image/svg+xml").querySelector("parsererror") === null;
    }, svg);
    assert.ok(isWhole, "the SVG is no XML");

    const npz = await save("export-npz");
    assert.match(npz.name, /^copy_scale-A\.npz$/);
    const [q] = arrays(npz.bytes);
    assert.deepEqual([q.name, q.descr, q.shape], ["q_out.npy", "<f8", [6, 4, 3]]);
    await reads(t, "status", /copy_scale-A\.npz is saved/);

    await t.get("copy-csv").click();
    await reads(t, "status", /Copied/);
    const csv = await t.page.evaluate(() => navigator.clipboard.readText());
    const rows = csv.trim().split("\n").map((it) => it.split(","));
    assert.deepEqual([rows[0], rows.length], [["j\\i", "0", "1", "2", "3", "4", "5"], 5]);
    // The same numbers in both: [i, j, k] of the archive, row j and column i of the text.
    const k = Number(await t.get("field-canvas").getAttribute("data-k"));
    for (let i = 0; i < 6; i++) {
      for (let j = 0; j < 4; j++) assert.equal(Number(rows[j + 1][i + 1]), q.at(i, j, k), `${i} ${j} ${k}`);
    }
    // NumPy itself, where there is one.
    const check = `import sys, numpy; f = numpy.load(sys.argv[1]); print(f["q_out"].shape, float(f["q_out"][5, 3, 2]))`;
    const python = await promisify(execFile)(process.env.ISOBAR_PYTHON ?? "python3", ["-c", check, npz.path]).catch(() => null);
    if (!python) t.skip("no NumPy reads the archive; this file's own reader has");
    assert.equal(python.stdout.trim(), `(6, 4, 3) ${q.at(5, 3, 2)}`);
  } finally {
    await rm(folder, { recursive: true });
  }
});

/** The arrays of an archive without compression. */
function arrays(bytes) {
  const found = [];
  for (let at = 0; bytes.readUInt32LE(at) === 0x04034b50; ) {
    const [size, length, extra] = [bytes.readUInt32LE(at + 22), bytes.readUInt16LE(at + 26), bytes.readUInt16LE(at + 28)];
    const name = bytes.subarray(at + 30, at + 30 + length).toString();
    const data = bytes.subarray(at + 30 + length + extra, at + 30 + length + extra + size);
    const start = 10 + data.readUInt16LE(8);
    const header = data.subarray(10, start).toString();
    const shape = header.match(/'shape': \(([^)]*)\)/)[1].split(",").map(Number);
    const at_ = (...index) => data.readDoubleLE(start + 8 * index.reduce((n, it, axis) => n * shape[axis] + it, 0));
    found.push({ name, descr: header.match(/'descr': '([^']*)'/)[1], shape, at: at_ });
    at += 30 + length + extra + size;
  }
  return found;
}
