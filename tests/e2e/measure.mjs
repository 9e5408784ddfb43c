// Measures the page for `cargo xtask e2e --measure`; prints the table of docs/playground.md.
//
// Each row has a name, what was asked, and a function that measures. Others may add rows at the end.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { launch, startRunner } from "./browser.mjs";
import { focusText, newcomer, Scene } from "./harness.mjs";
import { DIST } from "./host.mjs";

/** How often the page is loaded for a time. */
const LOADS = 9;
/** Keys for a percentile of 95. */
const KEYS = 60;

const kilobytes = (bytes) => `${Math.round(bytes / 1000).toLocaleString("en")} kB`;
const ms = (value) => `${Math.round(value)} ms`;
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const p95 = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)];
const spread = (values) => `${ms(median(values))} (${ms(Math.min(...values))} to ${ms(Math.max(...values))})`;

/** For `open`: notes when the editor takes text, and every task of the main thread that is longer than 50 ms. */
function watch() {
  window.long = [];
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) window.long.push({ startTime, duration });
  }).observe({ type: "longtask", buffered: true });
  const look = () => {
    if (!document.querySelector('[data-testid="editor"]')?.editor) return requestAnimationFrame(look);
    window.usable = performance.now();
  };
  requestAnimationFrame(look);
}

/** A stencil of about so many lines, each of which changes something. */
function stencil(lines) {
  const body = [];
  for (let at = 0; at < lines - 8; at++) {
    const before = at === 0 ? "q" : `t${(at - 1) % 20}`;
    body.push(`        t${at % 20} = ${before} * ${(at % 7) + 1}.5 + q[${(at % 3) - 1}, 0, 0]`);
  }
  return (
    "from ndsl.dsl.gt4py import PARALLEL, computation, interval\nfrom ndsl.dsl.typing import FloatField\n\n\n" +
    "def many(q: FloatField, out: FloatField):\n    with computation(PARALLEL), interval(...):\n" +
    `${body.join("\n")}\n        out = t${(lines - 9) % 20} + 1.0\n`
  );
}

/** Pastes a text over that of the editor. */
async function paste(t, text) {
  await t.page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await t.page.evaluate((text) => navigator.clipboard.writeText(text), text);
  await focusText(t.page);
  await t.page.keyboard.press("Control+A");
  await t.page.keyboard.press("Control+V");
  await t.settled();
}

async function scene(browser, tell) {
  const t = new Scene("measure", browser, ".");
  try {
    t.runner = await startRunner();
    return await tell(t);
  } finally {
    await t.end();
  }
}

/** Milliseconds of each key press of the second half of a text of so many lines. */
async function keys(t, lines) {
  t.page = await t.open(t.runner.url);
  await paste(t, stencil(lines));
  await t.toEnd();
  // out = ... + 1.000...
  return t.keyTimes("0", KEYS);
}

async function firstLoad(t) {
  const context = await t.browser.newContext({ viewport: { width: 1440, height: 900 }, serviceWorkers: "block" });
  t.contexts.push(context);
  const page = await context.newPage();
  const sizes = [];
  page.on("requestfinished", (request) => sizes.push(request.sizes().then((it) => [request.url(), it])));
  await page.goto(t.runner.url);
  await page.locator('[data-testid="app"][data-ready="true"]').waitFor({ state: "attached" });
  // What is under way now was asked for before.
  const first = sizes.length;
  await page.waitForTimeout(4000);
  const found = await Promise.all(sizes);
  const of = (part) => found.filter(([url]) => url.includes(part)).reduce((sum, [, it]) => sum + it.responseBodySize, 0);
  const sum = (all) => all.reduce((sum, [, it]) => sum + it.responseBodySize + it.responseHeadersSize, 0);
  return {
    all: sum(found.slice(0, first)),
    later: sum(found.slice(first)),
    worker: of("worker_bg.wasm"),
    page: of("isobar-web_bg.wasm"),
    editor: of("editor.js"),
    count: first,
  };
}

const rows = [
  [
    "first load over the wire, until the compiler has answered",
    "<= 1,500 kB",
    (browser) =>
      scene(browser, async (t) => {
        const it = await firstLoad(t);
        const parts = `compiler ${kilobytes(it.worker)}, page ${kilobytes(it.page)}, editor ${kilobytes(it.editor)}`;
        return `${kilobytes(it.all)} in ${it.count} answers: ${parts}; ${kilobytes(it.later)} follow`;
      }),
  ],
  [
    "compiler, the part that is waited for, brotli",
    "<= 900 kB",
    async () => {
      const index = await readFile(join(DIST, "index.html"), "utf8");
      const [, unpacked, packed] = index.match(/data-worker-bytes="(\d+) (\d+)"/);
      return `${kilobytes(Number(packed))} of ${kilobytes(Number(unpacked))}`;
    },
  ],
  [
    "empty cache to editor usable, loopback",
    "<= 1,000 ms",
    (browser) =>
      scene(browser, async (t) => {
        const times = [];
        for (let load = 0; load < LOADS; load++) {
          const page = await t.open(t.runner.url, newcomer, watch);
          times.push(await page.evaluate(() => window.usable));
          await page.context().close();
        }
        return spread(times);
      }),
  ],
  [
    "second load, offline, to editor usable",
    "<= 700 ms",
    (browser) =>
      scene(browser, async (t) => {
        t.serviceWorkers = "allow";
        const page = await t.open(t.runner.url, newcomer, watch);
        await page.evaluate(async () => {
          const { active } = await navigator.serviceWorker.ready;
          while (active.state !== "activated") await new Promise((resolve) => setTimeout(resolve, 20));
        });
        await t.runner.kill();
        const times = [];
        for (let load = 0; load < LOADS; load++) {
          await page.reload();
          await page.locator('[data-testid="app"][data-ready="true"]').waitFor({ state: "attached" });
          times.push(await page.evaluate(() => window.usable));
        }
        return spread(times);
      }),
  ],
  ["key to panes, 100 lines, p95", "<= 60 ms", (browser) => scene(browser, async (t) => ms(p95(await keys(t, 100))))],
  ["key to panes, 1,000 lines, p95", "<= 150 ms", (browser) => scene(browser, async (t) => ms(p95(await keys(t, 1000))))],
  [
    "main-thread tasks over 50 ms in the scripted walk",
    "none",
    (browser) =>
      scene(browser, async (t) => {
        t.page = await t.open(t.runner.url, newcomer, watch);
        const parts = [];
        let seen = 0;
        const tell = async (what) => {
          const long = await t.page.evaluate(() => window.long.map((it) => it.duration));
          if (long.length > seen) parts.push(`${what} ${long.slice(seen).map((it) => Math.round(it)).join(", ")} ms`);
          seen = long.length;
        };
        await tell("load");
        await t.toEnd();
        await t.page.keyboard.type("  # a remark");
        await t.settled();
        await tell("typing");
        await paste(t, stencil(1000));
        await tell("paste of 1,000 lines");
        await t.show("c");
        await tell("opening C");
        await t.pick("vertical_advection");
        await tell("another example");
        await t.runHere();
        await t.ran("done");
        await tell("a run");
        await t.get("share").click();
        await t.see("share-link");
        await tell("sharing");
        return parts.join("; ") || "none";
      }),
  ],
  [
    "DOM nodes with 1,000 lines in a level",
    "<= 5,000",
    (browser) =>
      scene(browser, async (t) => {
        t.page = await t.open(t.runner.url);
        await paste(t, stencil(1000));
        return t.page.evaluate(() => document.querySelectorAll("*").length.toLocaleString("en"));
      }),
  ],
];

const browser = await launch();
console.log(`Measured in Chromium ${browser.version()}, headless, against a runner on the same machine.\n`);
console.log("| what | asked | measured |\n|---|---|---|");
for (const [what, asked, measure] of rows) {
  // A row that fails says so, and the others are measured all the same.
  const found = await measure(browser).catch((error) => `not measured: ${error.message.split("\n")[0]}`);
  console.log(`| ${what} | ${asked} | ${found} |`);
}
await browser.close();
