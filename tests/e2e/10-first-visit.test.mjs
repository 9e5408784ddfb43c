// What somebody sees who was never here, and finds again.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { countQuestions, focusText, isKept, keptTexts, newcomer, scenario, workersRest, writeLine } from "./harness.mjs";

const step = async (t, page) => Number((await t.get("clock", page).getAttribute("data-step")) ?? 0);

scenario("a first visit shows a field that moves, and a slider moves it otherwise", { page: "none" }, async (t) => {
  const page = await t.open(t.runner.url, newcomer, countQuestions);
  await t.see("clock", { "data-playing": "true" }, page);
  await page.waitForFunction(() => Number(document.querySelector('[data-testid="clock"]')?.dataset.step ?? 0) > 2);
  const before = await t.get("field-canvas", page).getAttribute("data-hash");
  await page.waitForFunction(
    (hash) => document.querySelector('[data-testid="field-canvas"]').dataset.hash !== hash,
    before,
  );
  await t.shot("plays", page);

  // Paused, it stays; one step further it is another picture.
  await t.get("play", page).click();
  await page.waitForFunction(() => !document.querySelector('[data-testid="clock"]').dataset.playing);
  // A step that was on its way may still come; after that none does, which only time shows.
  let at = -1;
  for (let looked = 0; looked < 20 && at !== (await step(t, page)); looked++) {
    at = await step(t, page);
    await page.waitForTimeout(500);
  }
  assert.equal(await step(t, page), at);
  await workersRest(page);
  const still = await t.get("field-canvas", page).getAttribute("data-hash");
  await t.get("step", page).click();
  await page.waitForFunction((at) => Number(document.querySelector('[data-testid="clock"]').dataset.step) === at + 1, at);
  await workersRest(page);

  // A scalar is a slider, and the picture follows it.
  const hash = await t.get("field-canvas", page).getAttribute("data-hash");
  assert.notEqual(hash, still);
  await t.get("slider-f", page).focus();
  await page.keyboard.press("End");
  await page.waitForFunction(
    (hash) => document.querySelector('[data-testid="field-canvas"]').dataset.hash !== hash,
    hash,
  );
  await workersRest(page);
  await t.get("restart", page).click();
  await page.waitForFunction(() => document.querySelector('[data-testid="clock"]').dataset.step === "1");
});

scenario("nothing moves by itself for who asks for that", { page: "none" }, async (t) => {
  t.media = { reducedMotion: "reduce" };
  const page = await t.visit(t.runner.url, newcomer);
  await page.locator('[data-testid="clock"][data-step="1"]').waitFor({ state: "attached" });
  // That no step follows, only time shows.
  await page.waitForTimeout(300);
  assert.equal(await step(t, page), 1);
  assert.equal(await t.get("clock", page).getAttribute("data-playing"), null);
});

scenario("an edit ends the playing, and what is shown says that it is older", { page: "none" }, async (t) => {
  const page = await t.open(t.runner.url, newcomer);
  await page.waitForFunction(() => Number(document.querySelector('[data-testid="clock"]')?.dataset.step ?? 0) > 1);
  await focusText(page);
  await page.keyboard.press("Control+End");
  await page.keyboard.type("# mine");
  await page.waitForFunction(() => !document.querySelector('[data-testid="clock"]').dataset.playing);
  await t.get("provenance", page).getByText("from before your edit").waitFor();
  assert.match(await t.get("text-name", page).textContent(), /edited/);
});

scenario("an example never takes the place of a text that somebody wrote", async (t) => {
  const { page } = t;
  await writeLine(page, "# words of mine\n");
  await t.pick("copy_scale");
  assert.equal(await t.get("text-name").textContent(), "Copy and scale");
  assert.doesNotMatch(await t.text(), /words of mine/);
  await t.unfolded("opened");
  await t.get("text").filter({ hasText: "Horizontal diffusion, edited" }).click();
  await page.waitForFunction(() => document.querySelector('[data-testid="editor"]').editor.getDoc().includes("words of mine"));
  // It is there after the next load as well.
  await page.reload();
  await page.locator('[data-testid="app"][data-ready="true"]').waitFor({ state: "attached" });
  assert.match(await t.text(), /words of mine/);
});

scenario("an example takes no text's place of which nobody can tell yet whether it was edited", { page: "none" }, async (t) => {
  // The example that the text began as never comes.
  const page = await t.open(t.runner.url, () => {
    const own = window.fetch;
    window.fetch = (what, ...more) => {
      const isWaited = String(what.url ?? what).includes("gallery/horizontal_diffusion");
      return isWaited ? new Promise(() => {}) : own(what, ...more);
    };
  });
  await focusText(page);
  await page.keyboard.press("Control+End");
  await page.keyboard.type("# words of mine\n");
  await t.pick("copy_scale", page);
  await t.unfolded("opened", page);
  await t.get("text", page).filter({ hasText: "Horizontal diffusion" }).click();
  await page.waitForFunction(() => document.querySelector('[data-testid="editor"]').editor.getDoc().includes("words of mine"));
  // The one that is shown is no copy of itself.
  await t.unfolded("opened", page);
  await t.get("text", page).filter({ hasText: "Horizontal diffusion" }).click();
  // That no notice comes, only time shows.
  await page.waitForTimeout(300);
  assert.equal(await page.getByText("open in another tab").count(), 0);
});

scenario("all texts leave as one archive, and everything is deleted when somebody means it", async (t) => {
  const { page } = t;
  await writeLine(page, "# words of mine\n");
  await t.unfolded("opened");
  await t.get("new-text").click();
  await t.settled();
  await isKept(page, "# @title New stencil");

  await t.unfolded("opened");
  await t.get("text").nth(1).waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), t.get("save-texts").click()]);
  const bytes = (await readFile(await download.path())).toString("latin1");
  for (const name of ["1-New-stencil/main.py", "2-Horizontal-diffusion-edited/main.py"]) {
    assert.ok(bytes.includes(name), `no ${name} in the archive`);
  }

  await t.get("forget-everything").click();
  await t.shot("asked");
  await t.get("keep-everything").click();
  assert.equal(await t.get("text").count(), 2, "who was asked and keeps it has it");
  await t.get("forget-everything").click();
  const kept = async () => ({
    texts: (await page.evaluate(keptTexts)).map(({ id }) => id),
    keys: await page.evaluate(() => Object.keys(localStorage)),
  });
  const before = await kept();
  assert.ok(before.texts.length >= 2 && before.keys.some((it) => it.startsWith("isobar.text.")));
  await Promise.all([page.waitForEvent("load"), t.get("forget-everything-now").click()]);
  await page.locator('[data-testid="app"][data-ready="true"]').waitFor({ state: "attached" });
  assert.doesNotMatch(await t.text(), /words of mine/);
  const after = await kept();
  assert.deepEqual(before.texts.filter((it) => after.texts.includes(it)), []);
});

scenario("a text goes back to what it was", async (t) => {
  const { page } = t;
  const before = await t.text();
  await isKept(page, before);
  await writeLine(page, "# a mistake\n");
  // Keys within some seconds make one state, so the clock is moved on by more.
  await page.evaluate(() => {
    const now = Date.now.bind(Date);
    Date.now = () => now() + 10_000;
  });
  await writeLine(page, "# another one\n");
  await t.unfolded("opened");
  const states = t.get("earlier-state");
  await states.first().waitFor();
  await states.last().click();
  await page.waitForFunction(
    (text) => document.querySelector('[data-testid="editor"]').editor.getDoc() === text,
    before,
  );
});

scenario("a text that only the database has is there after a reload", async (t) => {
  const { page } = t;
  await writeLine(page, "# kept for long\n");
  // As five other texts leave it that were opened since.
  await page.evaluate(() => {
    const forget = () => {
      for (const key of Object.keys(localStorage)) if (/^isobar\.(text\.|recent)/.test(key)) localStorage.removeItem(key);
    };
    // After the page has written its last word.
    window.addEventListener("pagehide", forget);
  });
  await page.reload();
  await page.waitForFunction(() =>
    document.querySelector('[data-testid="editor"]')?.editor?.getDoc().includes("kept for long"),
  );
});

scenario("a second tab has a copy, and each keeps its own", async (t) => {
  const { page } = t;
  await writeLine(page, "# one\n");
  const other = await page.context().newPage();
  await other.goto(t.runner.url);
  await other.locator('[data-testid="app"][data-ready="true"]').waitFor({ state: "attached" });
  await t.get("copy-notice", other).waitFor();
  await writeLine(other, "# two\n");
  assert.doesNotMatch(await t.text(), /# two/);
  for (const [tab, own, foreign] of [
    [page, /# one/, /# two/],
    [other, /# two/, /# three/],
  ]) {
    await tab.reload();
    await tab.locator('[data-testid="app"][data-ready="true"]').waitFor({ state: "attached" });
    assert.match(await t.text(tab), own);
    assert.doesNotMatch(await t.text(tab), foreign);
  }
});

scenario("a page that ended twice before the compiler answered starts without compiling", { page: "none" }, async (t) => {
  // As a tab leaves it that was ended at its start, twice.
  const page = await t.visit(t.runner.url, () => {
    if (!sessionStorage.getItem("set")) localStorage.setItem("isobar.starting", "2");
    sessionStorage.setItem("set", "yes");
  });
  await t.get("safe-mode", page).waitFor();
  assert.match(await t.text(page), /horizontal_diffusion/);
  assert.equal(await t.get("app", page).getAttribute("data-ready"), null);
  await t.get("leave-safe-mode", page).click();
  await page.locator('[data-testid="app"][data-ready="true"]').waitFor({ state: "attached" });
  // Now all is well, and the next load compiles.
  await page.reload();
  await page.locator('[data-testid="app"][data-ready="true"]').waitFor({ state: "attached" });
});
