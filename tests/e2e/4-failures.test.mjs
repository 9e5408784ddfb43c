// What goes wrong costs a job, never the text.

import assert from "node:assert/strict";
import { scenario } from "./harness.mjs";

/** Makes the next job long enough to be caught at work. */
async function enlarge(t) {
  await t.pick("column_physics");
  await t.size(256, 256, 80);
}

scenario("a job on the runner can be cancelled", async (t) => {
  await enlarge(t);
  await t.get("run-runner").click();
  await t.see("progress");
  await t.get("cancel").click();
  await t.ran("cancelled");
  await t.shot("cancelled");
  await t.size(16, 16, 16);
  await t.get("run-runner").click();
  await t.see("run-result", { "data-state": "done", "data-backend": "openmp" });
});

scenario("a runner that is killed at work is reported, and the tab works on", async (t) => {
  await enlarge(t);
  await t.toEnd();
  await t.page.keyboard.type("  # precious");
  const before = await t.text();
  await t.get("run-runner").click();
  await t.see("run-result", { "data-state": "working" });
  await t.see("connection", { "data-state": "connected" });
  await t.runner.kill();
  await t.ran("failed");
  await t.see("connection", { "data-state": "lost" });
  assert.match((await t.get("run-error").allTextContents()).join(" "), /runner/i);
  await t.shot("killed");

  assert.equal(await t.text(), before);
  await t.size(16, 16, 16);
  await t.get("run-debug").click();
  await t.see("run-result", { "data-state": "done", "data-backend": "debug" });
  assert.equal(await t.text(), before);
});

scenario("a domain that is too large is refused with both numbers", async (t) => {
  await t.pick("copy_scale");
  await t.size(30000, 30000, 30000);
  await t.get("run-debug").click();
  await t.ran("failed");
  assert.match((await t.get("run-error").allTextContents()).join(" "), /\d/);
  await t.shot("refused");
});
