// Scenarios, and what they have at hand.

import assert from "node:assert/strict";
import { join } from "node:path";
import { startRunner } from "./browser.mjs";

export const STAGES = ["definition", "gtir", "oir", "npir", "tree", "schedule", "sdfg", "loops", "kernels", "python", "numpy", "c", "cuda", "wgsl"];

/** How long the page may take for anything; how fast it is, is measured where it matters. */
const PATIENCE_MS = 60_000;

/** Every scenario, in the order in which the files tell them. */
export const scenarios = [];

/**
 * Tells a scenario. It has a runner, a browser context and a page of its own.
 *
 * @param {string} name a sentence
 * @param {(t: Scene) => Promise<void>} tell
 */
export function scenario(name, tell) {
  scenarios.push({ name, tell });
}

/**
 * For `open` and `visit`: stands between the page and its workers.
 *
 * Where the page's `onQuestion(ask, worker, pass)` returns true, the worker does not get the question, unless somebody
 * calls `pass`. `crash(worker)` is what the page hears of a worker that falls over.
 */
export function betweenWorkers() {
  const { Worker } = window;
  window.Worker = class extends Worker {
    postMessage(message, transfer) {
      const pass = () => super.postMessage(message, transfer);
      if (!window.onQuestion?.(JSON.parse(message[0]).ask, this, pass)) pass();
    }
  };
  window.crash = (worker) => worker.dispatchEvent(new ErrorEvent("error", { message: "unreachable executed" }));
}

/** For `open` and `visit`: keeps every answer of a compiler in `compilations`, with its request and how long it took. */
export function keepCompilations() {
  const { Worker } = window;
  window.compilations = [];
  window.Worker = class extends Worker {
    constructor(...how) {
      super(...how);
      this.addEventListener("message", ({ data }) => {
        const { said } = JSON.parse(data[0]);
        // A worker has one question at a time.
        if (said.compiled) {
          const ms = performance.now() - this.since;
          window.compilations.push({ request: this.request, ms, compiled: said.compiled.compiled });
        }
      });
    }
    postMessage(message, transfer) {
      const { ask } = JSON.parse(message[0]);
      if (ask.compile) [this.request, this.since] = [ask.compile.request, performance.now()];
      super.postMessage(message, transfer);
    }
  };
}

/** What a scenario acts with. */
export class Scene {
  /** What the page logged that it must not: exceptions, panics, refusals of its policy. */
  complaints = [];
  /** Paths that were asked of the runner's API, in order. */
  asked = [];

  constructor(name, browser, artifacts) {
    this.name = name;
    this.browser = browser;
    this.artifacts = artifacts;
    this.contexts = [];
  }

  async start() {
    this.runner = await startRunner();
    this.page = await this.open(this.runner.url);
  }

  /** Opens `url` as another person would: nothing stored, nothing known. Waits until the compiler answers. */
  async open(url, ...prepare) {
    const page = await this.visit(url, ...prepare);
    await page.locator('[data-testid="app"][data-ready="true"]').waitFor({ state: "attached" });
    return page;
  }

  /** The same without the waiting; each `prepare` runs in the page before any script of its own. */
  async visit(url, ...prepare) {
    const context = await this.browser.newContext({ viewport: { width: 1440, height: 900 } });
    this.contexts.push(context);
    for (const script of prepare) await context.addInitScript(script);
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    page.on("pageerror", (error) => this.complaints.push(`exception: ${error.message}`));
    page.on("console", (message) => {
      const text = message.text();
      if (/panicked at|Content Security Policy/.test(text)) this.complaints.push(text);
    });
    page.on("request", (request) => {
      const { origin, pathname } = new URL(request.url());
      if (origin === this.runner.origin && pathname.startsWith("/v1/")) this.asked.push(pathname);
      if (origin !== this.runner.origin && !/^(data|blob):/.test(request.url())) {
        this.complaints.push(`a request to another host: ${origin}`);
      }
    });
    await page.goto(url);
    return page;
  }

  async end() {
    for (const context of this.contexts) await context.close();
    await this.runner?.stop();
  }

  /** A picture of what is seen, beside the test's results. */
  async shot(what, page = this.page) {
    const file = `${this.name} ${what}`.replace(/[^a-z0-9]+/gi, "-").toLowerCase();
    await page.screenshot({ path: join(this.artifacts, `${file}.png`) });
  }

  /** The element with this `data-testid`. */
  get(id, page = this.page) {
    return page.locator(`[data-testid="${id}"]`);
  }

  /** Waits for the element with this `data-testid` and these attributes. */
  async see(id, attributes = {}, page = this.page) {
    const wanted = Object.entries(attributes).map(([name, value]) => `[${name}="${value}"]`);
    const found = page.locator(`[data-testid="${id}"]${wanted.join("")}`).first();
    await found.waitFor({ state: "attached" });
    return found;
  }

  async pick(entry) {
    await this.get("gallery-select").selectOption(entry);
    await this.settled();
  }

  /** Types a value into one of the inputs of a run, and leaves it. */
  async give(what, value) {
    const input = this.get(`input-${what}`);
    await input.fill(value);
    await input.press("Enter");
  }

  /** Unfolds the inputs of a run. */
  async unfold(page = this.page) {
    const toggle = this.get("inputs-toggle", page);
    if ((await toggle.getAttribute("aria-expanded")) !== "true") await toggle.click();
  }

  /** A link to what the page shows. */
  async link() {
    await this.get("share").click();
    const link = await (await this.see("share-link")).inputValue();
    await this.page.keyboard.press("Escape");
    return link;
  }

  /** Name and milliseconds of each step that a run tells of. */
  async timings() {
    const rows = this.get("timings").locator('[data-testid="timing"]');
    return rows.evaluateAll((all) => all.map((it) => ({ name: it.dataset.name, ms: Number(it.dataset.ms) })));
  }

  /** Sets the domain of the next run, as many of its axes as are given. */
  async size(...points) {
    for (const [axis, count] of points.entries()) {
      const field = this.get(`domain-${"ijk"[axis]}`);
      await field.fill(String(count));
      await field.blur();
    }
  }

  /** Waits until every open pane shows the newest text's level, or says why it cannot. */
  async settled(page = this.page) {
    await page.waitForFunction(() => {
      const revision = document.querySelector('[data-testid="app"]')?.dataset.revision;
      const open = [...document.querySelectorAll('[data-testid^="stage-pane-"]:not([hidden])')];
      const isSettled = ({ dataset }) =>
        dataset.revision === revision && ["fresh", "refused"].includes(dataset.state);
      return open.length > 0 && open.every(isSettled);
    });
  }

  /** Brings the pane of a stage into view, and waits for its text. */
  async show(stage, page = this.page) {
    await this.get(`stage-tab-${stage}`, page).click();
    await this.settled(page);
    return await this.see(`stage-pane-${stage}`, { "data-state": "fresh" }, page);
  }

  /** The whole text in the editor. */
  async text(page = this.page) {
    // Not from the document: CodeMirror draws only the lines that can be seen.
    return this.get("editor", page).evaluate((it) => it.editor.getDoc());
  }

  /** Puts the caret at the end of the last line that is not empty. */
  async toEnd(page = this.page) {
    await page.locator('[data-testid="editor"] .cm-content').focus();
    await page.keyboard.press("Control+End");
    const { length } = (await this.text(page)).match(/\n*$/)[0];
    for (let line = 0; line < length; line++) await page.keyboard.press("ArrowLeft");
  }

  /** Waits for the end of a run and fails when it is not the one that is `wanted`. */
  async ran(wanted, backend) {
    const result = this.page.locator(
      ["done", "failed", "cancelled"].map((it) => `[data-testid="run-result"][data-state="${it}"]`).join(","),
    );
    await result.waitFor({ state: "attached" });
    const state = await result.getAttribute("data-state");
    const why = state === "failed" ? await this.get("run-error").allTextContents() : "";
    assert.equal(state, wanted, `${why}`);
    if (backend) await this.see("run-result", { "data-backend": backend });
  }

  /** Milliseconds from the press of a key to panes that show the new texts, in order of size. */
  async keyTimes(key, count) {
    await this.page.evaluate(() => {
      const app = document.querySelector('[data-testid="app"]');
      const panes = [...document.querySelectorAll('[data-testid^="stage-pane-"]:not([hidden])')];
      const isFresh = (it) => it.dataset.state === "fresh" && it.dataset.revision === app.dataset.revision;
      const times = [];
      window.times = times;
      const hear = () => {
        const start = performance.now();
        const before = app.dataset.revision;
        const look = () => {
          if (app.dataset.revision === before || !panes.every(isFresh)) return requestAnimationFrame(look);
          // The frame that shows the new texts has been asked for; the next one has been drawn.
          requestAnimationFrame(() => times.push(performance.now() - start));
        };
        requestAnimationFrame(look);
      };
      const editor = document.querySelector('[data-testid="editor"]');
      editor.addEventListener("keydown", hear, true);
      window.deaf = () => editor.removeEventListener("keydown", hear, true);
    });
    for (let pressed = 1; pressed <= count; pressed++) {
      await this.page.keyboard.press(key);
      await this.page.waitForFunction((least) => window.times.length >= least, pressed);
    }
    await this.page.evaluate(() => window.deaf());
    return (await this.page.evaluate(() => window.times)).sort((a, b) => a - b);
  }

  /** How many colours the field's picture has: more than a few, or it is no picture. */
  async colours() {
    return this.get("field-canvas").evaluate((canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const seen = new Set();
      for (let at = 0; at < data.length; at += 4) seen.add((data[at] << 16) | (data[at + 1] << 8) | data[at + 2]);
      return seen.size;
    });
  }

  hash() {
    return this.get("field-canvas").getAttribute("data-hash");
  }
}
