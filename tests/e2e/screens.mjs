// Takes a picture of every screen, to judge by eye: node tests/e2e/screens.mjs OUT [looks] [screens]
//
// `looks` and `screens` are regular expressions: `light-1440`, `phone`, `learn|gallery`. ISOBAR_BIN and ISOBAR_CHROMIUM
// are as for run.mjs. OUT gets a folder of pictures for each look, and `sheets/`, several pictures on one.

import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { launch, startRunner } from "./browser.mjs";
import { Scene, betweenWorkers, newcomer } from "./harness.mjs";

const [out, looksWanted = "", screensWanted = ""] = process.argv.slice(2);
if (!out) throw new Error("node tests/e2e/screens.mjs OUT [looks] [screens]");

/** How the page is looked at. A window of 1440 × 900 at 400 % has 360 × 225 pixels of CSS. */
const SIZES = {
  "1440": { viewport: { width: 1440, height: 900 } },
  // For docs/pictures.
  "1200": { viewport: { width: 1200, height: 720 } },
  "1024": { viewport: { width: 1024, height: 768 } },
  "phone": { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 },
  "zoom": { viewport: { width: 360, height: 225 }, deviceScaleFactor: 4 },
};
const THEMES = { light: { colorScheme: "light" }, dark: { colorScheme: "dark" } };
const LOOKS = [
  ...Object.keys(SIZES).flatMap((size) => Object.keys(THEMES).map((theme) => ({ name: `${theme}-${size}`, size, media: THEMES[theme] }))),
  { name: "forced-1440", size: "1440", media: { forcedColors: "active" } },
  { name: "forced-phone", size: "phone", media: { forcedColors: "active" } },
  { name: "rtl-1440", size: "1440", media: THEMES.light, isRtl: true },
  { name: "rtl-phone", size: "phone", media: THEMES.light, isRtl: true },
];

const lesson = (folder, name) =>
  readFileSync(new URL(`../../static/lessons/first-course/${folder}/${name}`, import.meta.url), "utf8");
const example = (name) => readFileSync(new URL(`../../static/gallery/${name}.py`, import.meta.url), "utf8");

/** A text with what is not there and what is read out of a parallel loop's order. */
const WRONG = `${example("horizontal_diffusion").split("with computation")[0]}with computation(PARALLEL), interval(...):
        lap = q[1, 0, 0] + q[-1, 0, 0] - 2.0 * missing
        lap = lap[1, 0, 0]
        unused = q
        q_out = q - alpha * lap
`;

/** A file as models have them: many stencils, long lines, externals that nobody gives. */
const MODEL = [
  "import gt4py.cartesian.gtscript as gtscript",
  "from gt4py.cartesian.gtscript import PARALLEL, FORWARD, computation, interval",
  "from ndsl.dsl.typing import FloatField, FloatFieldIJ",
  "from pyFV3.stencils.moist_cv import moist_cv_nwat6_fn",
  "",
  ...Array.from({ length: 12 }, (_, at) => [
    `def step_${at}(q_vapour: FloatField, delp: FloatField, area: FloatFieldIJ, q_out_of_a_rather_long_name: FloatField):`,
    '    """One of many steps."""',
    "    from __externals__ import hord",
    "    with computation(PARALLEL), interval(...):",
    ...Array.from({ length: 8 }, (_, line) => `        t${line} = (q_vapour[1, 0, 0] + q_vapour[-1, 0, 0] + q_vapour[0, 1, 0] + q_vapour[0, -1, 0] - 4.0 * q_vapour) * ${line}.5 / area`),
    "        if hord == 5:",
    "            q_out_of_a_rather_long_name = t0 + t1 + t2 + t3 + t4 + t5 + t6 + t7",
    "        else:",
    "            q_out_of_a_rather_long_name = t7 * delp",
    "",
  ]).flat(),
].join("\n");

/** One look at the page: what the walks below act with. */
class Walk {
  constructor(scene, look, folder) {
    Object.assign(this, { scene, look, folder, taken: [] });
  }

  async open(...prepare) {
    const page = (this.page = await this.scene.visit(this.scene.runner.url, ...prepare));
    if (this.look.isRtl) await page.evaluate(() => (document.documentElement.dir = "rtl"));
    return page;
  }

  get(id) {
    return this.scene.get(id, this.page);
  }

  /** Brings a column into view, where they take turns. */
  async tab(name) {
    const tab = this.page.locator("nav.views [role=tab]", { hasText: name });
    if (await tab.isVisible()) await tab.click();
  }

  async to(address) {
    await this.page.evaluate((it) => (location.hash = it), address);
  }

  async paste(text) {
    await this.tab("Code");
    const content = this.page.locator('[data-testid="editor"] .cm-content');
    await content.focus();
    await this.page.keyboard.press("Control+A");
    await content.evaluate((it, text) => {
      const data = new DataTransfer();
      data.setData("text/plain", text);
      it.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    }, text);
    // The problems are told after a rest.
    await this.page.waitForTimeout(1500);
  }

  async escape() {
    await this.page.keyboard.press("Escape");
    await this.page.waitForTimeout(100);
  }

  /** A picture; what fails on the way there is told, and the walk goes on. */
  async snap(name, go = async () => {}) {
    if (!new RegExp(screensWanted).test(name)) {
      await go().catch(() => {});
      return;
    }
    try {
      await go();
    } catch (error) {
      console.log(`${this.look.name}: ${name}: ${String(error.message).split("\n")[0]}`);
    }
    await this.page.waitForTimeout(250);
    const file = `${String(this.taken.length + 1).padStart(2, "0")}-${name}.png`;
    await this.page.screenshot({ path: join(this.folder, file), timeout: 20_000 }).catch((error) => console.log(`${name}: ${error.message.split("\n")[0]}`));
    this.taken.push({ name, file });
  }
}

/** What somebody sees who comes for the first time. */
async function firstVisit(w) {
  await w.open(newcomer);
  await w.snap("first", () => w.scene.see("run-result", { "data-state": "done" }, w.page));
  if (Number(w.look.size) >= 1100) return;
  await w.snap("first-levels", () => w.tab("Stages"));
  await w.snap("first-result", () => w.tab("Result"));
}

/** The editor, and what opens from it. */
async function editor(w) {
  const page = await w.open();
  const { scene } = w;
  await scene.settled(page);
  await w.snap("editor-empty-result", () => w.tab("Result"));
  await w.snap("editor-results", async () => {
    await scene.runHere(page);
    await scene.ran("done", undefined, page);
    await w.tab("Code");
  });
  await w.snap("opened", () => scene.unfolded("opened", page));
  await w.escape();
  await w.snap("size", () => scene.unfolded("size", page));
  await w.escape();
  await w.snap("more", () => scene.unfolded("more", page));
  await w.snap("help", () => w.get("help").click());
  await w.get("help-close").click().catch(() => {});
  await w.snap("share", async () => {
    if (await w.get("share").isVisible()) return w.get("share").click();
    await scene.unfolded("more", page);
    await w.get("share-more").click();
  });
  await w.escape();
  await w.snap("drawer-inputs", async () => {
    await w.tab("Code");
    await w.get("drawer-inputs").click();
  });
  await w.snap("drawer-output", () => w.get("drawer-output").click());
  await w.get("drawer-problems").click().catch(() => {});
  await w.snap("remarks", async () => {
    await w.get("editor").locator(".cm-line", { hasText: "flux_i = 0.0 if" }).first().click();
    await w.get("remark-mark").first().click();
    await w.get("remark-list").first().waitFor();
  });
  await w.escape();
  await w.snap("levels-lit", async () => {
    await w.tab("Stages");
    await w.get("stage-tab-oir").click();
    await scene.settled(page);
  });
  await w.snap("passes", async () => {
    await w.get("passes-toggle-oir").click();
    await scene.see("passes-oir", { "data-state": "fresh" }, page);
  });
  await w.snap("passes-diff", async () => {
    await w.get("passes-oir").locator('[data-pass="oir/merge-horizontal-executions"]').click();
    await w.get("stage-pane-oir").locator(".listing[data-compared]").waitFor();
  });
  await w.snap("levels-find", async () => {
    await w.get("stage-tab-c").click();
    await scene.settled(page);
    await w.get("stage-find-c").click();
    await w.get("find").first().fill("flux");
  });
  await w.snap("problems", async () => {
    await w.paste(WRONG);
    await w.get("problem").first().waitFor();
  });
  await w.snap("problems-levels", () => w.tab("Stages"));
  await w.snap("model", async () => {
    await w.paste(MODEL);
  });
  await w.snap("model-levels", () => w.tab("Stages"));
  await w.snap("model-result", () => w.tab("Result"));
  await w.snap("nothing", () => w.paste("\n"));
}

/** Pictures of fields, and the numbers below them. */
async function fields(w) {
  const page = await w.open();
  const { scene } = w;
  await scene.settled(page);
  await scene.runHere(page);
  await scene.ran("done", undefined, page);
  await w.tab("Result");
  for (const view of ["plan", "section-j", "profile", "line", "histogram", "time"]) {
    await w.snap(`field-${view}`, () => w.get(`view-${view}`).click());
  }
  await w.snap("field-inspector", async () => {
    await w.get("view-plan").click();
    await w.get("field-canvas").click({ position: { x: 60, y: 60 } });
    await w.get("inspector").waitFor();
    await w.get("inspector").scrollIntoViewIfNeeded();
  });
  await w.snap("field-table", async () => {
    await w.get("inspector-close").click();
    await w.get("values-toggle").click();
    await w.get("values-table").scrollIntoViewIfNeeded();
  });
  await w.snap("timings", async () => {
    await w.get("values-toggle").click();
    await w.get("timings").scrollIntoViewIfNeeded();
  });
  await w.snap("decisions", async () => {
    await w.get("decisions").locator("summary").first().click();
    await w.get("decisions").evaluate((it) => it.scrollIntoView());
  });
  await w.snap("comparison", async () => {
    await scene.unfolded("more", page);
    await w.get("compare").click();
    await w.get("compare-result").waitFor();
    await w.escape();
    await w.tab("Result");
    await w.get("run-result").evaluate((it) => it.scrollTo(0, 0));
  });
  await w.snap("benchmark", async () => {
    await w.get("bench").click();
    await w.get("bench-row").first().waitFor({ timeout: 60_000 });
    await w.get("benchmark").scrollIntoViewIfNeeded();
  });
  await w.snap("nan", async () => {
    await w.tab("Code");
    await scene.pick("nan_hunt", page);
    await w.tab("Result");
    await w.get("run-result").evaluate((it) => it.scrollTo(0, 0));
  });
  await w.snap("animation", async () => {
    await w.tab("Code");
    await scene.pick("shallow_water", page);
    await w.tab("Result");
    await w.get("step").click();
  });
}

/** Lessons, gallery and manual. */
async function learn(w) {
  const page = await w.open(newcomer);
  const { scene } = w;
  await scene.see("run-result", { "data-state": "done" }, page);
  await w.snap("learn", async () => {
    await w.to("#/learn");
    await w.get("lesson-card").first().waitFor();
  });
  const begin = async (folder) => {
    await w.to(`#/learn/first-course/${folder}`);
    await page.locator(`[data-testid="lesson"][data-lesson="${folder}"]`).waitFor();
    await page.waitForFunction(
      (start) => document.querySelector('[data-testid="editor"]').editor.getDoc() === start,
      lesson(folder, "start.py"),
    );
    await w.tab("Learn");
  };
  await w.snap("lesson", () => begin("01-first"));
  await w.snap("lesson-code", () => w.tab("Code"));
  await w.tab("Learn");
  const check = async (state) => {
    await scene.settled(page).catch(() => {});
    await w.tab("Learn");
    await w.get("check-lesson").click();
    await page.locator(`[data-testid="verdicts"][data-state="${state}"]`).waitFor();
    await page.waitForTimeout(500);
  };
  await w.snap("lesson-failed", () => check("failed"));
  await w.snap("lesson-failed-picture", () => w.tab("Result"));
  await w.tab("Learn");
  await w.snap("lesson-hint", async () => {
    await w.get("take-hint").click();
    await w.get("hint").first().waitFor();
    await w.get("hint").first().scrollIntoViewIfNeeded();
  });
  await w.snap("lesson-passed", async () => {
    await w.paste(lesson("01-first", "solution.py"));
    await check("passed");
  });
  await w.snap("lesson-solution", async () => {
    await w.get("show-solution").click();
    await w.get("solution").scrollIntoViewIfNeeded();
  });
  await w.snap("lesson-card", async () => {
    await begin("02-neighbours");
    await page.locator('.term[data-term="halo"]').first().focus();
    await w.get("term-card").waitFor();
  });
  await w.escape();
  await w.snap("lesson-figure", async () => {
    await w.get("figure").first().scrollIntoViewIfNeeded();
    await w.get("figure-next").first().click();
  });
  await w.snap("lesson-quiz", async () => {
    const quiz = w.get("quiz").first();
    await quiz.scrollIntoViewIfNeeded();
    await quiz.locator("input").first().check();
  });
  await w.snap("lesson-levels", async () => {
    await begin("11-levels");
    await page.waitForTimeout(500);
  });
  await w.snap("learn-begun", async () => {
    await w.to("#/learn");
    await w.get("lesson-card").first().waitFor();
  });
  await w.snap("gallery", async () => {
    await w.to("#/gallery");
    await w.get("gallery-card").first().waitFor();
    await page.waitForTimeout(500);
  });
  await w.snap("gallery-below", () => page.locator(".sheet").evaluate((it) => it.scrollBy(0, it.clientHeight * 0.9)));
  await w.snap("manual", async () => {
    await w.to("#/manual");
    await w.get("manual-view").locator("a").first().waitFor();
  });
  await w.snap("manual-page", async () => {
    await w.to("#/manual/language");
    await w.get("manual-text").locator("h3").first().waitFor();
  });
  await w.snap("manual-code", async () => {
    await w.to("#/manual/diagnostics/e18");
    await page.locator('[id^="h-e18"]').waitFor();
  });
  await w.snap("present", async () => {
    await w.to("#/learn?present");
    await page.locator('[data-testid="app"][data-present="true"]').waitFor();
    await w.get("lesson-card").nth(1).locator("a").first().click();
    await w.get("check-lesson").waitFor();
    await w.tab("Learn");
  });
}

/** What a visitor has to know before all else. */
async function notices(w) {
  await w.open(() => localStorage.setItem("isobar.starting", "2"));
  await w.snap("safe-mode", () => w.get("safe-mode").waitFor());
  let page = await w.open(betweenWorkers);
  await w.snap("broken-link", async () => {
    await w.to("#s=1broken");
    await w.get("share-error").waitFor();
  });
  await w.snap("crashed", async () => {
    await w.scene.settled(page);
    await page.evaluate(() => (window.onQuestion = (ask, worker) => ask.compile && (setTimeout(() => window.crash(worker)), true)));
    await w.tab("Code");
    await w.scene.toEnd(page);
    await page.keyboard.type("  # ends here");
    await page.getByRole("alert").filter({ hasText: "crashed" }).waitFor();
  });
  page = await w.open();
  await w.snap("offline", async () => {
    await w.scene.settled(page);
    await page.context().setOffline(true);
    await page.waitForTimeout(300);
  });
}

const WALKS = { firstVisit, editor, fields, learn, notices };

/** Puts several pictures on one, each with its name. */
async function sheets(browser, look, folder, taken) {
  const columns = { 1440: 2, 1200: 2, 1024: 2, phone: 5, zoom: 3 }[look.size];
  const rows = { 1440: 2, 1200: 2, 1024: 2, phone: 1, zoom: 4 }[look.size];
  const page = await browser.newPage({ viewport: { width: 1600, height: 900 } });
  for (let at = 0; at < taken.length; at += columns * rows) {
    const some = await Promise.all(
      taken.slice(at, at + columns * rows).map(async ({ name, file }) => {
        const data = (await readFile(join(folder, file))).toString("base64");
        return `<figure><figcaption>${look.name}: ${name}</figcaption><img src="data:image/png;base64,${data}"></figure>`;
      }),
    );
    await page.setContent(`<style>
      body { margin: 4px; display: grid; grid-template-columns: repeat(${columns}, 1fr); gap: 6px; background: #777; font: 12px sans-serif }
      figure { margin: 0 } figcaption { color: #fff } img { width: 100%; display: block }
    </style>${some.join("")}`);
    const number = String(at / (columns * rows) + 1).padStart(2, "0");
    await page.screenshot({ path: join(out, "sheets", `${look.name}-${number}.png`), fullPage: true });
  }
  await page.close();
}

const browser = await launch();
await mkdir(join(out, "sheets"), { recursive: true });
for (const look of LOOKS.filter(({ name }) => new RegExp(looksWanted).test(name))) {
  const folder = join(out, look.name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const scene = new Scene("screens", browser, folder);
  scene.media = { ...SIZES[look.size], ...look.media, reducedMotion: "reduce" };
  scene.patience = 40_000;
  scene.runner = await startRunner();
  const walk = new Walk(scene, look, folder);
  for (const [name, go] of Object.entries(WALKS)) {
    if (process.env.WALKS && !process.env.WALKS.includes(name)) continue;
    await go(walk).catch((error) => console.log(`${look.name}: ${name} ended early: ${String(error.message).split("\n")[0]}`));
  }
  await scene.end();
  await writeFile(join(folder, "complaints.txt"), scene.complaints.join("\n"));
  await sheets(browser, look, folder, walk.taken);
  console.log(`${look.name}: ${walk.taken.length} pictures`);
}
await browser.close();
process.exit(0);
