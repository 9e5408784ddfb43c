// What the page compiles and what the command line does: one compiler on two machines.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { keepCompilations, scenario, STAGES } from "./harness.mjs";

/** The gallery in parts, each of which is done within a scenario's time. */
const PARTS = 3;

for (let part = 0; part < PARTS; part++) {
  scenario(`every level of the gallery has the same bytes in the page and on the command line, part ${part + 1}`, { page: "none", long: true }, async (t) => {
    t.page = await t.open(t.runner.url, keepCompilations);
    const entries = (await t.examples()).filter((_, at) => at % PARTS === part);
    const folder = await mkdtemp(join(tmpdir(), "isobar-bytes-"));
    let compared = 0;
    try {
      for (const entry of entries.filter((it) => it !== "")) {
        await t.pick(entry);
        const texts = new Map();
        const keep = async () => {
          const last = await t.page.evaluate(() => window.compilations.at(-1));
          for (const { stage, text } of last.compiled.stages) texts.set(stage, text);
          return last;
        };
        let { request, compiled } = await keep();
        // A program has one more.
        const isProgram = await t.get("stage-tab-program").isVisible();
        const stages = isProgram ? ["program", ...STAGES] : STAGES;
        for (const stage of stages) {
          await t.show(stage);
          // What came first may be half of it.
          ({ compiled } = await keep());
        }
        const [[name, text]] = Object.entries(request.files);
        const file = join(folder, name);
        await writeFile(file, text);
        const arguments_ = ["emit", file, "--stage", "all", "--format", "json"];
        const { stdout } = await promisify(execFile)(process.env.ISOBAR_BIN, arguments_, { maxBuffer: 1 << 26 });
        const native = JSON.parse(stdout);
        assert.deepEqual(native.stages.map((it) => it.stage), stages, entry);
        for (const { stage, text } of native.stages) {
          assert.equal(texts.get(stage), text, `${entry}: ${stage}`);
          compared += 1;
        }
        const messages = (of) => of.remarks.map((it) => `${it.pass}: ${it.message}`);
        assert.deepEqual(messages(compiled), messages(native), entry);
      }
    } finally {
      await rm(folder, { recursive: true });
    }
    assert.ok(compared >= 5 * STAGES.length, `${compared}`);
  });
}
