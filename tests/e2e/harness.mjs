// Scenarios, and what they have at hand.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startRunner } from "./browser.mjs";

export const STAGES = ["definition", "gtir", "oir", "npir", "tree", "schedule", "sdfg", "loops", "kernels", "python", "numpy", "c", "cuda", "wgsl"];

/** How long the page may take for anything; how fast it is, is measured where it matters. */
const PATIENCE_MS = 60_000;

/** What identifies the style `body {}`. */
const EMPTY_STYLE = "sha256-YjaKGiklmzC6wjXA513HAMmzus8VE61XCOT+SmwNZWA=";

/** Every scenario, in the order in which the files tell them. */
export const scenarios = [];

/**
 * Tells a scenario. It has a browser context and a page of its own, and a runner that it shares with others.
 *
 * @param {string} name a sentence
 * @param {object} [needs]
 * @param {"own"} [needs.runner] a new runner, for a scenario that kills it or depends on its history
 * @param {"none"} [needs.page] for who opens every page itself
 * @param {true} [needs.alone] nothing runs at the same time: the scenario measures time, or loads the machine
 * @param {true} [needs.long] begins early, because it takes long
 * @param {(t: Scene) => Promise<void>} tell
 */
export function scenario(name, ...[needs, tell]) {
  scenarios.push(tell ? { name, needs, tell } : { name, needs: {}, tell: needs });
}

/** Thrown by `skip`. */
export class Skipped extends Error {}

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

/** For `open` and `visit`: lets `workersRest` know which workers have a question. */
export function countQuestions() {
  const { Worker } = window;
  window.atWork = new Set();
  window.Worker = class extends Worker {
    constructor(...how) {
      super(...how);
      this.addEventListener("message", ({ data }) => {
        if (!JSON.parse(data[0]).said?.progress) window.atWork.delete(this);
      });
    }
    postMessage(message, transfer) {
      window.atWork.add(this);
      super.postMessage(message, transfer);
    }
  };
}

/** Waits until every worker has answered. A page that waits for one takes no further step. */
export async function workersRest(page) {
  await page.waitForFunction(() => window.atWork.size === 0);
}

/** What a visitor who was here before finds: a text of their own, and nothing that moves. */
const KEPT = JSON.stringify({
  v: 1,
  files: { "main.py": readFileSync(new URL("../../static/gallery/horizontal_diffusion.py", import.meta.url), "utf8") },
  gallery: "horizontal_diffusion",
});

/**
 * Waits until what is typed goes into the text: a browser gives the keyboard back first, and the caret a moment later.
 */
export async function caretIsInText(page) {
  await page.waitForFunction(() => {
    const { shadowRoot } = document.querySelector('[data-testid="editor"]');
    const text = shadowRoot.activeElement;
    if (!text?.classList.contains("cm-content")) return false;
    // Firefox has no selection of a shadow tree, and one caret.
    return !shadowRoot.getSelection || text.contains(shadowRoot.getSelection().anchorNode);
  });
}

/** Gives the keyboard to the text, where the caret was. */
export async function focusText(page) {
  await page.locator('[data-testid="editor"] .cm-content').focus();
  await caretIsInText(page);
}

/** Pastes a text over all that the editor has. */
export async function pasteOver(page, text) {
  // Without its caret, the editor does not hear the key that selects everything.
  await focusText(page);
  await page.keyboard.press("Control+a");
  await page.locator('[data-testid="editor"] .cm-content').evaluate((it, text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", text);
    it.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  }, text);
}

/** Tries an assertion until it holds: for what a worker tells a moment later. */
export async function soon(check) {
  const latest = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > latest) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** Types a line at the end of the text, and waits until it is kept. */
export async function writeLine(page, line) {
  await focusText(page);
  await page.keyboard.press("Control+End");
  await page.keyboard.type(line);
  await isKept(page, line);
}

/** Waits until the browser's database has a text with these words. */
export async function isKept(page, words) {
  // As JSON spells them.
  const spelled = JSON.stringify(words).slice(1, -1);
  const latest = performance.now() + PATIENCE_MS;
  while (performance.now() < latest) {
    const kept = await page.evaluate(keptTexts);
    if (kept.some(({ state }) => state.includes(spelled))) return;
    await page.evaluate(() => new Promise(requestAnimationFrame));
  }
  throw new Error(`the database has no ${words}`);
}

/** Waits until nothing of the document has changed for some frames. Not for a page that plays. */
export async function isStill(page) {
  await page.evaluate(async () => {
    const STILL = 8;
    let still = 0;
    const observer = new MutationObserver(() => (still = 0));
    observer.observe(document, { attributes: true, characterData: true, childList: true, subtree: true });
    while (still < STILL) {
      await new Promise(requestAnimationFrame);
      still += 1;
    }
    observer.disconnect();
  });
}

/** Gives a page another size, and waits until it has drawn itself with that. */
export async function resize(page, width, height) {
  await page.setViewportSize({ width, height });
  await page.waitForFunction(([width, height]) => innerWidth === width && innerHeight === height, [width, height]);
  // Who hears of the new size changes the page in this frame, or in the next one.
  await page.evaluate(async () => {
    for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
  });
}

/** In the page: every text that the browser's database has, with what is kept aside, the last one first. */
export async function keptTexts() {
  // Who opens a database that is not there yet makes one without tables.
  if (!(await indexedDB.databases()).some(({ name }) => name === "isobar")) return [];
  const open = indexedDB.open("isobar", 1);
  await new Promise((done) => (open.onsuccess = done));
  const found = open.result.transaction("texts").objectStore("texts").getAll();
  await new Promise((done) => (found.onsuccess = done));
  open.result.close();
  return found.result.sort((a, b) => b.at - a.at);
}

/** For `visit`: the first visit of somebody who knows nothing. */
export const newcomer = Symbol("newcomer");

/** What a scenario acts with. */
export class Scene {
  /** What the page logged that it must not: exceptions, panics, refusals of its policy. */
  complaints = [];
  /** What the visitors of this scenario ask of every page: `{ reducedMotion: "reduce" }`. */
  media = {};
  /** Paths that were asked of the runner's API, in order. */
  asked = [];
  /** Origins beside the runner's that a scenario serves the page from. */
  hosts = new Set();
  /** Whether pages may keep themselves for later: `allow` where a scenario is about that; else it takes time. */
  serviceWorkers = "block";

  /** What is printed below the scenario's name. */
  notes = [];

  /** Without a `runner` it starts one, which ends with the scenario. */
  constructor(name, browser, artifacts, runner) {
    this.name = name;
    this.browser = browser;
    this.artifacts = artifacts;
    this.runner = runner;
    this.shared = runner;
    this.contexts = [];
  }

  async start(needs) {
    this.runner ??= await startRunner();
    if (needs.page !== "none") await this.open(this.runner.url);
  }

  /** Tells a figure, or what was left out. */
  note(text) {
    this.notes.push(text);
  }

  /** Ends the scenario, because something that it needs is missing. */
  skip(why) {
    throw new Skipped(why);
  }

  /** Opens `url` as another person would: nothing stored, nothing known. Waits until the compiler answers. */
  async open(url, ...prepare) {
    const page = await this.visit(url, ...prepare);
    await page.locator('[data-testid="app"][data-ready="true"]').waitFor({ state: "attached" });
    return page;
  }

  /** The same without the waiting; each `prepare` runs in the page before any script of its own. */
  async visit(url, ...prepare) {
    const { serviceWorkers } = this;
    const context = await this.browser.newContext({ viewport: { width: 1440, height: 900 }, serviceWorkers, ...this.media });
    this.contexts.push(context);
    if (!prepare.includes(newcomer)) {
      await context.addInitScript((kept) => {
        // An empty page keeps nothing, and Firefox says so.
        if (self.origin === "null") return;
        if (!localStorage.getItem("isobar.workspace")) localStorage.setItem("isobar.workspace", kept);
      }, KEPT);
    }
    for (const script of prepare.filter((it) => it !== newcomer)) await context.addInitScript(script);
    const page = await context.newPage();
    // The page that the scenario looks at by default.
    this.page ??= page;
    page.setDefaultTimeout(this.patience ?? PATIENCE_MS);
    page.on("pageerror", (error) => {
      // Whoever takes a picture puts an empty style into the page, which Firefox holds against the page's policy.
      if (error.message.includes(EMPTY_STYLE)) return;
      this.complaints.push(`exception: ${error.message}`);
    });
    page.on("console", (message) => {
      const text = message.text();
      if (/panicked at|Content Security Policy/.test(text)) this.complaints.push(text);
    });
    page.on("request", (request) => {
      const { origin, pathname } = new URL(request.url());
      if (origin === this.runner.origin && pathname.startsWith("/v1/")) this.asked.push(pathname);
      const isOurs = origin === this.runner.origin || this.hosts.has(origin);
      if (!isOurs && !/^(data|blob):/.test(request.url())) {
        this.complaints.push(`a request to another host: ${origin}`);
      }
    });
    await page.goto(url);
    return page;
  }

  async end() {
    for (const context of this.contexts) await context.close();
    if (this.runner !== this.shared) await this.runner?.stop();
  }

  /** A picture of what is seen, where pictures are asked for. */
  async shot(what, page = this.page) {
    if (process.env.ISOBAR_PICTURES) await this.picture(what, page);
  }

  /** A picture of what is seen, beside the test's results. */
  async picture(what, page = this.page) {
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

  /** Opens an example, which runs at once. */
  async pick(entry, page = this.page) {
    await this.unfolded("opened", page);
    await this.get(`example-${entry}`, page).click();
    await this.settled(page);
    await this.ran("done", undefined, page);
  }

  /** The names of all examples. */
  async examples() {
    await this.unfolded("opened");
    const all = this.page.locator('[data-testid^="example-"]');
    await all.first().waitFor();
    const names = await all.evaluateAll((them) => them.map((it) => it.dataset.testid.slice("example-".length)));
    await this.#shut("opened");
    return names;
  }

  /** Runs in the tab, with the back end that was chosen there last. */
  async runHere(page = this.page) {
    const target = this.get("target-select", page);
    if ((await target.inputValue()).startsWith("runner:")) await target.selectOption("here:numpy");
    await this.get("run", page).click();
  }

  /** Runs on the runner, with the back end that was chosen there last. */
  async runOnRunner() {
    const target = this.get("target-select");
    if (!(await target.inputValue()).startsWith("runner:")) {
      const known = target.locator('option[value^="runner:"]');
      await target.selectOption(await known.first().getAttribute("value"));
    }
    await this.get("run").click();
  }

  /** Does what stands behind the button for more. */
  async more(what) {
    await this.unfolded("more");
    await this.get(what).click();
  }

  /** Opens the panel of a button, where it is not open. */
  async unfolded(toggle, page = this.page) {
    const button = this.get(toggle, page);
    if ((await button.getAttribute("aria-expanded")) !== "true") await button.click();
  }

  /** Shuts the panel of a button, and waits until it is: the button has the keyboard then. */
  async #shut(toggle) {
    await this.page.keyboard.press("Escape");
    await this.see(toggle, { "aria-expanded": "false" });
  }

  async precision(bits) {
    await this.unfolded("size");
    await this.get("precision-select").selectOption(bits);
    await this.#shut("size");
  }

  /** Types a value into one of the inputs of a run, and leaves it. */
  async give(what, value) {
    const input = this.get(`input-${what}`);
    await input.fill(value);
    await input.press("Enter");
  }

  /** Unfolds the inputs of a run. */
  async unfold(page = this.page) {
    const tab = this.get("drawer-inputs", page);
    if ((await tab.getAttribute("aria-selected")) !== "true") await tab.click();
  }

  /** A link to what the page shows. */
  async link() {
    await this.get("share").click();
    const link = await (await this.see("share-link")).inputValue();
    await this.page.keyboard.press("Escape");
    // The browser gives the keyboard back a moment later, and takes it from the element that has it by then.
    await this.get("share-link").waitFor({ state: "hidden" });
    return link;
  }

  /** Name and milliseconds of each step that a run tells of. */
  async timings() {
    const rows = this.get("timings").locator('[data-testid="timing"]');
    return rows.evaluateAll((all) => all.map((it) => ({ name: it.dataset.name, ms: Number(it.dataset.ms) })));
  }

  /** Sets the domain of the next run, as many of its axes as are given. */
  async size(...points) {
    await this.unfolded("size");
    for (const [axis, count] of points.entries()) {
      const field = this.get(`domain-${"ijk"[axis]}`);
      await field.fill(String(count));
      await field.press("Enter");
    }
    await this.#shut("size");
  }

  /** Waits until every open pane shows the newest text's level, or says why it cannot. */
  async settled(page = this.page) {
    await page.waitForFunction(() => {
      const app = document.querySelector('[data-testid="app"]');
      // An example whose text is on its way is not shown yet.
      if (app?.dataset.opening) return false;
      const revision = app?.dataset.revision;
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

  /** All lines of a stage's text: a window of them is in the document. */
  async lines(stage, page = this.page) {
    const text = await page.locator(`#listing-${stage}`).evaluate((it) => it.listing.text());
    return text.replace(/\n$/, "").split("\n");
  }

  /** Waits until lines of a stage are lit, and gives their numbers, from 1. */
  async litLines(stage, page = this.page) {
    const lit = await page.waitForFunction((id) => {
      const all = document.getElementById(id).listing.lit();
      return all.length > 0 && [...all];
    }, `listing-${stage}`);
    return lit.jsonValue();
  }

  /** The whole text in the editor. */
  async text(page = this.page) {
    // Not from the document: CodeMirror draws only the lines that can be seen.
    return this.get("editor", page).evaluate((it) => it.editor.getDoc());
  }

  /** Puts the caret into the first line that has this text, and waits until it is there. */
  async clickLine(text, page = this.page) {
    const editor = this.get("editor", page);
    await editor.locator(".cm-line", { hasText: text }).first().click();
    await editor.locator(".cm-activeLine", { hasText: text }).waitFor();
    await caretIsInText(page);
  }

  /** Puts the caret at the end of the last line that is not empty. */
  async toEnd(page = this.page) {
    await focusText(page);
    await page.keyboard.press("Control+End");
    const { length } = (await this.text(page)).match(/\n*$/)[0];
    for (let line = 0; line < length; line++) await page.keyboard.press("ArrowLeft");
  }

  /** Waits for the end of a run and fails when it is not the one that is `wanted`. */
  async ran(wanted, backend, page = this.page) {
    const result = page.locator(
      ["done", "failed", "cancelled"].map((it) => `[data-testid="run-result"][data-state="${it}"]`).join(","),
    );
    try {
      await result.waitFor({ state: "attached" });
    } catch (error) {
      const shown = page.locator('[data-testid="run-result"], [data-testid="status"]');
      const now = await shown.evaluateAll((all) => all.map((it) => `${it.dataset.testid} ${it.dataset.state ?? ""}: ${it.textContent.slice(0, 200)}`));
      throw new Error(`no run has ended; the page shows ${now.join(" | ") || "nothing of one"}`, { cause: error });
    }
    const state = await result.getAttribute("data-state");
    const why = state === "failed" ? await this.get("run-error", page).allTextContents() : "";
    assert.equal(state, wanted, `${why}`);
    if (backend) await this.see("run-result", { "data-backend": backend }, page);
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
