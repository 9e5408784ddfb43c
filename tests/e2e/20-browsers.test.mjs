// The way of a newcomer from end to end: Chromium goes it, and Firefox as well.

import assert from "node:assert/strict";
import { focusText, newcomer, scenario, soon } from "./harness.mjs";

/** Goes to the end of the text, by keys. */
async function toEnd(page) {
  await focusText(page);
  await page.keyboard.press("Control+End");
}

scenario("a newcomer types, errs, reads, shares, comes back and runs elsewhere", { page: "none", long: true }, async (t) => {
  const page = (t.page = await t.open(t.runner.url, newcomer));
  // The first screen moves.
  await t.see("clock", { "data-playing": "true" });
  await page.waitForFunction(() => Number(document.querySelector('[data-testid="clock"]')?.dataset.step ?? 0) > 2);
  await t.shot("1 first screen");

  // A mistake is shown where it is made, and gone when it is taken back.
  await toEnd(page);
  await page.keyboard.type("        h_out = nowhere");
  await page.locator('[data-testid="problem"]', { hasText: "nowhere" }).first().waitFor();
  await t.get("editor").locator(".cm-lintRange-error").first().waitFor();
  await t.shot("2 mistake");
  for (let key = 0; key < "nowhere".length; key++) await page.keyboard.press("Backspace");
  await page.keyboard.type("h + h");
  await page.locator('[data-testid="problem"]').first().waitFor({ state: "detached" });

  // What was typed runs in the tab, and can be read level by level.
  await page.keyboard.press("Control+Enter");
  await t.ran("done", "numpy");
  assert.ok((await t.colours()) > 8, "the picture has hardly any colours");
  for (const stage of ["oir", "c", "wgsl"]) {
    await t.show(stage);
    assert.ok((await t.lines(stage)).length > 10, stage);
  }
  await t.shot("3 run and C");

  // What is copied can be pasted.
  await page.keyboard.press("F6");
  await page.waitForFunction(() => document.activeElement.closest(".column-result"));
  await toEnd(page);
  await page.keyboard.type("\n# mine");
  const before = await t.text();
  await page.keyboard.press("Shift+Home");
  await page.keyboard.press("Control+c");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Control+v");
  await soon(async () => assert.equal(await t.text(), `${before}# mine`));
  await t.settled();
  const text = await t.text();

  // A link brings it to somebody else; a reload, and a load without the runner, bring it back.
  const other = await t.open(await t.link());
  await t.settled(other);
  assert.equal(await t.text(other), text);
  await page.reload();
  await t.see("app", { "data-ready": "true" });
  assert.equal(await t.text(), text);

  // Elsewhere the same field comes of it.
  await t.runHere();
  await t.ran("done", "numpy");
  const here = await t.hash();
  await t.runOnRunner();
  await t.ran("done", "rayon");
  assert.equal(await t.hash(), here);
  await t.shot("4 on the runner");
});

scenario("a newcomer reads a lesson, errs, and passes it", { page: "none" }, async (t) => {
  const page = (t.page = await t.open(t.runner.url, newcomer));
  await t.get("go-learn").click();
  await t.get("learn-next").click();
  await page.waitForFunction(() => document.querySelector('[data-testid="editor"]').editor.getDoc().includes("factor"));
  await t.get("check-lesson").click();
  await t.see("verdicts", { "data-state": "failed" });
  await t.toEnd();
  await page.keyboard.type(" * factor");
  await t.get("check-lesson").click();
  await t.see("verdicts", { "data-state": "passed" });
  await t.shot("passed");
  await page.reload();
  await t.see("lesson", { "data-passed": "true" });
});
