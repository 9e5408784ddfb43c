// A host of plain files, as one rents them: for the page without a runner.

import { createServer } from "node:http";
import { cp, mkdtemp, readFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The page as it was built. */
export const DIST = fileURLToPath(new URL("../../dist", import.meta.url));

const KINDS = {
  ".css": "text/css",
  ".html": "text/html",
  ".js": "text/javascript",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
  ".webmanifest": "application/manifest+json",
};

/**
 * Serves a folder below `path`, and answers 404 for all else.
 *
 * @returns {Promise<{url: string, asked: string[], serve: (folder: string) => void, stop: () => Promise<void>}>}
 *   `asked` has every path in order; `serve` puts another folder in the place of the first
 */
export async function startHost(folder, path = "/pages/isobar/") {
  let root = folder;
  let isCut = () => false;
  let isHeld = () => false;
  const asked = [];
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://host");
    asked.push(pathname);
    if (isCut(pathname)) return request.socket.destroy();
    if (isHeld(pathname)) return;
    const name = decodeURIComponent(pathname.slice(path.length)) || "index.html";
    const bytes = pathname.startsWith(path) && !name.includes("..") ? await readFile(join(root, name)).catch(() => undefined) : undefined;
    if (!bytes) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": KINDS[extname(name)] ?? "text/plain" }).end(bytes);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}${path}`,
    asked,
    serve: (another) => (root = another),
    /** From now on the connection breaks when a file is asked for that `which` names. */
    cut: (which) => (isCut = which),
    /** From now on no answer comes when a file is asked for that `which` names. */
    hold: (which) => (isHeld = which),
    stop: () => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))),
  };
}

const hash = (bytes) => createHash("sha256").update(bytes).digest("hex").slice(0, 16);

/** The page as a later build would make it: other names, another title. Whoever asks for it removes it. */
export async function laterVersion() {
  const folder = await mkdtemp(join(tmpdir(), "isobar-later-"));
  await cp(DIST, folder, { recursive: true });
  const [before] = (await readdir(folder)).filter((it) => /^v-[0-9a-f]{16}$/.test(it));
  const after = "v-00000000000000ff";
  await rename(join(folder, before), join(folder, after));
  const index = (await readFile(join(folder, "index.html"), "utf8"))
    .replaceAll(before, after)
    .replace("<title>Isobar</title>", "<title>Isobar, a later version</title>");
  await writeFile(join(folder, "index.html"), index);
  const worker = (await readFile(join(folder, "sw.js"), "utf8"))
    .replaceAll(before, after)
    .replace(/(const \[VERSION, ?FILES\] ?= ?\[")[0-9a-f]*/, "$1" + "f".repeat(16))
    .replace(/("index\.html": ?")[0-9a-f]*/, `$1${hash(index)}`);
  await writeFile(join(folder, "sw.js"), worker);
  return { folder, before, after, remove: () => rm(folder, { recursive: true }) };
}
