// Whatever fails while somebody types.

import assert from "node:assert/strict";
import { scenario } from "./harness.mjs";
import { MAY_LOSE_MS, injectFaults } from "./faults.mjs";

/** One of each kind; `cargo xtask e2e --faults 1000` has more. */
const FAULTS = 20;

scenario("whatever fails, at most a second of typing is lost", { alone: true }, async (t) => {
  // Browsers and runners of their own: some of the faults end them.
  const outcomes = await injectFaults({ count: FAULTS, lanes: 2 });
  const bad = outcomes.filter((it) => it.error || it.lost > MAY_LOSE_MS);
  const told = bad.map((it) => `${it.number}, ${it.kind} (${it.place}): ${it.error ?? `${Math.round(it.lost)} ms lost`}`);
  assert.deepEqual(told, []);
  assert.equal(new Set(outcomes.map((it) => it.kind)).size, FAULTS, "a kind has no fault");
  assert.ok(outcomes.every((it) => it.words > 0), "nothing was typed");
  const worst = Math.max(...outcomes.map((it) => it.lost));
  t.note(`${FAULTS} faults, worst loss ${worst.toFixed(0)} ms`);
  // The page that the runner of this scenario serves has nothing to say.
  await t.see("app", { "data-ready": "true" });
});
