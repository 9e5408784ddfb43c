// Starts the page: shows what can be shown at once, loads the page's program, tells how far it is, and says so when it
// cannot start. Then it keeps the page for when there is no network.

const root = document.documentElement;
const boot = document.getElementById("boot");
const line = document.getElementById("boot-text");
const first = document.getElementById("first-text");

/** Where the programs are: a folder of this version alone, or with Trunk the page's own. */
const files = new URL(".", import.meta.url);
root.dataset.files = files.href;

/** What is kept under this key; null where the browser keeps nothing. */
function kept(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

const theme = kept("isobar.theme");
if (theme === "light" || theme === "dark") root.dataset.theme = theme;

/** Whether the example is what will be seen: the first visit, without a link to something else. */
const hasText = ["isobar.visited", "isobar.last", "isobar.workspace", "isobar.linked"].some((key) => kept(key) !== null);
const isFirst = !hasText && !/^#(?!token=[^&]*$)./.test(location.hash);
if (!isFirst) {
  first.replaceChildren();
  for (const it of document.querySelectorAll(".first-notice, .first-card, .first-tabs")) it.remove();
} else if (first.childElementCount === 0) {
  // Trunk puts no text there.
  const entry = await fetch(`gallery/${first.dataset.gallery}.py`).catch(() => undefined);
  if (entry?.ok) first.textContent = await entry.text();
}

/** The response once more, counting on the way what has arrived. */
function counted(response) {
  // As the build wrote them: unpacked, and packed.
  const [unpacked, packed] = (root.dataset.pageBytes ?? "").split(" ").map(Number);
  if (!unpacked || !response.body) return response;
  const total = response.headers.has("content-encoding") ? packed : unpacked;
  let arrived = 0;
  const counter = new TransformStream({
    transform(chunk, controller) {
      arrived += chunk.byteLength;
      const kilobytes = Math.round(((arrived / unpacked) * total) / 1000);
      line.textContent = `Loading the page, ${kilobytes} of ${Math.round(total / 1000)} kB …`;
      controller.enqueue(chunk);
    },
  });
  return new Response(response.body.pipeThrough(counter), {
    headers: { "content-type": "application/wasm" },
    status: response.status,
  });
}

try {
  const program = fetch(new URL("isobar-web_bg.wasm", files));
  // A failure is told where it is awaited, below.
  program.catch(() => {});
  const { default: init } = await import("./isobar-web.js");
  const response = await program;
  if (!response.ok) throw new Error(`the server answered ${response.status} for the page's program`);
  await init({ module_or_path: counted(response) });
  boot.remove();
} catch (error) {
  line.setAttribute("role", "alert");
  line.textContent = `The page could not start: ${error?.message ?? error}. Reload it, or try a newer browser.`;
  throw error;
}

try {
  localStorage.setItem("isobar.visited", "true");
} catch {
  // The next visit looks like the first one.
}

/** So long a newer version may take until it takes over, in milliseconds. */
const PATIENCE = 3000;

/**
 * Loads the page from its host, past the service worker of the version before.
 *
 * A browser lets no version take over while the one before is at work: a file on its way holds it up for minutes. What is
 * kept of both versions stays, and the page has it again when it registers its own worker.
 */
async function loadFromHost(registration) {
  const isThere = await fetch(new URL("../sw.js", files), { cache: "no-store" }).then(({ ok }) => ok, () => false);
  // Without a network the newer version takes over as soon as it may.
  if (!isThere) return;
  await registration.unregister();
  location.reload();
}

/** Lets a service worker keep every file, and tells when it has those of a newer version. */
async function keepForLater() {
  const registration = await navigator.serviceWorker.register(new URL("../sw.js", files));
  const tell = () => {
    if (!registration.waiting || !navigator.serviceWorker.controller) return;
    root.dataset.update = "ready";
    window.dispatchEvent(new Event("isobar-update"));
  };
  tell();
  registration.addEventListener("updatefound", () => registration.installing?.addEventListener("statechange", tell));
  window.addEventListener("isobar-reload", () => {
    navigator.serviceWorker.addEventListener("controllerchange", () => location.reload(), { once: true });
    registration.waiting?.postMessage("take over");
    setTimeout(() => loadFromHost(registration), PATIENCE);
  });
  // A tab that stays open for days hears of a new version as well.
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") registration.update().catch(() => {});
  });
}

// Files that keep their names from version to version would be mixed up: Trunk's page is not kept.
if (navigator.serviceWorker && /\/v-[0-9a-f]{16}\/$/.test(files.pathname)) {
  const start = () => keepForLater().catch((error) => console.info(`The page is not kept for offline use: ${error}`));
  // What the first view needs goes first.
  if (window.requestIdleCallback) requestIdleCallback(start, { timeout: 4000 });
  else setTimeout(start, 2000);
}
