// A text from a model is pasted, and runs.

import assert from "node:assert/strict";
import { deflateRawSync } from "node:zlib";
import { focusText, pasteOver, scenario } from "./harness.mjs";

/** In the style of a model's file: two stencils, externals, constants of a known module, a class that builds one. */
const MODEL = `import made_up_dycore.grid as grid
from ndsl.constants import GRAV, RDGAS
from ndsl.dsl.gt4py import BACKWARD, FORWARD, PARALLEL, computation, horizontal, interval, region
from ndsl.dsl.typing import FloatField, FloatFieldIJ, FloatFieldK


def edge_flux(u: FloatField, delp: FloatField, rarea: FloatFieldIJ, flux: FloatField):
    from __externals__ import i_start, order_x, hydrostatic

    with computation(PARALLEL), interval(...):
        if order_x < 7:
            flux = u * (delp + delp[-1, 0, 0]) * 0.5
        else:
            flux = u * delp
        with horizontal(region[i_start, :]):
            flux = 0.0
        if __INLINED(not hydrostatic):
            flux = flux + rarea


def heights(pt: FloatField, delp: FloatField, hs: FloatFieldIJ, ak: FloatFieldK, gz: FloatField, dt: float):
    with computation(BACKWARD):
        with interval(-1, None):
            gz = hs * GRAV + dt * 0.0
        with interval(0, -1):
            gz = gz[0, 0, 1] + RDGAS * pt * delp / (ak + 50000.0)


class Fluxes:
    def __init__(self, stencil_factory, config):
        self._flux = stencil_factory.from_origin_domain(
            func=edge_flux,
            externals={"order_x": config.order_x, "hydrostatic": config.hydrostatic},
        )
`;

const USES_MODULE = `from gt4py.cartesian.gtscript import PARALLEL, Field, computation, interval
from model.stencils.smoothing import smoothed


def smooth(q: Field[float], out: Field[float]):
    with computation(PARALLEL), interval(...):
        out = smoothed(q)
`;

const MODULE = `from gt4py.cartesian import gtscript


@gtscript.function
def smoothed(q):
    return 0.5 * q + 0.125 * (q[1, 0, 0] + q[-1, 0, 0] + q[0, 1, 0] + q[0, -1, 0])
`;

/** Puts a text in place of the one that is there. */
async function paste(t, text) {
  await pasteOver(t.page, text);
  assert.equal(await t.text(), text);
}

const errors = (t) => t.page.locator('[data-testid="problem"][data-severity="error"]');

scenario("a file with two stencils and unknown inputs is pasted, and shows a field after Run", async (t) => {
  await paste(t, MODEL);
  await t.settled();
  assert.deepEqual(await errors(t).allTextContents(), []);
  const stencil = await t.see("stencil-select");
  assert.equal(await stencil.locator("option:checked").textContent(), "edge_flux");
  await t.get("drawer-problems").click();
  assert.match(await (await t.see("made-up")).textContent(), /3 fields.* and 2 externals/);
  await t.shot("pasted");

  await t.runHere();
  await t.ran("done");
  await t.see("field-canvas");
  assert.ok((await t.colours()) > 5, "the picture shows something");
  assert.match(await t.get("provenance").textContent(), /inputs made up/);

  // Its inputs are made up, are marked so, and can be changed.
  await t.unfold();
  const generator = await t.see("generator-delp");
  assert.match(await t.get("input-field-delp").textContent(), /made up/);
  await generator.fill("gauss(1)");
  await generator.press("Enter");
  const wrong = t.get("input-field-delp").locator('[role="alert"]');
  assert.match(await wrong.textContent(), /there is no generator `gauss`/);
  await t.get("generator-delp").fill("constant(2)");
  await t.get("generator-delp").press("Enter");
  await wrong.waitFor({ state: "detached" });
  assert.match(await t.get("input-field-delp").textContent(), /set here/);
});

scenario("picker and editor follow each other", async (t) => {
  await paste(t, MODEL);
  await t.settled();
  const stencil = await t.see("stencil-select");
  await stencil.selectOption({ label: "heights" });
  await t.settled();
  await t.page.waitForFunction(() => {
    const line = document.querySelector('[data-testid="editor"]').shadowRoot.querySelector(".cm-activeLine");
    return line?.textContent.includes("def heights(");
  });
  // The caret goes into the other one.
  await focusText(t.page);
  await t.page.keyboard.press("Control+Home");
  const first = MODEL.split("\n").findIndex((it) => it.startsWith("def edge_flux")) + 2;
  for (let line = 0; line < first; line++) await t.page.keyboard.press("ArrowDown");
  await t.page.waitForFunction(() => {
    const select = document.querySelector('[data-testid="stencil-select"]');
    return select?.selectedOptions[0]?.textContent === "edge_flux";
  });
  await t.settled();
});

scenario("what is made up is written into the text, and stays", async (t) => {
  await paste(t, MODEL);
  await t.settled();
  await t.get("drawer-problems").click();
  await (await t.see("write-down")).click();
  await t.settled();
  const text = await t.text();
  for (const line of [/^# @stencil edge_flux$/m, /^# @domain 32 32 20$/m, /^# @external order_x = \d+$/m, /^# @input delp sum\(/m]) {
    assert.match(text, line);
  }
  assert.ok(text.endsWith(MODEL), "the rest of the text is as it was");
  await t.get("made-up").waitFor({ state: "detached" });
  // The lines are a card above the text, which changes them.
  await t.see("head-card");
  await t.get("head-toggle").click();
  const domain = t.get("head-domain");
  await domain.fill("16 16 10");
  await domain.press("Enter");
  await t.settled();
  assert.match(await t.text(), /^# @domain 16 16 10$/m);
  await t.runHere();
  await t.ran("done");
  await t.shot("written-down");
});

scenario("a module that is missing is asked for by name, and its text is pasted into a file of its own", async (t) => {
  await paste(t, USES_MODULE);
  await t.get("drawer-problems").click();
  const missing = await t.see("missing-module", { "data-module": "model.stencils.smoothing" });
  assert.match(await missing.textContent(), /smoothed/);
  await t.shot("missing");
  await missing.locator('[data-testid="paste-module"]').click();
  await t.see("file-model/stencils/smoothing.py", { "aria-selected": "true" });
  await paste(t, MODULE);
  await t.get("missing-module").waitFor({ state: "detached" });
  await t.settled();
  // Problems wait until the keyboard rests.
  await errors(t).first().waitFor({ state: "detached" });
  await t.runHere();
  await t.ran("done");

  // A link carries both files.
  const link = await t.link();
  const other = await t.open(link);
  await t.see("file-model/stencils/smoothing.py", {}, other);
  await t.get("file-main.py").click();
  assert.equal(await t.text(), USES_MODULE);
});

/** An archive of these files, each deflated. */
function zip(files) {
  const table = Array.from({ length: 256 }, (_, n) => {
    for (let bit = 0; bit < 8; bit++) n = n & 1 ? (n >>> 1) ^ 0xedb88320 : n >>> 1;
    return n >>> 0;
  });
  const crc = (bytes) => ~bytes.reduce((sum, byte) => table[(sum ^ byte) & 255] ^ (sum >>> 8), -1) >>> 0;
  const [parts, list] = [[], []];
  let offset = 0;
  for (const [name, text] of files) {
    const content = Buffer.from(text);
    const packed = deflateRawSync(content);
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(8, 4);
    shared.writeUInt32LE(crc(content), 10);
    shared.writeUInt32LE(packed.length, 14);
    shared.writeUInt32LE(content.length, 18);
    shared.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), shared, Buffer.from(name), packed]);
    const behind = Buffer.alloc(14);
    behind.writeUInt32LE(offset, 10);
    list.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\x00"), shared, behind, Buffer.from(name)]));
    parts.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(list);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.length, 4);
  end.writeUInt16LE(files.length, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, directory, Buffer.from("PK\x05\x06"), end]);
}

/** Drops a file on the editor. */
async function drop(t, name, type, bytes) {
  const file = { name, type, bytes: [...bytes] };
  await t.page.evaluate(({ name, type, bytes }) => {
    const data = new DataTransfer();
    data.items.add(new File([new Uint8Array(bytes)], name, { type }));
    const drop = new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true });
    document.querySelector('[data-testid="editor"]').dispatchEvent(drop);
  }, file);
}

/** A notebook of format 4 with these code cells, behind a cell of prose. */
function notebook(cells) {
  const code = cells.map((source) => ({ cell_type: "code", source, metadata: {}, outputs: [], execution_count: null }));
  const prose = { cell_type: "markdown", source: ["# Smoothing\n"], metadata: {} };
  return Buffer.from(JSON.stringify({ nbformat: 4, nbformat_minor: 5, metadata: {}, cells: [prose, ...code] }));
}

scenario("a notebook is dropped: its code cells are one text, and problems name the cell", async (t) => {
  const text = USES_MODULE.replace("from model.stencils.smoothing import smoothed\n", "").replace("smoothed(q)", "rate * q");
  const cells = ["%matplotlib inline\nimport numpy as np\n", "rate = 0.5\n", text];
  await drop(t, "smooth.ipynb", "application/x-ipynb+json", notebook(cells));
  await t.see("file-smooth.py", { "aria-selected": "true" });
  await t.settled();
  const lines = (await t.text()).split("\n");
  assert.deepEqual(lines.slice(0, 5), ["# %% cell 2", "pass", "import numpy as np", "# %% cell 3", "rate = 0.5"]);
  assert.deepEqual(await errors(t).allTextContents(), []);
  await t.runHere();
  await t.ran("done");

  await drop(t, "smooth.ipynb", "application/x-ipynb+json", notebook([...cells.slice(0, 2), text.replace("rate", "ratio")]));
  await t.get("drawer-problems").click();
  const problem = errors(t).first();
  await problem.waitFor();
  assert.match(await problem.textContent(), /ratio.* cell 4, line 6/);
  await t.shot("notebook");

  await drop(t, "broken.ipynb", "application/x-ipynb+json", Buffer.from("{"));
  await t.page.getByText(/broken\.ipynb/).first().waitFor();
  assert.match(await t.text(), /ratio \* q/);
});

scenario("a text without a stencil says so, and cannot run", async (t) => {
  await paste(t, '{"cells": 3}\n');
  await t.get("drawer-problems").click();
  const problem = errors(t).first();
  await problem.waitFor();
  assert.match(await problem.textContent(), /E91/);
  assert.equal(await t.get("run").isDisabled(), true);
});

scenario("an archive of a model is dropped, and its stencils are offered across files", async (t) => {
  const bytes = zip([
    ["model/stencils/smooth.py", USES_MODULE],
    ["model/stencils/smoothing.py", MODULE],
    ["model/README.md", "not Python"],
    ["../escape.py", "x = 1\n"],
  ]);
  await drop(t, "model.zip", "application/zip", bytes);
  await t.see("file-model/stencils/smooth.py", { "aria-selected": "true" });
  await t.settled();
  assert.equal(await t.text(), USES_MODULE);
  assert.equal(await t.get("file-../escape.py").count(), 0);
  assert.deepEqual(await errors(t).allTextContents(), []);
  await t.shot("dropped");
  await t.runHere();
  await t.ran("done");

  // Files are renamed and closed, by keyboard too.
  const tab = await t.see("file-model/stencils/smoothing.py");
  await tab.click();
  assert.equal(await t.text(), MODULE);
  await tab.press("F2");
  await t.get("file-name").fill("../up.py");
  await t.get("file-name").press("Enter");
  assert.match(await t.page.locator("#file-name-why").textContent(), /no name for a file/);
  await t.get("file-name").fill("other.py");
  await t.get("file-name").press("Enter");
  const renamed = await t.see("file-other.py", { "aria-selected": "true" });
  // The module has another name now.
  await errors(t).first().waitFor({ state: "attached" });
  await renamed.press("Delete");
  await renamed.waitFor({ state: "detached" });
  assert.equal(await t.text(), USES_MODULE);
});

scenario("a file with functions alone says so, and offers a stencil that calls one", async (t) => {
  await paste(t, MODULE);
  await t.get("drawer-problems").click();
  assert.match(await (await t.see("functions-only")).textContent(), /1 function .*smoothed.* no stencil/);
  await t.get("write-stencil").click();
  await t.settled();
  assert.deepEqual(await errors(t).allTextContents(), []);
  await t.runHere();
  await t.ran("done");
});
