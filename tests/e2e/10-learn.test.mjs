// Lessons, gallery, manual: what somebody meets who knows nothing yet.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { focusText, newcomer, pasteOver, scenario } from "./harness.mjs";

const HOME = new URL("../../static/lessons/first-course/", import.meta.url);
const file = (lesson, name) => readFileSync(new URL(`${lesson}/${name}`, HOME), "utf8");

/** Waits for the lesson's text in the editor. */
async function begun(t, page, lesson) {
  await page.locator(`[data-testid="lesson"][data-lesson="${lesson}"]`).waitFor();
  const start = file(lesson, "start.py");
  await page.waitForFunction(
    (start) => document.querySelector('[data-testid="editor"]').editor.getDoc() === start,
    start,
  );
}

async function check(t, page, wanted) {
  await t.settled(page).catch(() => {});
  await t.get("check-lesson", page).click();
  await page.locator(`[data-testid="verdicts"][data-state="${wanted}"]`).waitFor();
}

scenario("a newcomer goes from the first screen through three lessons to a link", { page: "none", long: true }, async (t) => {
  const page = await t.open(t.runner.url, newcomer);
  await t.shot("1 first screen", page);
  await t.get("go-learn", page).click();
  await t.get("lesson-card", page).first().waitFor();
  assert.equal(await t.get("lesson-card", page).count(), 15);
  await t.shot("2 the list", page);
  await t.get("learn-next", page).click();

  await begun(t, page, "01-first");
  await t.shot("3 lesson one", page);
  await check(t, page, "failed");
  // What was found and what is expected, and the difference in the picture.
  const found = await page.locator('[data-testid="verdict"][data-state="failed"]').first().textContent();
  assert.match(found, /found .+ expected /);
  await page.locator('[data-testid="field-canvas"][data-hash]').waitFor();
  await t.shot("4 not yet", page);
  await t.get("take-hint", page).click();
  await t.get("hint", page).first().waitFor();
  await focusText(page);
  await page.keyboard.press("Control+End");
  const { length } = (await t.text(page)).match(/\n*$/)[0];
  for (let line = 0; line < length; line++) await page.keyboard.press("ArrowLeft");
  await page.keyboard.type(" * factor");
  await check(t, page, "passed");
  // What was written has run, and can be seen.
  await page.locator('[data-testid="provenance"]', { hasText: "A: numpy" }).waitFor();
  await t.shot("5 lesson one passed", page);

  for (const lesson of ["02-neighbours", "03-vertical"]) {
    await t.get("lesson-next", page).click();
    await begun(t, page, lesson);
    await pasteOver(page, file(lesson, "solution.py"));
    const quiz = t.get("quiz", page).first();
    const right = lesson === "02-neighbours" ? "35" : "Any; PARALLEL is the best";
    await quiz.locator('[data-testid="quiz-option"]', { hasText: right }).locator("input").check();
    await page.locator('[data-testid="quiz-option"][data-state="right"]').waitFor();
    await check(t, page, "passed");
    await t.shot(`6 ${lesson} passed`, page);
  }

  // What was made goes on to somebody else.
  await t.get("share", page).click();
  const link = await (await t.see("share-link", {}, page)).inputValue();
  await t.shot("7 a link to it", page);
  await page.keyboard.press("Escape");
  const friend = await t.open(link, newcomer);
  assert.equal(await t.text(friend), file("03-vertical", "solution.py"));
  await t.get("run", friend).click();
  await t.ran("done", undefined, friend);
  await t.shot("8 what the link opens", friend);

  // The list knows, after a reload too; and the first screen's own text is back.
  await page.goto(`${t.runner.origin}/#/learn`);
  await page.reload();
  await page.waitForFunction(
    () => document.querySelectorAll('[data-testid="lesson-card"][data-state="passed"]').length === 3,
  );
  await t.shot("9 three are passed", page);
  await t.get("go-editor", page).click();
  await page.locator('[data-testid="app"][data-view="editor"]').waitFor();
  assert.match(await t.text(page), /geostrophic_adjustment/);
});

scenario("a lesson takes nothing of one's own text, and keeps what was typed in it", async (t) => {
  const page = t.page;
  const own = "# mine alone\n";
  await pasteOver(page, own);
  await page.goto(`${t.runner.url.split("#")[0]}#/learn/first-course/02-neighbours`);
  await begun(t, page, "02-neighbours");
  await pasteOver(page, "# a draft\n");
  await t.get("go-editor").click();
  await page.waitForFunction(
    (own) => document.querySelector('[data-testid="editor"]').editor.getDoc() === own,
    own,
  );
  await page.goBack();
  await page.waitForFunction(() => document.querySelector('[data-testid="editor"]').editor.getDoc() === "# a draft\n");
  // An example of the gallery comes beside it as well.
  await page.goto(`${t.runner.url.split("#")[0]}#/gallery`);
  await t.get("gallery-card").first().waitFor();
  assert.ok((await t.get("gallery-card").count()) >= 18);
  await t.shot("gallery");
  await page.locator('[data-testid="gallery-card"][data-entry="tracer_advection"] .card-open').click();
  await page.waitForFunction(() =>
    document.querySelector('[data-testid="editor"]').editor.getDoc().includes("def tracer_advection"),
  );
  await t.get("opened").click();
  await t.get("texts").locator('[data-testid="text"]', { hasText: "Your text" }).first().click();
  await page.waitForFunction(
    (own) => document.querySelector('[data-testid="editor"]').editor.getDoc() === own,
    own,
  );
});

scenario("words explain themselves, and the manual is part of the page", async (t) => {
  const page = t.page;
  await page.goto(`${t.runner.url.split("#")[0]}#/learn/first-course/02-neighbours`);
  await begun(t, page, "02-neighbours");
  await page.locator('.term[data-term="halo"]').first().focus();
  const card = await t.see("term-card");
  assert.match(await card.textContent(), /Points around the domain/);
  await t.shot("card");
  await page.keyboard.press("Escape");
  await card.waitFor({ state: "detached" });
  await page.locator('.term[data-term="extent"]').first().hover();
  await t.see("term-card");
  await page.keyboard.press("Escape");
  // A drawing goes step by step, and only when one asks.
  const next = t.get("figure-next").first();
  await next.click();
  await page.locator(".figure-caption", { hasText: "to the east" }).waitFor();

  await page.goto(`${t.runner.url.split("#")[0]}#/manual/diagnostics/e18`);
  await page.locator('[data-testid="manual-text"] h3[id^="h-e18"]').waitFor();
  await t.shot("manual");
});

scenario("a learner takes progress along, and a teacher presents", async (t) => {
  const page = t.page;
  const base = t.runner.url.split("#")[0];
  await page.goto(`${base}#/learn/first-course/01-first`);
  await begun(t, page, "01-first");
  await pasteOver(page, file("01-first", "solution.py"));
  await check(t, page, "passed");
  await t.get("show-solution").click();
  await t.see("solution");
  await page.goto(`${base}#/learn`);
  const [download] = await Promise.all([page.waitForEvent("download"), t.get("progress-export").click()]);
  const path = await download.path();
  const saved = JSON.parse(readFileSync(path, "utf8"));
  assert.equal(saved.lessons["first-course/01-first"].is_passed, true);
  await t.get("progress-reset").click();
  await t.get("progress-reset-sure").click();
  await page.locator('[data-testid="lesson-card"][data-state="passed"]').first().waitFor({ state: "detached" });
  await t.get("progress-import").setInputFiles(path);
  await page.locator('[data-testid="lesson-card"][data-state="passed"]').first().waitFor();

  await page.goto(`${base}#/learn?present`);
  await page.locator('[data-testid="app"][data-present="true"]').waitFor();
  await t.get("lesson-card").first().locator("a").click();
  await t.see("lesson", { "data-lesson": "01-first" });
  await t.shot("present");
  assert.equal(await t.get("show-solution").count(), 0);
});
