// The page in another language: all that it says, and nothing of what it shows.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { isStill, resize, scenario } from "./harness.mjs";

const LOCALES = new URL("../../static/locales/", import.meta.url);

/** Every way in which a language says something, as regular expressions' sources by key. */
function said(language) {
  const found = new Map();
  const folder = new URL(`${language}/`, LOCALES);
  for (const file of readdirSync(folder)) {
    let key;
    for (const line of readFileSync(new URL(file, folder), "utf8").split("\n")) {
      const begun = /^([a-z][\w-]*) = (.*)$/.exec(line);
      if (begun) key = begun[1];
      const text = begun?.[2] ?? /^\s+\*?\[\w+\] (.*)$/.exec(line)?.[1];
      if (!text || text.endsWith("->")) continue;
      // A text of nothing but what is filled in would be every text.
      if (!/\p{L}{2}/u.test(text.replace(/\{[^}]*\}/g, ""))) continue;
      const escaped = (it) => it.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
      const source = text.split(/\{[^}]*\}/).map(escaped).join(".+?");
      found.set(key, [...(found.get(key) ?? []), source]);
    }
  }
  return found;
}

const [english, german] = ["en", "de"].map(said);
const ofGerman = new Set([...german.values()].flat());
const ENGLISH_ONLY = [...english].flatMap(([key, all]) => all.filter((it) => !ofGerman.has(it)).map((it) => [key, it]));

/** What is read and heard of a page, but for texts that are no interface: code, courses, the manual, what a compiler says. */
function read(page) {
  return page.evaluate(() => {
    const others = [
      ".listing, .editor, code, pre, textarea, .prose, .remark-text, .problem-line, .problem-note, .problem-help",
      ".lesson-text h2, .lesson-crumbs, .lesson-goals, .lesson-title, .lesson-words, .sheet-about, .manual-text",
      ".manual-contents ul, .head-card, .term-card, .stage-tab, [data-term]",
      "[data-testid=text-name], [data-testid=texts], .lesson-verdicts, .lesson-drawing, .provenance, #field-body .kind, .pass-name, .timing-part, .sheet-head h2",
    ].join(",");
    // Names of lessons are theirs.
    const otherTitles = `${others}, .lesson-beside`;
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const { parentElement, data } = walker.currentNode;
      if (!parentElement.closest(others)) found.push(data.trim());
    }
    for (const it of document.querySelectorAll("[title], [aria-label], [placeholder]")) {
      if (it.closest(otherTitles)) continue;
      for (const name of ["title", "aria-label", "placeholder"]) found.push((it.getAttribute(name) ?? "").trim());
    }
    return [...new Set(found)].filter((it) => it !== "");
  });
}

/** What the page says in English where it should say it in German. */
async function leftInEnglish(page) {
  const all = await read(page);
  const german = [...ofGerman].map((it) => new RegExp(`^${it}$`, "u"));
  const left = [];
  for (const text of all) {
    const found = ENGLISH_ONLY.find(([, it]) => new RegExp(`^${it}$`, "u").test(text));
    if (found && !german.some((it) => it.test(text))) left.push(`${found[0]}: ${text}`);
  }
  return left;
}

async function choose(t, language) {
  await t.unfolded("more");
  await Promise.all([t.page.waitForEvent("load"), t.get("language-select").selectOption(language)]);
  await t.see("app", { "data-ready": "true" });
  await t.settled();
}

/** Every screen, and how one comes there from the one before. */
const SCREENS = [
  ["the page", async () => {}],
  ["a result", async (t) => {
    await t.runHere();
    await t.ran("done");
    await t.get("statistics").waitFor();
  }],
  ["a line", (t) => t.get("view-line").click()],
  ["a histogram", (t) => t.get("view-histogram").click()],
  ["time", (t) => t.get("view-time").click()],
  ["a profile", (t) => t.get("view-profile").click()],
  ["a cell", async (t) => {
    await t.get("view-plan").click();
    await t.get("field-canvas").click();
    await t.get("inspector").waitFor();
  }],
  ["values", (t) => t.get("values-toggle").click()],
  ["passes", (t) => t.get("passes-toggle-oir").click()],
  ["decisions", (t) => t.get("decisions").locator("summary").first().click()],
  ["a search", (t) => t.get("stage-find-oir").click()],
  ["inputs", (t) => t.unfold()],
  ["output", (t) => t.get("drawer-output").click()],
  ["what is open", (t) => t.unfolded("opened")],
  ["size", async (t) => {
    await t.page.keyboard.press("Escape");
    await t.unfolded("size");
  }],
  ["more", async (t) => {
    await t.page.keyboard.press("Escape");
    await t.unfolded("more");
  }],
  ["help", async (t) => {
    await t.get("help").click();
    await t.get("help-dialog").waitFor();
  }],
  ["share", async (t) => {
    await t.get("help-close").click();
    await t.get("share").click();
    await t.get("share-link").waitFor();
  }],
  ["a fault", async (t) => {
    await t.page.keyboard.press("Escape");
    await t.toEnd();
    await t.page.keyboard.type("\n\nthis is no Python");
    await t.get("drawer-problems").click();
    await t.get("problem").first().waitFor();
  }],
  ["lessons", async (t) => {
    await t.get("go-learn").click();
    await t.get("lesson-card").first().waitFor();
  }],
  ["a lesson", async (t) => {
    await t.get("lesson-card").nth(1).locator("a").first().click();
    await t.get("check-lesson").waitFor();
    await t.settled();
  }],
  ["gallery", async (t) => {
    await t.get("go-gallery").click();
    await t.get("gallery-card").first().waitFor();
  }],
  ["manual", async (t) => {
    await t.get("go-manual").click();
    await t.get("manual-view").waitFor();
  }],
];

scenario("a visitor chooses German and finds the text again, and no English left on any screen", { long: true }, async (t) => {
  await t.pick("smoother");
  const before = await t.lines("oir");
  await t.toEnd();
  await t.page.keyboard.type("\n# a line of one's own");
  const text = await t.text();
  assert.deepEqual(await t.page.evaluate(() => [document.documentElement.lang, document.documentElement.dir]), ["en", "ltr"]);
  // At once: what was typed last is written before the page goes.
  await choose(t, "de");
  assert.equal(await t.page.evaluate(() => document.documentElement.lang), "de");
  assert.equal(await t.text(), text, "what was typed is there");
  assert.deepEqual(await t.lines("oir"), before, "levels are the same in every language");
  assert.equal((await t.get("run").textContent()).trim(), "Ausführen");
  assert.equal(await t.get("language-select").inputValue(), "de");
  const left = [];
  for (const [name, show] of SCREENS) {
    await show(t);
    // What comes a moment later belongs to it as well.
    await isStill(t.page);
    left.push(...(await leftInEnglish(t.page)).map((it) => `${name}: ${it}`));
    if (["a result", "help", "a fault", "lessons"].includes(name)) await t.shot(name);
  }
  assert.deepEqual([...new Set(left)], []);
  await choose(t, "en");
  assert.equal((await t.get("run").textContent()).trim(), "Run");
});

scenario("numbers are written as German writes them, and what is copied is not", { page: "none" }, async (t) => {
  const page = (t.page = await t.open(t.runner.url, () => {
    localStorage.setItem("isobar.language", "de");
    window.copied = "";
    navigator.clipboard.writeText = (text) => Promise.resolve((window.copied = text));
  }));
  await t.runHere();
  await t.ran("done");
  const mean = await (await t.see("stat-mean")).innerText();
  assert.match(mean, /\d,\d/);
  assert.doesNotMatch(mean, /\d\.\d/);
  await t.get("copy-csv").click();
  await page.waitForFunction(() => window.copied !== "");
  const [head, first] = (await page.evaluate(() => window.copied)).split("\n");
  assert.match(head, /^j\\i,/);
  assert.match(first, /\d\.\d/, "values that are copied are read by programs");
  await t.get("view-profile").click();
  await page.evaluate(() => (window.copied = ""));
  await t.get("copy-csv").click();
  await page.waitForFunction(() => window.copied !== "");
  assert.match(await page.evaluate(() => window.copied), /^k,horizontal mean,/);
});

scenario("a browser that asks for German gets it, and one whose language nobody wrote gets English", { page: "none" }, async (t) => {
  t.media = { locale: "de-AT" };
  const german = await t.open(t.runner.url);
  assert.equal(await german.evaluate(() => document.documentElement.lang), "de");
  t.media = { locale: "is-IS" };
  const icelandic = await t.open(t.runner.url);
  assert.equal(await icelandic.evaluate(() => document.documentElement.lang), "en");
});

scenario("where the German catalogue cannot be had, the page speaks English and works", { page: "none" }, async (t) => {
  t.media = { locale: "de-DE" };
  const page = await t.open(t.runner.url, () => {
    const { fetch } = window;
    window.fetch = (what, ...how) =>
      String(what).endsWith("locales/de.ftl") ? Promise.reject(new TypeError("no network")) : fetch(what, ...how);
  });
  assert.equal(await page.evaluate(() => document.documentElement.lang), "en");
  assert.equal((await t.get("run", page).textContent()).trim(), "Run");
  assert.equal(await t.get("language-select", page).inputValue(), "en");
});

scenario("in German nothing is wider than a phone, nor than the page", { page: "none" }, async (t) => {
  for (const [width, height] of [[390, 844], [1440, 900]]) {
    const page = await t.open(t.runner.url, () => localStorage.setItem("isobar.language", "de"));
    await resize(page, width, height);
    for (const [address, view] of [["", "editor"], ["#/learn", "learn"], ["#/gallery", "gallery"], ["#/manual", "manual"]]) {
      await page.evaluate((it) => (location.hash = it), address);
      await t.see("app", { "data-view": view }, page);
      await isStill(page);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= width, `${view} at ${width} px is ${wide} px wide`);
    }
  }
});
