// What the editor knows: explanations, completions, definitions, names.

import assert from "node:assert/strict";
import { scenario } from "./harness.mjs";

/** The place of the `number`th `word` of the text, on the screen. */
async function placeOf(t, word, number = 0) {
  const place = await t.get("editor").evaluate(
    (it, [word, number]) => {
      let at = -1;
      for (let left = number; left >= 0; left--) at = it.editor.getDoc().indexOf(word, at + 1);
      return it.editor.placeOf(at);
    },
    [word, number],
  );
  assert.ok(place, `${word} is not seen`);
  return place;
}

async function click(t, word, number, options) {
  const { x, y } = await placeOf(t, word, number);
  await t.page.mouse.click(x, y, options);
}

/** The line that the caret is in. */
function caretLine(t) {
  return t.get("editor").evaluate((it) => it.shadowRoot.querySelector(".cm-activeLine")?.textContent ?? "");
}

scenario("a field under the pointer tells its type, its extent and the halo that it forces", async (t) => {
  await t.pick("horizontal_diffusion");
  const { x, y } = await placeOf(t, "q[1, 0, 0]");
  await t.page.mouse.move(x, y);
  const hover = await t.see("hover");
  const text = await hover.textContent();
  assert.match(text, /q: Field\[IJK, float64\]/);
  assert.match(text, /input field/);
  assert.match(text, /2 on both sides along I/);
  assert.match(text, /first use.*line/);
  await t.shot("hover");
});

scenario("what may be written is offered, and taken with Tab", async (t) => {
  await t.pick("copy_scale");
  await t.toEnd();
  await t.page.keyboard.type(" + sq");
  const list = t.get("editor").locator(".cm-tooltip-autocomplete");
  await list.locator("li", { hasText: "sqrt" }).first().waitFor();
  await t.page.keyboard.press("Tab");
  await list.waitFor({ state: "detached" });
  assert.match(await t.text(), / \+ sqrt\s*$/);
  await t.page.keyboard.type("(");
  assert.match(await (await t.see("signature")).textContent(), /sqrt\(x\)/);
});

scenario("what is typed while the compiler is asked what may be written is offered as well", async (t) => {
  await t.pick("copy_scale");
  await t.toEnd();
  // Questions about what may be written stay here until they are let go.
  await t.page.evaluate(() => {
    const post = Worker.prototype.postMessage;
    self.held = [];
    Worker.prototype.postMessage = function (...all) {
      if (self.held && JSON.stringify(all[0]).includes("complete")) self.held.push(() => post.apply(this, all));
      else post.apply(this, all);
    };
  });
  await t.page.keyboard.type(" + s");
  await t.page.waitForFunction(() => self.held.length > 0);
  await t.page.keyboard.type("q");
  await t.page.evaluate(() => {
    self.held.forEach((it) => it());
    self.held = null;
  });
  const list = t.get("editor").locator(".cm-tooltip-autocomplete");
  await list.locator("li", { hasText: "sqrt" }).first().waitFor();
});

scenario("a definition is gone to, and a name renamed wherever it stands", async (t) => {
  await t.pick("horizontal_diffusion");
  await click(t, "laplacian[1, 0, 0]");
  await t.page.keyboard.press("F12");
  await t.page.waitForFunction(() => {
    const line = document.querySelector('[data-testid="editor"]').shadowRoot.querySelector(".cm-activeLine");
    return line?.textContent.includes("laplacian = ");
  });
  assert.match(await caretLine(t), /laplacian = /);

  const before = await t.text();
  await t.page.keyboard.press("F2");
  const panel = await t.see("service-panel");
  await panel.locator("input").fill("alpha");
  await t.page.keyboard.press("Enter");
  await t.get("service-panel").filter({ hasText: "already" }).waitFor();
  await t.page.keyboard.press("Escape");

  await click(t, "laplacian = ");
  await t.page.keyboard.press("F2");
  await t.get("service-panel").locator("input").fill("curvature");
  await t.page.keyboard.press("Enter");
  await t.get("service-panel").waitFor({ state: "detached" });
  assert.equal(await t.text(), before.replaceAll("laplacian", "curvature"));
  await t.settled();
  assert.equal(await t.get("problem").count(), 0);
});

scenario("three mistakes show at once, beside a hover and a completion", async (t) => {
  await t.pick("horizontal_diffusion");
  await t.toEnd();
  await t.page.keyboard.type("\nq_out = alhpa\nq_out = laplacien\nq_out = q[0, 1]");
  await t.page.waitForFunction(
    () => document.querySelectorAll('[data-testid="problem"][data-severity="error"]').length >= 3,
  );
  const { x, y } = await placeOf(t, "coeff: FloatField");
  await t.page.mouse.move(x, y);
  await t.see("hover");
  await t.shot("hover and three errors");
  await t.toEnd();
  await t.page.keyboard.type(" + q[");
  await t.get("editor").locator(".cm-tooltip-autocomplete li", { hasText: "-1, 0, 0" }).first().waitFor();
  await t.shot("completion and three errors");
});
