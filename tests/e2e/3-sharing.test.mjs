// Links that carry everything and do nothing by themselves.

import assert from "node:assert/strict";
import { STAGES, scenario } from "./harness.mjs";

scenario("a link opens in another window with everything restored", async (t) => {
  await t.pick("vertical_advection");
  await t.toEnd();
  await t.page.keyboard.type("  # my own remark");
  await t.get("domain-k").fill("24");
  await t.get("domain-k").blur();
  await t.get("precision-select").selectOption("32");
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

scenario("what is changed in a link's text is there after a reload", async (t) => {
  for (const [entry, id, value] of [
    ["vertical_advection", "input-scalar-dt", "30.5"],
    ["vertical_advection", "domain-i", "24"],
    ["vertical_advection", "precision-select", "32"],
    ["ppm_transport", "input-external-iord", "2"],
  ]) {
    await t.pick(entry);
    const page = await t.open(await t.link());
    await t.unfold(page);
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

for (const [what, fragment] of [
  ["is cut in the middle", "s=1eJyrVkrLz1eyUkpK"],
  ["has signs that no link has", "s=1%00%FF<script>!!"],
  ["comes from a version that is not there yet", "s=_AAAA"],
  ["is empty", "s="],
]) {
  scenario(`a link that ${what} is refused with a sentence`, async (t) => {
    const page = await t.open(`${t.runner.origin}/#${fragment}`);
    const message = await t.see("share-error", {}, page);
    assert.ok((await message.textContent()).trim().length > 10);
    await t.shot("refused", page);
    await t.get("gallery-select", page).selectOption("copy_scale");
    await t.settled(page);
    await t.show("c", page);
  });
}
