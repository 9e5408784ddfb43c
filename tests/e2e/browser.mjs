// The browser and the runner that the scenarios use.

import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

// playwright-core is installed once, with the editor's parts.
const require = createRequire(new URL("../../web/editor/package.json", import.meta.url));
const { chromium, firefox } = require("playwright-core");

/**
 * Popups of the address bar are pages of their own. They cost each new window half a second of the processor.
 * The last list holds, so the one that Playwright gives is repeated.
 */
const DISABLED = [
  "WebUIOmniboxPopup",
  "WebUIOmniboxAimPopup",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsUpgrades",
  "HttpsFirstBalancedModeAutoEnable",
  "LensOverlay",
  "MediaRouter",
  "PaintHolding",
  "ThirdPartyStoragePartitioning",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "OptimizationHints",
  "NetworkTimeServiceQuerying",
  "AimEnabled",
  "PreconnectToSearch",
];

const flags = [
  `--disable-features=${DISABLED.join()}`,
  "--no-sandbox", // Chromium's own sandbox needs rights that containers do not give
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--enable-unsafe-webgpu", // with the software's GPU, where there is no other
];

/** A headless browser with a profile of its own: Chromium, or the Firefox that `ISOBAR_FIREFOX` names. */
export async function launch() {
  const named = process.env.ISOBAR_FIREFOX;
  if (named) return launchFirefox(named);
  const executablePath = process.env.ISOBAR_CHROMIUM ?? "/usr/bin/chromium";
  return chromium.launch({ executablePath, headless: true, args: flags });
}

/** A Firefox as it is handed out, without patches: through WebDriver BiDi. */
async function launchFirefox(executablePath) {
  const browser = await firefox.launch({ executablePath, headless: true, channel: "moz-firefox" });
  // Firefox 153 does not know one command that is sent for each new context, whether or not a colour scheme is asked for.
  const session = browser._connection.toImpl(browser)._browserSession;
  const send = session.send.bind(session);
  session.send = async (method, params) =>
    method === "emulation.setMediaFeaturesOverride" ? {} : send(method, params);
  return browser;
}

/** A headless Chromium with a profile that outlives it, as a person's browser has one; its context is the only one. */
export async function launchAt(profile) {
  const executablePath = process.env.ISOBAR_CHROMIUM ?? "/usr/bin/chromium";
  const viewport = { width: 1440, height: 900 };
  return chromium.launchPersistentContext(profile, { executablePath, headless: true, args: flags, viewport });
}

/** The runners that have not ended: none outlives this process. */
const running = new Set();
process.once("exit", () => running.forEach((child) => child.kill("SIGKILL")));

/** How long a runner may take to print its address. */
const START_MS = 20_000;

/**
 * Starts `isobar serve` on a free port, or on the one that is named, in an empty folder of its own, and waits for its address.
 *
 * @returns {Promise<{url: string, origin: string, isAlive: () => boolean, kill: () => Promise<void>, stop: () => Promise<void>}>}
 *   `url` has the token in its fragment; `kill` is sudden, `stop` cleans up as well
 */
export async function startRunner(port = 0) {
  const program = process.env.ISOBAR_BIN;
  if (!program) throw new Error("ISOBAR_BIN does not name the isobar program");
  const home = await mkdtemp(join(tmpdir(), "isobar-e2e-"));
  const child = spawn(program, ["serve", "--allow-root", "--no-state", "--bind", `127.0.0.1:${port}`], {
    env: { ...process.env, HOME: home, XDG_CACHE_HOME: join(home, "cache") },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  child.once("exit", () => running.delete(child));
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const printed = [];
  const url = await new Promise((resolve, reject) => {
    const fail = (why) => reject(new Error(`isobar serve ${why}; it printed:\n${printed.join("\n")}`));
    const timer = setTimeout(() => fail(`told no address within ${START_MS} ms`), START_MS);
    child.once("error", reject);
    child.once("exit", (code) => fail(`ended (${code})`));
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on("line", (line) => {
        printed.push(line);
        const address = line.match(/http:\/\/\S+#token=[^\s"']+/);
        if (address) {
          clearTimeout(timer);
          resolve(address[0]);
        }
      });
    }
  });
  const isAlive = () => child.exitCode === null && child.signalCode === null;
  const end = async (signal) => {
    if (isAlive()) child.kill(signal);
    await ended;
  };
  return {
    url,
    origin: new URL(url).origin,
    isAlive,
    kill: () => end("SIGKILL"),
    stop: async () => {
      await end("SIGTERM");
      await rm(home, { recursive: true, force: true });
    },
  };
}
