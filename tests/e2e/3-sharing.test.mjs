// Links that carry everything and do nothing by themselves.

import assert from "node:assert/strict";
import { STAGES, keptTexts, scenario, writeLine } from "./harness.mjs";

scenario("a link opens in another window with everything restored", async (t) => {
  await t.pick("vertical_advection");
  await t.toEnd();
  await t.page.keyboard.type("  # my own remark");
  await t.unfolded("size");
  await t.get("domain-k").fill("24");
  await t.get("domain-k").blur();
  await t.precision("32");
  await t.get("stage-tab-sdfg").click();
  await t.settled();
  await t.get("share").click();
  const link = await (await t.see("share-link")).inputValue();
  assert.match(link, /#(.*&)?s=./);
  assert.doesNotMatch(link, /token/, "a token is in the link");

  const asked = t.asked.length;
  const other = await t.open(link);
  await t.settled(other);
  assert.equal(await t.text(other), await t.text());
  assert.equal(await t.get("domain-k", other).inputValue(), "24");
  assert.equal(await t.get("precision-select", other).inputValue(), "32");
  assert.equal(await t.get("stage-tab-sdfg", other).getAttribute("aria-selected"), "true");
  await t.see("stage-pane-sdfg", { "data-state": "fresh" }, other);
  for (const stage of STAGES) await t.show(stage, other);
  assert.deepEqual(t.asked.slice(asked), [], "opening a link asked the runner");
  await t.shot("opened", other);
});

scenario("what is changed in a link's text is there after a reload", { long: true }, async (t) => {
  for (const [entry, id, value] of [
    ["vertical_advection", "input-scalar-dt", "30.5"],
    ["vertical_advection", "domain-i", "24"],
    ["vertical_advection", "precision-select", "32"],
    ["ppm_transport", "input-external-iord", "2"],
  ]) {
    await t.pick(entry);
    const page = await t.open(await t.link());
    if (id.startsWith("input-")) await t.unfold(page);
    else await t.unfolded("size", page);
    if (id.endsWith("select")) {
      await t.get(id, page).selectOption(value);
    } else {
      await t.get(id, page).fill(value);
      await t.get(id, page).press("Enter");
    }
    await page.reload();
    await t.settled(page);
    await t.unfold(page);
    assert.equal(await t.get(id, page).inputValue(), value, id);
    assert.ok(await t.get("leave-link", page).isVisible(), "the user's own text is replaced");
  }
});

const holds = (page, words) =>
  page.waitForFunction((it) => document.querySelector('[data-testid="editor"]')?.editor?.getDoc().includes(it), words);

scenario("what is changed in a link's text is kept beside one's own, whatever is opened next", { long: true }, async (t) => {
  await writeLine(t.page, "# words of mine\n");
  const link = await t.link();
  const other = async (url, prepare) => {
    const page = await t.page.context().newPage();
    page.setDefaultTimeout(60_000);
    if (prepare) await page.addInitScript(prepare);
    await page.goto(url);
    await page.locator('[data-testid="app"][data-ready="true"]').waitFor({ state: "attached" });
    return page;
  };
  const linked = await other(link);
  await writeLine(linked, "# of the link\n");

  // Another tab that shows it leaves it, and takes it from nobody.
  const passing = await other(t.runner.url);
  await holds(passing, "# of the link");
  await t.get("leave-link", passing).click();
  await holds(passing, "# words of mine");
  assert.doesNotMatch(await t.text(passing), /of the link/);
  // That it keeps nothing, only time shows.
  await passing.waitForTimeout(600);
  // It has its copy of one's own text, and none of the link's.
  const kept = (await passing.evaluate(keptTexts)).filter(({ id, state }) => !id.includes(".") && state.includes("# of the link"));
  assert.equal(kept.length, 0, "who only looked has a copy");
  await passing.close();

  // A second tab with the same text has a copy of its own from the first key on, though the browser takes its time to
  // say who has the text.
  const second = await other(t.runner.url, () => {
    const request = navigator.locks.request.bind(navigator.locks);
    navigator.locks.request = async (...given) => {
      await new Promise((done) => setTimeout(done, 3_000));
      return request(...given);
    };
  });
  await holds(second, "# of the link");
  await writeLine(second, "# of the second\n");
  await t.get("copy-notice", second).waitFor();
  await second.close();
  await linked.reload();
  await holds(linked, "# of the link");
  assert.doesNotMatch(await t.text(linked), /of the second/);

  // Leaving it keeps it.
  const quick = await linked.evaluate(() => [localStorage["isobar.linked"], localStorage["isobar.linked.at"]]);
  await t.get("leave-link", linked).click();
  // The text that was written last.
  await holds(linked, "# of the second");
  await writeLine(linked, "# and more of mine\n");
  const own = (await linked.evaluate(keptTexts)).filter(({ id }) => !id.includes("."));
  const all = own.map(({ state }) => state);
  for (const words of ["# of the link", "# of the second", "# words of mine"]) {
    assert.ok(all.some((it) => it.includes(words)), `${words} is lost`);
  }
  await linked.close();

  // Quick storage may have it still, where the browser was killed: the database knows better.
  await t.page.evaluate(([text, at]) => {
    localStorage["isobar.linked"] = text;
    localStorage["isobar.linked.at"] = at;
  }, quick);
  const later = await other(t.runner.url);
  await holds(later, "# and more of mine");
  assert.ok(!(await t.get("leave-link", later).isVisible()));
});

for (const [what, fragment] of [
  ["is cut in the middle", "s=1eJyrVkrLz1eyUkpK"],
  ["has signs that no link has", "s=1%00%FF<script>!!"],
  ["comes from a version that is not there yet", "s=_AAAA"],
  ["is empty", "s="],
]) {
  scenario(`a link that ${what} is refused with a sentence`, { page: "none" }, async (t) => {
    const page = await t.open(`${t.runner.origin}/#${fragment}`);
    const message = await t.see("share-error", {}, page);
    assert.ok((await message.textContent()).trim().length > 10);
    await t.shot("refused", page);
    await t.pick("copy_scale", page);
    await t.settled(page);
    await t.show("c", page);
  });
}
