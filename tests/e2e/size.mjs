// Measures the page for `cargo xtask size`; prints one JSON document.

import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { launch, startRunner } from "./browser.mjs";

const LOADS = 9;
const dist = fileURLToPath(new URL("../../dist", import.meta.url));

const names = (await readdir(dist, { recursive: true })).filter((name) => /\.(wasm|js|css|html)$/.test(name)).sort();
const files = [];
for (const path of names) {
  // The version's folder has another name each time.
  const name = path.replace(/^v-[0-9a-f]{16}./, "");
  const bytes = await readFile(join(dist, path));
  const brotli = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
  files.push({ name, raw: bytes.length, gzip: gzipSync(bytes, { level: 9 }).length, brotli: brotli.length });
}

const runner = await startRunner();
const browser = await launch();
const mounted = [];
const ready = [];
let sizes = [];
for (let load = 0; load < LOADS; load++) {
  // A new context has an empty cache.
  const context = await browser.newContext({ serviceWorkers: "block" });
  const page = await context.newPage();
  const finished = [];
  const note = (request) => finished.push(request);
  if (load === 0) page.on("requestfinished", note);
  const start = performance.now();
  await page.goto(runner.origin, { waitUntil: "commit" });
  await page.locator('[data-testid="app"]').waitFor({ state: "attached" });
  mounted.push(performance.now() - start);
  await page.locator('[data-testid="app"][data-ready="true"]').waitFor({ state: "attached" });
  ready.push(performance.now() - start);
  if (load === 0) {
    page.off("requestfinished", note);
    // A closed page knows its requests no more.
    const all = await Promise.all(finished.map((request) => request.sizes()));
    // What the browser has already is no answer over the wire.
    sizes = all.filter((it) => it.responseBodySize + it.responseHeadersSize > 0);
  }
  await context.close();
}
const version = browser.version();
await browser.close();
await runner.stop();
console.log(
  JSON.stringify({
    files,
    loads: LOADS,
    wire_bytes: sizes.reduce((sum, it) => sum + it.responseBodySize + it.responseHeadersSize, 0),
    answers: sizes.length,
    mounted_ms: spread(mounted),
    ready_ms: spread(ready),
    browser: `Chromium ${version}`,
  }),
);

function spread(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return { median: sorted[Math.floor(sorted.length / 2)], least: sorted[0], greatest: sorted.at(-1) };
}
