// Starts the page: loads its program, tells how far it is, and says so when it cannot start.

import init from "./isobar-web.js";

const boot = document.getElementById("boot");
const line = document.getElementById("boot-text");

/** The response once more, counting on the way what has arrived. */
function counted(response) {
  const total = Number(response.headers.get("content-length"));
  // A compressed answer tells its compressed length: better no number than a wrong one.
  if (!total || response.headers.get("content-encoding") || !response.body) return response;
  let arrived = 0;
  const counter = new TransformStream({
    transform(chunk, controller) {
      arrived += chunk.byteLength;
      line.textContent = `Loading the page, ${Math.round(arrived / 1000)} of ${Math.round(total / 1000)} kB …`;
      controller.enqueue(chunk);
    },
  });
  return new Response(response.body.pipeThrough(counter), {
    headers: { "content-type": "application/wasm" },
    status: response.status,
  });
}

try {
  const response = await fetch(new URL("isobar-web_bg.wasm", import.meta.url));
  if (!response.ok) throw new Error(`the server answered ${response.status} for the page's program`);
  await init({ module_or_path: counted(response) });
  boot.remove();
} catch (error) {
  boot.setAttribute("role", "alert");
  line.textContent = `The page could not start: ${error?.message ?? error}. Reload it, or try a newer browser.`;
  throw error;
}
