// Keeps every file of one version of the page, so that the page opens without a network.
//
// It answers for the files that it knows, and for nothing else: what a runner computes (`/v1/...`) goes past it, and so
// does every other host. What is kept of a version is all of it, or nothing: each file is held against its hash.

// `cargo xtask page` writes the version, and each file's name with the start of its SHA-256.
const [VERSION, FILES] = ["", {}];

const HOME = new URL("./", self.location);
const MINE = `isobar ${HOME.pathname} `;
const CACHE = MINE + VERSION;
/** In each cache: which files it has, and since when. */
const ABOUT = new URL("about-this-version.json", HOME);

/** Where a file is fetched and kept: the page under its folder's address, which no host turns into another one. */
const address = (name) => (name === "index.html" ? HOME : new URL(name, HOME));

const hashOf = async (bytes) =>
  Array.from(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).slice(0, 8), (it) =>
    it.toString(16).padStart(2, "0"),
  ).join("");

/** The caches of other versions, the newest first, each with what it has. */
async function others() {
  const found = [];
  for (const name of await caches.keys()) {
    if (!name.startsWith(MINE) || name === CACHE) continue;
    const cache = await caches.open(name);
    const about = await (await cache.match(ABOUT))?.json();
    found.push({ name, cache, files: about?.files ?? {}, since: about?.since ?? 0 });
  }
  return found.sort((a, b) => b.since - a.since);
}

async function keepAll() {
  const before = await others();
  const cache = await caches.open(CACHE);
  for (const [name, hash] of Object.entries(FILES)) {
    if (await cache.match(address(name))) continue;
    await cache.put(address(name), (await kept(before, hash)) ?? (await fetched(name, hash)));
  }
  await cache.put(ABOUT, Response.json({ files: FILES, since: Date.now() }));
}

/** The same bytes as a version before has them, so that an update loads what is new. */
async function kept(before, hash) {
  for (const { cache, files } of before) {
    const name = Object.keys(files).find((it) => files[it] === hash);
    // The page itself names its version in headers as well, as a host may: it is always fetched.
    if (name && name !== "index.html") return cache.match(address(name));
  }
}

async function fetched(name, hash) {
  // Files that are named after what is in them may come from the browser's own cache, where the page's first load left
  // them; others are asked for anew.
  const response = await fetch(address(name), { cache: name.startsWith("v-") ? "default" : "no-cache" });
  if (!response.ok) throw new Error(`${name}: the server answered ${response.status}`);
  const bytes = await response.arrayBuffer();
  if ((await hashOf(bytes)) !== hash) throw new Error(`${name} is of another version`);
  const headers = new Headers(response.headers);
  // They are of the transfer, which is over.
  for (const name of ["content-encoding", "content-length", "transfer-encoding"]) headers.delete(name);
  // Made anew, since an answer that was redirected may not open a page.
  return new Response(bytes, { headers });
}

/** The name of a file that is answered here; undefined for all else. */
function nameOf({ method, url }) {
  const { origin, pathname } = new URL(url);
  if (method !== "GET" || origin !== HOME.origin || !pathname.startsWith(HOME.pathname)) return undefined;
  const name = pathname.slice(HOME.pathname.length) || "index.html";
  // A tab may still show the version before, and start another worker of it.
  return Object.hasOwn(FILES, name) || /^v-[0-9a-f]{16}\//.test(name) ? name : undefined;
}

async function answer(name, request) {
  const own = await (await caches.open(CACHE)).match(address(name));
  if (own || Object.hasOwn(FILES, name)) return own ?? fetch(request);
  return (await caches.match(address(name))) ?? fetch(request);
}

self.addEventListener("install", (event) => event.waitUntil(keepAll()));

self.addEventListener("activate", (event) =>
  event.waitUntil(
    (async () => {
      // Tabs of the version before may be open; those of older ones hardly.
      for (const { name } of (await others()).slice(1)) await caches.delete(name);
      await self.clients.claim();
    })(),
  ),
);

self.addEventListener("message", ({ data }) => {
  if (data === "take over") self.skipWaiting();
});

self.addEventListener("fetch", (event) => {
  const name = nameOf(event.request);
  if (name !== undefined) event.respondWith(answer(name, event.request));
});
