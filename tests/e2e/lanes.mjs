// Where scenarios run: a lane has a browser, and a runner for the scenarios that leave it as it is.

import { launch, startRunner } from "./browser.mjs";
import { Scene, Skipped } from "./harness.mjs";

/** No scenario takes that long, even on a busy machine; one that does hangs. */
const LONGEST_MS = 300_000;

/** Plays one scenario after the other. */
export class Lane {
  /** How long its scenarios took, all together. */
  ms = 0;

  constructor(name, artifacts) {
    this.name = name;
    this.artifacts = artifacts;
  }

  /**
   * Plays a scenario, and prints how it went.
   *
   * @returns {Promise<{scenario: object, ended: "passed" | "failed" | "skipped", ms: number}>}
   */
  async play(scenario) {
    const { name, needs, tell } = scenario;
    const start = performance.now();
    let scene;
    let ended = "passed";
    let told = [];
    try {
      scene = new Scene(name, await this.#connected(), this.artifacts, await this.#runnerFor(needs));
      await within(LONGEST_MS, async () => {
        await scene.start(needs);
        await tell(scene);
        if (process.env.ISOBAR_PICTURES) await scene.picture("done");
        if (scene.complaints.length > 0) throw new Error(`the page complained:\n${scene.complaints.join("\n")}`);
      });
    } catch (error) {
      if (error instanceof Skipped) {
        ended = "skipped";
        console.log(`skipped: ${name}: ${error.message}`);
      } else {
        ended = "failed";
        told = [error?.stack ?? error, ...(scene?.complaints ?? [])];
        // A page that is gone has no picture.
        if (scene?.page) await scene.picture("failed").catch(() => {});
      }
    }
    await scene?.end().catch((error) => told.push(`while closing: ${error}`));
    // The next scenario finds nothing of a run that this one left on the runner.
    if (ended === "failed") await this.#stopRunner();
    const ms = performance.now() - start;
    this.ms += ms;
    if (ended !== "skipped") {
      const head = `${ended === "passed" ? "ok      " : "FAILED  "}${name} (${seconds(ms)} s)`;
      // One call, so that another lane prints nothing in between.
      console.log([head, ...[...(scene?.notes ?? []), ...told].map(indent)].join("\n"));
    }
    return { scenario, ended, ms };
  }

  async end() {
    await this.#stopRunner();
    await this.browser?.close();
  }

  /** The browser; another one where it has crashed. */
  async #connected() {
    if (!this.browser?.isConnected()) this.browser = await launch();
    return this.browser;
  }

  /** The runner of the lane; none for a scenario that starts its own. */
  async #runnerFor(needs) {
    if (needs.runner === "own") return undefined;
    if (!this.runner?.isAlive()) {
      await this.#stopRunner();
      this.runner = await startRunner();
    }
    return this.runner;
  }

  async #stopRunner() {
    await this.runner?.stop();
    this.runner = undefined;
  }
}

export function seconds(ms) {
  return (ms / 1000).toFixed(1);
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
