// Runs the scenarios: node run.mjs [part of a name]
//
// ISOBAR_BIN         the isobar program
// ISOBAR_CHROMIUM    the browser
// ISOBAR_FIREFOX     the browser instead, which has a list of its own where no part of a name is given
// ISOBAR_ARTIFACTS   where the screenshots go
//
// In a run of all scenarios, one that fails is tried once more: a browser on a machine that is at work for others drops a
// key or a request now and then. What passes at the second try alone is named at the end, to be looked into; of more than
// a few, or with a part of a name, each failure counts.
//
// The last line is `N passed, M failed`.

import { mkdir, readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { launch } from "./browser.mjs";
import { IN_FIREFOX } from "./firefox.mjs";
import { Scene, scenarios } from "./harness.mjs";

const filter = process.argv[2] ?? "";
const artifacts = process.env.ISOBAR_ARTIFACTS ?? fileURLToPath(new URL("../../.artifacts/e2e", import.meta.url));
await mkdir(artifacts, { recursive: true });

const here = new URL(".", import.meta.url);
for (const file of (await readdir(here)).filter((name) => name.endsWith(".test.mjs")).sort()) {
  await import(new URL(file, here));
}

/** No scenario takes that long; one that does hangs. */
const LONGEST_MS = 180_000;

/** So many scenarios may pass at the second try alone. */
const MOST_UNSTEADY = 3;

const counts = { passed: 0, failed: 0 };
const isListed = process.env.ISOBAR_FIREFOX && filter === "";
const unknown = IN_FIREFOX.filter((it) => !scenarios.some(({ name }) => name === it));
if (unknown.length > 0) throw new Error(`no scenario is called ${unknown.join(", nor ")}`);
const chosen = scenarios.filter(({ name }) => (isListed ? IN_FIREFOX.includes(name) : name.includes(filter)));
const browser = chosen.length > 0 ? await launch() : undefined;
const unsteady = [];
for (const scenario of chosen) {
  let isPassed = await passes(scenario);
  if (!isPassed && filter === "" && unsteady.length < MOST_UNSTEADY) {
    isPassed = await passes(scenario);
    if (isPassed) unsteady.push(scenario.name);
  }
  counts[isPassed ? "passed" : "failed"] += 1;
}
await browser?.close();
for (const name of unsteady) console.log(`UNSTEADY, passed at the second try alone: ${name}`);
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exit(counts.failed > 0 ? 1 : 0);

/** Plays a scenario, and tells how it went. */
async function passes({ name, tell }) {
  const scene = new Scene(name, browser, artifacts);
  const start = performance.now();
  const seconds = () => ((performance.now() - start) / 1000).toFixed(1);
  try {
    await within(LONGEST_MS, async () => {
      await scene.start();
      await tell(scene);
      await scene.shot("done");
      if (scene.complaints.length > 0) throw new Error(`the page complained:\n${scene.complaints.join("\n")}`);
    });
    console.log(`ok      ${name} (${seconds()} s)`);
    return true;
  } catch (error) {
    console.log(`FAILED  ${name} (${seconds()} s)\n${indent(error?.stack ?? error)}`);
    if (scene.complaints.length > 0) console.log(indent(scene.complaints.join("\n")));
    if (scene.page) await scene.shot("failed").catch(() => {});
    return false;
  } finally {
    await scene.end().catch((error) => console.log(indent(`while closing: ${error}`)));
  }
}

async function within(ms, work) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no end after ${ms} ms`)), ms);
  });
  try {
    await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
}

function indent(text) {
  return String(text).replace(/^/gm, "        ");
}
