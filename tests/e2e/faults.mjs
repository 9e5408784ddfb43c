// Faults at random moments of typing, and how much of it they cost: `cargo xtask e2e --faults N`.
//
// node faults.mjs N         prints the table of docs/playground.md
// ISOBAR_FAULTS_SEED        another seed than 1
// ISOBAR_FAULTS_FIRST       the number of the first fault: those of a seed are the same, whoever else is injected

import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { launchAt, startRunner } from "./browser.mjs";
import { focusText, keptTexts } from "./harness.mjs";

/** What a fault may cost. */
export const MAY_LOSE_MS = 1000;
/** The longest time of typing before a fault: long enough that everything but the last second has to be there. */
const LONGEST_TYPING_MS = 2000;
/** How long what was kept may take to appear after the editor has. */
const RECOVERY_MS = 10_000;
/** A text with more tokens than these is begun anew. */
const MOST_TOKENS = 150;

/** After more failures than these, one after the other, there is no use in going on. */
const MOST_FAILURES = 5;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Numbers that look random, the same for each seed (mulberry32). */
function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Ends the page's process: nothing of the page hears of it. */
async function crash(lane) {
  const session = await lane.context.newCDPSession(lane.page);
  const gone = new Promise((resolve) => lane.page.once("crash", resolve));
  // It is never answered.
  session.send("Page.crash").catch(() => {});
  await gone;
}

/** Ends every page's process of the browser from outside. */
async function killRenderers(lane) {
  const session = await lane.context.browser().newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  const gone = new Promise((resolve) => lane.page.once("crash", resolve));
  for (const { type, id } of processInfo) if (type === "renderer") process.kill(id, "SIGKILL");
  await gone;
}

/** Types a while longer, so that what follows is typed after the fault; then the tab crashes. */
const thenCrash = (act) => async (lane, fault) => {
  await act(lane, fault);
  await lane.type(fault, fault.rng() * 1500);
  fault.at = performance.now();
  await crash(lane);
};

const inPage = (script) => (lane) => lane.page.evaluate(script);

/** Does something in another tab of the same origin, so that it takes no time of the page. */
async function elsewhere(lane, script) {
  const other = await lane.context.newPage();
  await other.goto(`${lane.runner.origin}/icon.svg`);
  await other.evaluate(script);
  await other.close();
}

const fillLocal = async (lane, fault) => {
  await elsewhere(lane, () => {
    let size = 1 << 20;
    for (let at = 0; size > 0; at++) {
      try {
        localStorage.setItem(`filler${at}`, "x".repeat(size));
      } catch {
        size >>= 1;
      }
    }
  });
  fault.after = inPage(() => {
    for (const key of Object.keys(localStorage)) if (key.startsWith("filler")) localStorage.removeItem(key);
  });
};

const refuseLocal = inPage(() => {
  Storage.prototype.setItem = () => {
    throw new DOMException("refused", "QuotaExceededError");
  };
});

const refusePuts = inPage(() => {
  IDBObjectStore.prototype.put = () => {
    throw new DOMException("refused", "QuotaExceededError");
  };
});

const silenceDatabase = inPage(() => {
  IDBDatabase.prototype.transaction = () => {
    throw new DOMException("the connection is gone", "InvalidStateError");
  };
  // A request that is never answered.
  IDBFactory.prototype.open = () => new EventTarget();
});

/** Everything in one worker, or in all, ends in an exception, as a panic of their program does. */
const panic = (which) => async (lane) => {
  for (const worker of which(lane.page.workers())) {
    await worker
      .evaluate(() => {
        setTimeout(() => {
          throw new WebAssembly.RuntimeError("unreachable executed");
        });
      })
      .catch(() => {});
  }
};

const end = (which) => async (lane) => {
  for (const worker of which(lane.page.workers())) await worker.evaluate(() => self.close()).catch(() => {});
};

const first = (workers) => workers.slice(0, 1);
const all = (workers) => workers;

/** What happens to a worker costs nothing: typing goes on, and the text is there, now and after the next load. */
const ofWorkers = (act) => async (lane, fault) => {
  await act(lane, fault);
  await lane.type(fault, 200 + fault.rng() * 300);
  await lane.expectAll(fault, "in the page that goes on");
  await lane.page.reload();
};

/** What can go wrong: each leaves `lane.page` ended, or a page that was loaded again. */
const KINDS = {
  "the compiler's worker panics": ofWorkers(panic(first)),
  "every worker panics while a run goes on": ofWorkers(async (lane, fault) => {
    await lane.page.keyboard.press("Control+Enter");
    await pause(fault.rng() * 60);
    await panic(all)(lane);
  }),
  "the compiler's worker ends without a word": ofWorkers(end(first)),
  "every worker ends while a run goes on": ofWorkers(async (lane, fault) => {
    await lane.page.keyboard.press("Control+Enter");
    await pause(fault.rng() * 60);
    await end(all)(lane);
  }),
  "the tab crashes": crash,
  "the tab's process is killed": killRenderers,
  "the tab is closed": async (lane) => lane.page.close(),
  "the tab goes to another page": async (lane) => lane.page.goto("about:blank"),
  "the page is loaded again": async (lane) => lane.page.reload(),
  "the browser is killed": (lane) => lane.killBrowser(),
  "quick storage is full, then the tab crashes": thenCrash(fillLocal),
  "quick storage refuses, then the tab crashes": thenCrash(refuseLocal),
  "the database refuses, then the tab crashes": thenCrash(refusePuts),
  "the database does not answer, then the tab crashes": thenCrash(silenceDatabase),
  "the database is deleted, then the tab crashes": thenCrash(async (lane) => {
    // By another page: whoever has the database open has to let go of it.
    const forget = () =>
      new Promise((resolve, reject) => {
        const request = indexedDB.deleteDatabase("isobar");
        request.onsuccess = () => resolve();
        request.onerror = () => reject(request.error);
        request.onblocked = () => reject(new Error("the page holds on to its database"));
      });
    await elsewhere(lane, forget);
  }),
  "quick storage is full, then the browser is killed": async (lane, fault) => {
    await fillLocal(lane, fault);
    await lane.type(fault, fault.rng() * 1500);
    fault.at = performance.now();
    await lane.killBrowser();
  },
  "both storages refuse": async (lane, fault) => {
    const mend = `(${function () {
      const [set, put] = [Storage.prototype.setItem, IDBObjectStore.prototype.put];
      window.mend = () => {
        Storage.prototype.setItem = set;
        IDBObjectStore.prototype.put = put;
      };
    }})()`;
    await lane.page.evaluate(mend);
    await refuseLocal(lane);
    await refusePuts(lane);
    await lane.type(fault, 300);
    const refused = performance.now();
    const warning = lane.get("storage-warning");
    await warning.waitFor({ timeout: RECOVERY_MS });
    fault.warnedAfter = performance.now() - refused;
    await lane.get("storage-zip").waitFor({ timeout: RECOVERY_MS });
    await lane.page.evaluate("mend()");
    // Room again: the next keys are kept, and the warning goes.
    await lane.type(fault, 300);
    await warning.waitFor({ state: "detached", timeout: RECOVERY_MS });
    fault.at = performance.now();
    await crash(lane);
  },
  "another tab opens the text": async (lane, fault) => {
    const other = await lane.context.newPage();
    await other.goto(lane.page.url());
    await lane.editorOf(other);
    await focusText(other);
    await other.keyboard.press("Control+End");
    await other.keyboard.type("\n# of the other tab ");
    await lane.type(fault, 300 + fault.rng() * 900);
    fault.at = performance.now();
    await lane.page.reload();
    await other.close();
  },
  "the network is lost": async (lane, fault) => {
    await lane.context.setOffline(true);
    await lane.type(fault, 200 + fault.rng() * 500);
    fault.at = performance.now();
    await lane.page.reload();
    fault.after = () => lane.context.setOffline(false);
  },
  "the runner is killed": async (lane, fault) => {
    await lane.runner.kill();
    await lane.type(fault, 200 + fault.rng() * 500);
    fault.at = performance.now();
    await lane.page.reload();
    fault.after = () => lane.startRunner();
  },
};

/** Texts that are kept in ways of their own. */
const PLACES = [
  ["own", 0.7],
  ["lesson", 0.15],
  ["link", 0.15],
];

const FAULTS_OF_A_PLACE = 7;

/** What a page shows, and what its browser has of each text. */
async function whatIsLeft(lane) {
  const ends = (it) => String(it).slice(-120);
  const kept = await lane.page.evaluate(keptTexts);
  const quick = await lane.page.evaluate(() => Object.entries(localStorage));
  const told = [
    `shown: ${ends(await lane.text())}`,
    ...kept.map(({ id, at, state }) => `${id} ${at} ${ends(state)}`),
    ...quick.filter(([key]) => key.startsWith("isobar")).map(([key, value]) => `${key} = ${ends(value)}`),
  ];
  return told.join("\n    ");
}

/** One browser with a profile of its own, and one runner; faults come to it one after the other. */
class Lane {
  async start() {
    this.profile = await mkdtemp(join(tmpdir(), "isobar-faults-"));
    await this.startRunner();
    await this.startBrowser();
    [this.link] = (await readFile(new URL("../links/2-copy.txt", import.meta.url), "utf8")).split("\n");
    await this.page.goto(this.runner.url);
    await this.editorOf();
    // Everything is kept for later, so that the page can be loaded without a network.
    await this.page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
    this.place = "own";
    this.tokens = Infinity;
  }

  async startRunner() {
    this.runner = await startRunner(this.runner && new URL(this.runner.origin).port);
  }

  async startBrowser() {
    this.context = await launchAt(this.profile);
    this.page = this.context.pages()[0] ?? (await this.context.newPage());
    this.watch();
  }

  watch() {
    this.page.setDefaultTimeout(20_000);
    this.page.on("console", (message) => {
      if (/panicked at/.test(message.text())) this.complaint = message.text();
    });
  }

  async killBrowser() {
    const session = await this.context.browser().newBrowserCDPSession();
    const { processInfo } = await session.send("SystemInfo.getProcessInfo");
    const gone = new Promise((resolve) => this.context.once("close", resolve));
    process.kill(processInfo.find((it) => it.type === "browser").id, "SIGKILL");
    await gone;
    this.context = undefined;
  }

  async end() {
    await this.context?.close().catch(() => {});
    await this.runner?.stop();
    await rm(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }

  get(id) {
    return this.page.locator(`[data-testid="${id}"]`);
  }

  async editorOf(page = this.page) {
    await page.waitForFunction(() => document.querySelector('[data-testid="editor"]')?.editor !== undefined);
  }

  text() {
    return this.page.evaluate(() => document.querySelector('[data-testid="editor"]').editor.getDoc());
  }

  /** Whatever is left of the page is loaded again, as somebody does who was surprised. */
  async recover() {
    if (!this.context) await this.startBrowser();
    const isAlive = await this.page.evaluate(() => location.protocol !== "about:").catch(() => false);
    if (!isAlive) {
      const [before] = [this.page];
      this.page = await this.context.newPage();
      this.watch();
      await before.close().catch(() => {});
      await this.page.goto(this.address());
    }
    await this.editorOf();
  }

  address() {
    return this.place === "lesson" ? `${this.runner.origin}/#/learn/first-course/01-first` : this.runner.url;
  }

  /** Brings a text of that kind into the editor, with room in it, and the caret to its end. */
  async goTo(place) {
    if (this.place !== place || this.tokens > MOST_TOKENS) {
      await this.page.goto("about:blank");
      this.place = place;
      const { link } = this;
      await this.page.goto(place === "link" ? `${this.runner.origin}/#${link}` : this.address());
      await this.editorOf();
      if (place === "lesson") await this.get("lesson").waitFor();
      if (place === "own" && (await this.get("leave-link").isVisible())) await this.get("leave-link").click();
      await focusText(this.page);
      await this.page.keyboard.press("Control+A");
      await this.page.keyboard.insertText("# a text that goes on and on\n");
      // It is kept.
      await pause(MAY_LOSE_MS + 200);
      this.tokens = 0;
    }
    await focusText(this.page);
    await this.page.keyboard.press("Control+End");
  }

  /** Types numbered words for so long. */
  async type(fault, ms) {
    const until = performance.now() + ms;
    while (performance.now() < until) {
      const number = fault.typed.length;
      const word = `${number % 12 === 0 ? "\n# " : " "}${fault.mark}.${number};`;
      // Pressed now, whenever the page comes to it.
      fault.typed.push(performance.now());
      this.tokens += 1;
      await this.page.keyboard.type(word);
      await pause(fault.pace * (0.5 + fault.rng()));
    }
  }

  /** How many of the words are there, one after the other. */
  async found(fault) {
    const text = await this.text();
    let found = 0;
    while (found < fault.typed.length && text.includes(`${fault.mark}.${found};`)) found += 1;
    return found;
  }

  async expectAll(fault, where) {
    const found = await this.found(fault);
    if (found < fault.typed.length) throw new Error(`${where}: ${found} of ${fault.typed.length} words are there`);
  }

  /** Injects a fault; tells what it cost. */
  async suffer(number, kind, seed) {
    const rng = random(seed * 1_000_003 + number);
    // Going from text to text takes its time: several faults come to each, of all kinds in the end.
    let dice = random(seed * 999_983 + Math.floor(number / FAULTS_OF_A_PLACE))();
    const [place] = PLACES.find(([, share]) => (dice -= share) < 0) ?? PLACES[0];
    const fault = { rng, mark: `f${number}`, typed: [], pace: 15 + rng() * rng() * 350 };
    await this.goTo(place);
    await this.type(fault, 100 + rng() * (LONGEST_TYPING_MS - 100));
    await pause(rng() * 60);
    fault.at = performance.now();
    await KINDS[kind](this, fault);
    await this.recover();
    // What only the database has appears a moment after the editor.
    const due = () => fault.typed.filter((at) => fault.at - at > MAY_LOSE_MS).length;
    const start = performance.now();
    let found = await this.found(fault);
    while (found < fault.typed.length && performance.now() < start + RECOVERY_MS) {
      if (found >= due() && performance.now() > start + 1000) break;
      await pause(50);
      found = await this.found(fault);
    }
    await fault.after?.(this);
    const lost = found < fault.typed.length ? fault.at - fault.typed[found] : 0;
    let left;
    if (lost > MAY_LOSE_MS) {
      this.tokens = Infinity;
      left = await whatIsLeft(this).catch(() => "nothing can be read");
    }
    return { left, number, kind, place, lost, words: fault.typed.length, found, warnedAfter: fault.warnedAfter };
  }
}

/**
 * Injects faults, all kinds in turn.
 *
 * @returns {Promise<{number: number, kind: string, place: string, lost: number, error?: string}[]>} what each cost
 */
export async function injectFaults({ count, seed = 1, first = 0, lanes = 2, only, tell = () => {} }) {
  const kinds = Object.keys(KINDS).filter((it) => !only || it.includes(only));
  const outcomes = [];
  let next = first;
  let failures = 0;
  const work = async () => {
    let lane;
    while (next < first + count) {
      // Whatever it is, it is not the faults.
      if (failures > MOST_FAILURES) throw new Error(outcomes.at(-1).error);
      const number = next++;
      const kind = kinds[number % kinds.length];
      try {
        if (!lane) {
          lane = new Lane();
          await lane.start();
        }
        const outcome = await lane.suffer(number, kind, seed);
        if (lane.complaint) throw new Error(lane.complaint);
        outcomes.push(outcome);
        tell(outcome);
        failures = 0;
      } catch (error) {
        failures += 1;
        const outcome = { number, kind, place: lane?.place, lost: Infinity, error: String(error?.stack ?? error) };
        outcomes.push(outcome);
        tell(outcome);
        await lane?.end().catch(() => {});
        lane = undefined;
      }
    }
    await lane?.end();
  };
  await Promise.all(Array.from({ length: lanes }, work));
  return outcomes.sort((a, b) => a.number - b.number);
}

/** A row for each kind: how many, and what the worst of them cost. */
export function table(outcomes) {
  const rows = ["| fault | how many | worst loss | median loss | more than 1 s lost |", "|---|---|---|---|---|"];
  const row = (name, of) => {
    const lost = of.map((it) => it.lost).sort((a, b) => a - b);
    const ms = (it) => (it === Infinity ? "all" : `${Math.round(it)} ms`);
    const over = lost.filter((it) => it > MAY_LOSE_MS).length;
    rows.push(`| ${name} | ${of.length} | ${ms(lost.at(-1))} | ${ms(lost[lost.length >> 1])} | ${over} |`);
  };
  for (const kind of Object.keys(KINDS)) {
    const of = outcomes.filter((it) => it.kind === kind);
    if (of.length > 0) row(kind, of);
  }
  row("all", outcomes);
  return rows.join("\n");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [count = "1000", only] = process.argv.slice(2);
  const start = performance.now();
  const outcomes = await injectFaults({
    count: Number(count),
    seed: Number(process.env.ISOBAR_FAULTS_SEED ?? 1),
    first: Number(process.env.ISOBAR_FAULTS_FIRST ?? 0),
    lanes: Number(process.env.ISOBAR_FAULTS_LANES ?? 3),
    only,
    tell: (it) => {
      const { number, kind, place, lost, words, found, error } = it;
      if (process.env.ISOBAR_FAULTS_TELL || error || lost > MAY_LOSE_MS) {
        console.error(`${number} ${kind} (${place}): ${found} of ${words} words, ${Math.round(lost)} ms lost ${error ?? ""}`);
        if (it.left) console.error(`    ${it.left}`);
      }
    },
  });
  const places = PLACES.map(([place]) => `${outcomes.filter((it) => it.place === place).length} in ${place}`);
  console.log(table(outcomes));
  console.error(`${places.join(", ")}; ${((performance.now() - start) / 1000 / outcomes.length).toFixed(2)} s each`);
  if (outcomes.some((it) => it.error || it.lost > MAY_LOSE_MS)) process.exitCode = 1;
}
