// Starts the compiler's worker: `new Worker("worker-boot.js", { type: "module" })`.
//
// Messages may be posted to it at once: those that arrive before the program runs are kept and handed on.

import init from "./worker.js";

const early = [];
const keep = (event) => early.push(event);
self.addEventListener("message", keep);
try {
  await init();
  self.removeEventListener("message", keep);
  for (const { data, ports } of early) self.dispatchEvent(new MessageEvent("message", { data, ports: [...ports] }));
} catch (error) {
  // A rejected promise in a worker reaches nobody; an error reaches the page's `onerror`.
  self.reportError(error);
}
