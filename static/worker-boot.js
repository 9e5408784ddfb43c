// Starts the compiler's worker: `new Worker("worker-boot.js", { type: "module" })`.
//
// Messages may be posted to it at once: those that arrive before the program runs are kept and handed on.

import init from "./worker.js";

const early = [];
const keep = (event) => early.push(event);
self.addEventListener("message", keep);

/** Bytes between two reports of what has arrived. */
const STEP_BYTES = 100_000;

/** The response once more, telling the page on the way how much has arrived, unpacked. */
function told(response) {
  if (!response.body) return response;
  const packed = response.headers.has("content-encoding");
  let arrived = 0;
  let said = 0;
  const counter = new TransformStream({
    transform(chunk, controller) {
      arrived += chunk.byteLength;
      if (arrived - said >= STEP_BYTES) {
        said = arrived;
        self.postMessage([JSON.stringify({ revision: 0, said: { loading: { arrived, packed } } })]);
      }
      controller.enqueue(chunk);
    },
  });
  return new Response(response.body.pipeThrough(counter), { headers: { "content-type": "application/wasm" } });
}

try {
  const response = await fetch(new URL("worker_bg.wasm", import.meta.url));
  if (!response.ok) throw new Error(`the server answered ${response.status} for the compiler's program`);
  await init({ module_or_path: told(response) });
  self.removeEventListener("message", keep);
  for (const { data, ports } of early) self.dispatchEvent(new MessageEvent("message", { data, ports: [...ports] }));
} catch (error) {
  // A rejected promise in a worker reaches nobody; an error reaches the page's `onerror`.
  self.reportError(error);
}
