// How the page gets to somebody, and that it stays.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { get } from "node:http";
import { join } from "node:path";
import { newcomer, scenario } from "./harness.mjs";
import { DIST, laterVersion, startHost } from "./host.mjs";

/** Waits until the service worker has every file and answers for the page. */
const kept = (page) =>
  page.evaluate(async () => {
    const { active } = await navigator.serviceWorker.ready;
    while (active.state !== "activated") await new Promise((resolve) => active.addEventListener("statechange", resolve, { once: true }));
  });

/** The addresses of everything that is kept. */
const cached = (page) =>
  page.evaluate(async () => {
    const found = [];
    for (const name of await caches.keys()) {
      for (const { url } of await (await caches.open(name)).keys()) found.push(new URL(url).pathname);
    }
    return found;
  });

/** An answer as it is sent: its headers, and its bytes before they are unpacked. */
const answer = (url, encoding) =>
  new Promise((resolve, reject) => {
    get(url, { headers: { "accept-encoding": encoding } }, (response) => {
      const parts = [];
      response.on("data", (part) => parts.push(part));
      response.on("end", () => resolve({ headers: response.headers, bytes: Buffer.concat(parts) }));
    }).on("error", reject);
  });

scenario("the first example can be read before any program has arrived", { page: "none" }, async (t) => {
  const page = await t.visit(`${t.runner.origin}/icon.svg`, newcomer);
  // Nothing comes but the page, its style and its boot script.
  await page.route(/\.wasm|editor\.js/, () => {});
  await page.goto(t.runner.origin, { waitUntil: "commit" });
  const first = page.locator("#first-text");
  await first.locator(".first-keyword").first().waitFor();
  const place = (of) =>
    of.evaluate((node) => {
      const range = document.createRange();
      // The first word that is seen: a card shows what stands above it.
      const words = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
      let text = words.nextNode();
      while (text && !text.data.startsWith("from")) text = words.nextNode();
      range.setStart(text, 0);
      range.setEnd(text, 1);
      const { left, top, height } = range.getBoundingClientRect();
      return { left, top, height };
    });
  const text = await first.textContent();
  const before = await place(first);
  await t.shot("before", page);
  // The page itself shows the same text in the same place.
  t.page = await t.open(t.runner.url, newcomer);
  assert.equal(text, await t.text());
  const line = t.page.locator('[data-testid="editor"] .cm-line', { hasText: "from ndsl" }).first();
  const after = await place(line);
  await t.shot("after");
  for (const side of ["left", "top", "height"]) {
    assert.ok(Math.abs(before[side] - after[side]) <= 2, `${side}: ${before[side]} becomes ${after[side]}`);
  }
});

scenario("files are packed, and kept as long as they are the same", async (t) => {
  const index = await t.page.evaluate(() => fetch("./").then((it) => it.text()));
  const [, style] = index.match(/href="(?:\.\/)?(v-[0-9a-f]{16}\/style\/main\.css)"/);
  const names = [style, style.replace("style/main.css", "worker_bg.wasm"), "index.html", "sw.js"];
  for (const name of names) {
    for (const [encoding, ending] of [["br", ".br"], ["gzip", ".gz"], ["identity", ""]]) {
      const { headers: found, bytes } = await answer(`${t.runner.origin}/${name}`, encoding);
      // A build for developers is not packed.
      const isPacked = ending !== "" && existsSync(join(DIST, name + ending));
      assert.equal(found["content-encoding"], isPacked ? encoding : undefined, `${name}, ${encoding}`);
      assert.ok(bytes.equals(readFileSync(join(DIST, isPacked ? name + ending : name))), `${name}, ${encoding}`);
      const policy = name.startsWith("v-") ? "public, max-age=31536000, immutable" : "no-cache";
      assert.equal(found["cache-control"], policy, name);
      assert.ok(found.etag, name);
    }
  }
});

scenario("after one visit everything works without a network", { page: "none", runner: "own" }, async (t) => {
  t.serviceWorkers = "allow";
  const page = (t.page = await t.open(t.runner.url));
  await kept(page);
  await t.runner.kill();
  await page.reload();
  await t.settled(page);
  assert.ok(await page.evaluate(() => navigator.serviceWorker.controller !== null));
  await t.toEnd();
  await page.keyboard.type("  # written without a network");
  await t.settled();
  await t.show("c");
  await t.runHere();
  await t.ran("done");
  await t.shot("offline");
  const names = await cached(page);
  assert.ok(names.includes("/") && names.some((it) => /^\/v-[0-9a-f]{16}\/worker_bg\.wasm$/.test(it)), `${names}`);
  assert.deepEqual(names.filter((it) => it.includes("/v1/")), []);
});

scenario("below a path of any host the page works, and a newer version takes over when it is asked", { page: "none" }, async (t) => {
  const host = await startHost(DIST);
  const later = await laterVersion();
  t.hosts.add(new URL(host.url).origin);
  try {
    t.serviceWorkers = "allow";
    const page = (t.page = await t.open(host.url));
    await kept(page);
    await page.reload();
    await t.settled();
    await t.toEnd();
    await page.keyboard.type("  # mine");
    await t.settled();
    const text = await t.text();

    host.serve(later.folder);
    host.asked.length = 0;
    await page.evaluate(async () => (await navigator.serviceWorker.getRegistration()).update());
    const take = await t.see("take-version");
    await t.shot("told");
    // What both versions have is not loaded once more.
    const loaded = host.asked.filter((it) => it.includes(later.after));
    assert.deepEqual(loaded, []);
    assert.equal(await page.title(), "Isobar");
    await Promise.all([page.waitForEvent("load"), take.click()]);
    await page.locator('[data-testid="app"][data-ready="true"]').waitFor({ state: "attached" });
    await t.settled();
    assert.equal(await page.title(), "Isobar, a later version");
    const used = await page.evaluate(() => performance.getEntriesByType("resource").map((it) => it.name));
    assert.ok(used.some((it) => it.includes(later.after)));
    assert.deepEqual(used.filter((it) => it.includes(later.before)), [], "files of two versions are mixed");
    assert.equal(await t.text(), text, "the text is kept");
    // And it is there without a network as well.
    await host.stop();
    await page.reload();
    await t.settled();
    assert.equal(await page.title(), "Isobar, a later version");
  } finally {
    await host.stop().catch(() => {});
    await later.remove();
  }
});

scenario("a newer version takes over while a file of the one before is still on its way", { page: "none" }, async (t) => {
  const host = await startHost(DIST);
  const later = await laterVersion();
  t.hosts.add(new URL(host.url).origin);
  try {
    t.serviceWorkers = "allow";
    const page = (t.page = await t.open(host.url));
    await kept(page);
    await page.reload();
    await t.settled();
    await t.toEnd();
    await page.keyboard.type("  # mine");
    await t.settled();
    const text = await t.text();

    host.serve(later.folder);
    await page.evaluate(async () => (await navigator.serviceWorker.getRegistration()).update());
    const take = await t.see("take-version");
    // The worker of the version before waits for it, and the browser for the worker.
    const held = "v-0000000000000000/never.txt";
    host.hold((it) => it.endsWith(held));
    await page.evaluate((it) => void fetch(it).catch(() => {}), held);
    while (!host.asked.some((it) => it.endsWith(held))) await page.waitForTimeout(50);
    await take.click();
    await page.waitForFunction(() => document.title === "Isobar, a later version");
    await t.settled();
    assert.equal(await t.text(), text, "the text is kept");
    // It is kept as before.
    await kept(page);
  } finally {
    await host.stop().catch(() => {});
    await later.remove();
  }
});

scenario("a part of the compiler that the network holds back comes when it is asked for again", { page: "none" }, async (t) => {
  const host = await startHost(DIST);
  t.hosts.add(new URL(host.url).origin);
  const isPart = (it) => it.endsWith("/split_worker.wasm");
  host.cut(isPart);
  try {
    const page = (t.page = await t.open(host.url));
    await t.get("stage-tab-c").click();
    const pane = t.get("stage-pane-c");
    await pane.getByText("Compiling …").first().waitFor();
    // What was read, and runs, needs nothing of it.
    await t.runHere();
    await t.ran("done", "numpy");
    while (!host.asked.some(isPart)) await page.waitForTimeout(50);
    assert.equal(await pane.getAttribute("data-state"), "waiting");
    host.cut(() => false);
    await t.see("stage-pane-c", { "data-state": "fresh" });
  } finally {
    await host.stop().catch(() => {});
  }
});
