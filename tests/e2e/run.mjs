// Runs the scenarios: node run.mjs [part of a name]
//
// ISOBAR_BIN         the isobar program
// ISOBAR_CHROMIUM    the browser
// ISOBAR_FIREFOX     the browser instead, which has a list of its own where no part of a name is given
// ISOBAR_LANES       how many scenarios run at the same time
// ISOBAR_ARTIFACTS   where the screenshots go: one of each scenario that fails
// ISOBAR_PICTURES    where it is set, screenshots of every scenario
//
// Scenarios that measure time or load the machine come last, with nothing beside them. After a run of all scenarios, a few
// that failed are tried once more, each alone: a browser on a busy machine drops a key or a request now and then. The
// output names what passes at the second try, so that it is looked into. With a part of a name, each failure counts.
//
// The last line is `N passed, M failed, K skipped`.

import { mkdir, readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { IN_FIREFOX } from "./firefox.mjs";
import { scenarios } from "./harness.mjs";
import { Lane, seconds } from "./lanes.mjs";

/** More browsers than these share two cores badly. */
const LANES = 2;

/** Of more failures than these, none is tried again. */
const MOST_UNSTEADY = 3;

/** So many scenarios are named as the slowest. */
const SLOWEST = 10;

const filter = process.argv[2] ?? "";
const artifacts = process.env.ISOBAR_ARTIFACTS ?? fileURLToPath(new URL("../../.artifacts/e2e", import.meta.url));
await mkdir(artifacts, { recursive: true });

const here = new URL(".", import.meta.url);
for (const file of (await readdir(here)).filter((name) => name.endsWith(".test.mjs")).sort()) {
  await import(new URL(file, here));
}

// Playwright closes the browsers then, and each scenario would go on with another one.
process.once("SIGTERM", () => process.exit(143));

const isFirefox = Boolean(process.env.ISOBAR_FIREFOX);
const unknown = IN_FIREFOX.filter((it) => !scenarios.some(({ name }) => name === it));
if (unknown.length > 0) throw new Error(`no scenario is called ${unknown.join(", nor ")}`);
const isListed = isFirefox && filter === "";
const chosen = scenarios.filter(({ name }) => (isListed ? IN_FIREFOX.includes(name) : name.includes(filter)));

const beside = chosen.filter(({ needs }) => !needs.alone);
const alone = chosen.filter(({ needs }) => needs.alone);
// A long scenario at the end would run while the other lanes have nothing to do.
const queue = [...beside.filter(({ needs }) => needs.long), ...beside.filter(({ needs }) => !needs.long)];

const nLanes = isFirefox ? 1 : Number(process.env.ISOBAR_LANES ?? LANES);
const lanes = Array.from({ length: nLanes }, (_, at) => new Lane(`lane ${at + 1}`, artifacts));
const outcomes = [];
await Promise.all(
  lanes.map(async (lane) => {
    while (queue.length > 0) outcomes.push(await lane.play(queue.shift()));
    await lane.end();
  }),
);

const last = new Lane("alone", artifacts);
for (const scenario of alone) outcomes.push(await last.play(scenario));
const failed = outcomes.filter(({ ended }) => ended === "failed");
const unsteady = [];
if (filter === "" && failed.length <= MOST_UNSTEADY) {
  for (const outcome of failed) {
    console.log(`once more: ${outcome.scenario.name}`);
    outcome.ended = (await last.play(outcome.scenario)).ended;
    if (outcome.ended !== "failed") unsteady.push(outcome.scenario.name);
  }
}
await last.end();

const slowest = outcomes.toSorted((a, b) => b.ms - a.ms).slice(0, SLOWEST);
console.log(`the slowest:\n${slowest.map(({ scenario, ms }) => `${seconds(ms).padStart(7)} s  ${scenario.name}`).join("\n")}`);
console.log([...lanes, last].map(({ name, ms }) => `${name}: ${seconds(ms)} s`).join(", "));
for (const name of unsteady) console.log(`UNSTEADY, passed at the second try alone: ${name}`);
const count = (wanted) => outcomes.filter(({ ended }) => ended === wanted).length;
console.log(`${count("passed")} passed, ${count("failed")} failed, ${count("skipped")} skipped`);
process.exit(count("failed") > 0 ? 1 : 0);
