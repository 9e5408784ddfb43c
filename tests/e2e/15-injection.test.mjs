// Text of somebody else stays text: in every place of a link, whatever it says.

import assert from "node:assert/strict";
import { scenario } from "./harness.mjs";
import { PAYLOADS, PLACES, fragment } from "./payloads.mjs";

/** Hears whatever a payload could do. */
function listen() {
  window.heard = [];
  window.fired = () => window.heard.push("a payload ran");
  for (const name of ["alert", "confirm", "prompt", "open", "print"]) window[name] = () => window.heard.push(name);
  addEventListener("securitypolicyviolation", (event) => window.heard.push(`${event.violatedDirective}: ${event.blockedURI}`));
}

/** What the page must not have of a text: elements that run, load or lead away, in shadow trees as well. */
function foreign() {
  const wanted = "script:not([src]), iframe, object, embed, base, form[action], math, meta[http-equiv], a[href^='javascript'], animate";
  const found = [];
  const look = (root) => {
    for (const it of root.querySelectorAll(wanted)) found.push(it.outerHTML.slice(0, 80));
    for (const it of root.querySelectorAll("*")) {
      for (const { name } of it.attributes) if (name.startsWith("on")) found.push(`${it.tagName} ${name}`);
      if (it.shadowRoot) look(it.shadowRoot);
    }
  };
  look(document);
  return found;
}

/** Opens a link in a page that is there; waits until the compiler has spoken on it, or the link is refused. */
async function opened(page, link) {
  await page.evaluate((link) => {
    const app = document.querySelector('[data-testid="app"]');
    window.before = app.dataset.revision;
    location.hash = link;
  }, link);
  await page.waitForFunction(() => {
    const app = document.querySelector('[data-testid="app"]');
    const panes = [...document.querySelectorAll('[data-testid^="stage-pane-"]:not([hidden])')];
    const isNew = app.dataset.revision !== window.before;
    const isRefused = document.querySelector('[data-testid="share-error"]') !== null;
    return isRefused || (isNew && panes.every((it) => ["fresh", "refused", "stale"].includes(it.dataset.state)));
  });
}

for (const [place, stateOf] of Object.entries(PLACES)) {
  scenario(`a link cannot bring ${place} to life`, { page: "none" }, async (t) => {
    t.page = await t.open(t.runner.url, listen);
    const dialogs = [];
    t.page.on("dialog", (dialog) => {
      dialogs.push(dialog.message());
      dialog.dismiss();
    });
    const asked = t.asked.length;
    for (const payload of PAYLOADS) {
      await opened(t.page, fragment(stateOf(payload)));
      assert.deepEqual(await t.page.evaluate(foreign), [], payload);
    }
    await t.shot("last");
    assert.deepEqual(await t.page.evaluate(() => window.heard), []);
    assert.deepEqual(dialogs, []);
    assert.equal(await t.page.evaluate(() => ({}).polluted ?? Object.keys(Object.prototype).length), 0);
    assert.deepEqual(t.asked.slice(asked), [], "a link asked the runner");
  });
}

scenario("the address itself cannot bring anything to life", { page: "none" }, async (t) => {
  t.page = await t.open(t.runner.url, listen);
  let tried = 0;
  for (const payload of PAYLOADS) {
    for (const start of ["", "s=", "s=2", "learn/", "/"]) {
      await t.page.evaluate((hash) => (location.hash = hash), start + payload);
      await t.page.evaluate(() => new Promise(requestAnimationFrame));
      tried += 1;
    }
    assert.deepEqual(await t.page.evaluate(foreign), [], payload);
  }
  assert.deepEqual(await t.page.evaluate(() => window.heard), []);
  t.note(`${tried} payloads in addresses`);
});
