// What everybody can use: checked by axe, in three themes and at the widths that people have.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { newcomer, resize, scenario } from "./harness.mjs";

const require = createRequire(new URL("../../web/editor/package.json", import.meta.url));
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

/** What axe finds wrong with what is shown. */
async function violations(page, screen) {
  await page.evaluate(axe);
  // A panel covers parts of what lies below it, which axe takes for small targets.
  const isCovered = (await page.locator(".popover-panel:not([hidden])").count()) > 0;
  const { violations } = await page.evaluate(
    (isCovered) =>
      window.axe.run(document, {
        runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
        rules: { "target-size": { enabled: !isCovered } },
      }),
    isCovered,
  );
  return violations.map(({ id, nodes }) => `${screen}: ${id}: ${nodes.slice(0, 3).map((it) => it.target.join(" ")).join(" | ")}`);
}

/** Every screen, and how one comes there from the one before. */
const SCREENS = [
  ["a result", async () => {}],
  ["what is open", (t, page) => t.unfolded("opened", page)],
  ["size", async (t, page) => {
    await page.keyboard.press("Escape");
    await t.unfolded("size", page);
  }],
  ["more", async (t, page) => {
    await page.keyboard.press("Escape");
    await t.unfolded("more", page);
  }],
  ["help", async (t, page) => {
    await t.get("help", page).click();
    await t.get("help-dialog", page).waitFor();
  }],
  ["share", async (t, page) => {
    await t.get("help-close", page).click();
    await t.get("share", page).click();
    await t.get("share-link", page).waitFor();
  }],
  ["lessons", async (t, page) => {
    await page.keyboard.press("Escape");
    await t.get("share-link", page).waitFor({ state: "hidden" });
    await t.get("go-learn", page).click();
    await t.get("lesson-card", page).first().waitFor();
  }],
  ["a lesson", async (t, page) => {
    await t.get("lesson-card", page).nth(1).locator("a").first().click();
    await t.get("check-lesson", page).waitFor();
    await t.settled(page);
  }],
  ["gallery", async (t, page) => {
    await t.get("go-gallery", page).click();
    await t.get("gallery-card", page).first().waitFor();
  }],
  ["manual", async (t, page) => {
    await t.get("go-manual", page).click();
    await t.get("manual-view", page).locator("a").first().waitFor();
  }],
];

for (const [theme, media] of [
  ["light", { colorScheme: "light" }],
  ["dark", { colorScheme: "dark" }],
  ["forced colours", { forcedColors: "active" }],
]) {
  scenario(`axe finds nothing on any screen, ${theme}`, { page: "none", long: true }, async (t) => {
    t.media = { ...media, reducedMotion: "reduce" };
    const page = await t.visit(t.runner.url, newcomer);
    await t.see("run-result", { "data-state": "done" }, page);
    const found = [];
    for (const [screen, go] of SCREENS) {
      await go(t, page);
      found.push(...(await violations(page, screen)));
      await t.shot(screen, page);
    }
    assert.deepEqual(found, []);
  });
}

for (const [width, height, what] of [
  [1440, 900, "desktop"],
  [1280, 720, "laptop"],
  [1024, 768, "tablet"],
  [390, 844, "phone"],
  [320, 256, "a window at 400 %"],
]) {
  scenario(`nothing is cut off and the editor has room on ${what}`, { page: "none" }, async (t) => {
    const page = await t.open(t.runner.url);
    await resize(page, width, height);
    const { overflow, bar, editor, scrolls } = await page.evaluate(() => ({
      overflow: document.documentElement.scrollWidth - innerWidth,
      bar: document.querySelector(".bar").getBoundingClientRect().height,
      editor: document.querySelector('[data-testid="editor"]').getBoundingClientRect().height,
      scrolls: document.documentElement.scrollHeight > innerHeight,
    }));
    assert.ok(overflow <= 0, `the page is ${overflow} pixels too wide`);
    assert.ok(bar <= 56, `the bar takes ${bar} pixels`);
    assert.ok(editor >= Math.min(120, height / 2) || scrolls, `the editor is ${editor} pixels high`);
    await t.shot("page", page);
  });
}
