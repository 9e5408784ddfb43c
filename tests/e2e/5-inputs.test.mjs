// What a run takes: values of the text, values of the user, and values that are none.

import assert from "node:assert/strict";
import { betweenWorkers, pasteOver, scenario } from "./harness.mjs";

/** Replaces a part of the text, as a user who pastes all of it. */
async function replace(t, from, to) {
  const text = await t.text();
  assert.ok(text.includes(from), `the text has no ${from}`);
  await paste(t, text.replaceAll(from, to));
  await t.settled();
}

/** Puts a text in place of the one that is there. */
async function paste(t, text) {
  await pasteOver(t.page, text);
}

scenario("a scalar that is changed changes the run, and goes back to the text's own", async (t) => {
  await t.pick("horizontal_diffusion");
  await t.size(24, 24, 4);
  await t.runHere();
  await t.ran("done", "numpy");
  const before = await t.hash();

  await t.unfold();
  const alpha = t.get("input-scalar-alpha");
  assert.equal(await alpha.inputValue(), "0.025");
  await t.give("scalar-alpha", "0.01");
  await t.runHere();
  await t.ran("done", "numpy");
  const after = await t.hash();
  assert.notEqual(after, before);
  await t.shot("changed");

  await t.give("scalar-alpha", "a lot");
  assert.match(await (await t.see("problem-scalar-alpha")).textContent(), /float64/);
  assert.equal(await alpha.inputValue(), "a lot", "what was typed is taken away");
  await t.runHere();
  await t.ran("done", "numpy");
  assert.equal(await t.hash(), after, "a value that is none disturbs the run");
  await t.shot("refused");

  await t.get("reset-scalar-alpha").click();
  assert.equal(await alpha.inputValue(), "0.025");
  await t.runHere();
  await t.ran("done", "numpy");
  assert.equal(await t.hash(), before);
});

scenario("an external that is changed compiles anew, and travels with the link", async (t) => {
  await t.pick("ppm_transport");
  await t.unfold();
  // The whole text: a window of its lines depends on the room that there is.
  const c = (page = t.page) => page.locator("#listing-c").evaluate((it) => it.listing.text());
  await t.show("c");
  assert.equal(await t.get("input-external-iord").inputValue(), "3");
  const before = await c();
  await t.give("external-iord", "2");
  await t.settled();
  assert.notEqual(await c(), before);

  // A value that cannot be read is told of here, and one that the stencil refuses among the problems.
  await t.give("external-iord", "I[");
  await t.see("problem-external-iord");
  await t.give("external-iord", "7");
  await t.see("problem", { "data-severity": "error" });
  await t.shot("refused");
  await t.give("external-iord", "1");
  await t.settled();
  const other = await t.open(await t.link());
  await t.settled(other);
  await t.unfold(other);
  assert.equal(await t.get("input-external-iord", other).inputValue(), "1");
  assert.equal(await c(other), await c());
  await t.get("reset-external-iord", other).click();
  await t.settled(other);
  assert.equal(await t.get("input-external-iord", other).inputValue(), "3");
  assert.equal(await c(other), before);
});

scenario("a run by key takes the values that are still being typed", async (t) => {
  await t.pick("horizontal_diffusion");
  await t.size(16, 16);
  await t.unfolded("size");
  await t.get("domain-k").fill("6");
  await t.page.keyboard.press("Control+Enter");
  await t.ran("done", "numpy");
  assert.match(await t.get("provenance").textContent(), /16×16×6/);
  const before = await t.hash();

  await t.get("size").press("Escape");
  await t.unfold();
  await t.get("input-scalar-alpha").fill("0.01");
  await t.page.keyboard.press("Control+Enter");
  await t.ran("done", "numpy");
  assert.notEqual(await t.hash(), before);

  // The compiler has a say first in what an external is.
  await t.pick("ppm_transport");
  await t.size(16, 16, 6);
  await t.get("input-external-iord").fill("7");
  await t.page.keyboard.press("Control+Enter");
  await t.ran("failed");
  await t.see("problem", { "data-severity": "error" });
});

scenario("a run before the compiler's first answer takes what the link and its text say", async (t) => {
  await t.pick("horizontal_diffusion");
  await t.unfold();
  await t.give("scalar-alpha", "0.01");
  await t.runHere();
  await t.ran("done", "numpy");
  const wanted = [await t.get("provenance").textContent(), await t.hash()];

  t.page = await t.visit(await t.link(), betweenWorkers, () => {
    const held = [];
    window.onQuestion = (ask, _, pass) => Boolean(ask.compile) && held.push(pass) > 0;
    window.release = () => {
      window.onQuestion = undefined;
      held.forEach((pass) => pass());
    };
  });
  await t.runHere();
  await t.see("run-result", { "data-state": "working" });
  await t.get("cancel").click();
  await t.ran("cancelled");
  await t.runHere();
  await t.page.evaluate(() => window.release());
  await t.ran("done", "numpy");
  assert.deepEqual([await t.get("provenance").textContent(), await t.hash()], wanted);
});

scenario("a value that is refused stays with its stencil", async (t) => {
  await t.pick("vertical_advection");
  await t.unfold();
  await t.give("scalar-dt", "abc");
  await t.see("problem-scalar-dt");
  await t.pick("column_physics");
  assert.equal(await t.get("input-scalar-dt").inputValue(), "300");
  assert.equal(await t.get("problem-scalar-dt").count(), 0);
});

scenario("a value whose name leaves the text is shown as unused, and the run goes on", async (t) => {
  await t.pick("horizontal_diffusion");
  await t.size(16, 16, 4);
  await t.unfold();
  await t.give("scalar-alpha", "0.01");
  await replace(t, "alpha", "beta");
  assert.ok(await t.get("input-scalar-alpha").isDisabled());
  await t.runHere();
  await t.ran("done", "numpy");
  await t.shot("left over");
  await t.get("reset-scalar-alpha").click();
  await t.get("input-scalar-alpha").waitFor({ state: "detached" });
});

scenario("a field without values has some that are made up, and gets a line that gives them", async (t) => {
  await t.pick("copy_scale");
  await t.size(16, 16, 4);
  const line = (await t.text()).match(/^# @input .*\n/m)[0];
  const [, , name] = line.split(" ");
  await replace(t, line, "");
  await t.unfold();
  const field = t.get(`input-field-${name}`);
  assert.match(await field.textContent(), /made up/);
  await t.shot("made up");
  await t.get("drawer-problems").click();
  await t.get("write-down").click();
  await t.settled();
  await t.get("made-up").waitFor({ state: "detached" });
  assert.match(await t.text(), new RegExp(`^# @input ${name} `, "m"));
  await t.runHere();
  await t.ran("done", "numpy");
});

const EDGES = `# @domain 12 10 3
# @input q constant(1)
from ndsl.constants import RDGAS
from ndsl.dsl.gt4py import PARALLEL, computation, function, horizontal, interval, region
from ndsl.dsl.typing import FloatField

@function
def doubled(q):
    return 2.0 * q

@function
def halved(q):
    return 0.5 * q

def edges(q: FloatField, out: FloatField):
    from __externals__ import flag, flux, i_start, i_end
    with computation(PARALLEL), interval(...):
        out = flux(q)
        if __INLINED(flag):
            out = out + RDGAS
        with horizontal(region[i_start, :]):
            out = -1.0
        with horizontal(region[i_end, :]):
            out = -2.0
`;

const SIGNS = `# @domain 4 1 1
# @input a linear(low=-5, high=5, along=i)
def signs(a: FloatField, out: FloatField):
    with computation(PARALLEL), interval(...):
        out = min(a % 3.0, 1.0)
`;

scenario("the arithmetic of compiled back ends is chosen, and changes levels and results", async (t) => {
  const oir = (page) => t.get("stage-pane-oir", page).textContent();
  await paste(t, SIGNS);
  await t.unfold();
  assert.match(await oir(), /min\(a % 3\.0, 1\.0\)/);
  const drawn = async () => {
    await t.runHere();
    await t.ran("done", "numpy");
    return await t.hash();
  };
  const usual = await drawn();
  await t.get("mod-select").selectOption("c");
  await t.get("minmax-select").selectOption("c");
  await t.settled();
  assert.match(await oir(), /min_c\(mod_c\(a, 3\.0\), 1\.0\)/);
  assert.notEqual(await drawn(), usual);
  await t.get("inputs").scrollIntoViewIfNeeded();
  await t.shot("chosen");

  const other = await t.open(await t.link());
  await t.settled(other);
  assert.match(await oir(other), /min_c\(mod_c\(a, 3\.0\), 1\.0\)/);
  await t.unfold(other);
  await t.get("reset-mod", other).click();
  await t.get("reset-minmax", other).click();
  await t.settled(other);
  assert.match(await oir(other), /min\(a % 3\.0, 1\.0\)/);
});

scenario("externals are asked for as the text uses them, and the model's constants and tile are chosen", async (t) => {
  const oir = (page) => t.get("stage-pane-oir", page).textContent();
  await paste(t, EDGES);
  await t.unfold();
  const [flag, flux] = [t.get("input-external-flag"), t.get("input-external-flux")];
  assert.equal(await flag.getAttribute("role"), "switch");
  // Nobody gives them a value: they have one that is made up.
  assert.match(await t.page.locator("#note-external-flag").textContent(), /made up/);
  assert.match(await t.page.locator("#note-external-flux").textContent(), /made up/);
  await t.shot("made up");
  await flux.selectOption({ label: "doubled" });
  await flag.check();
  await t.settled();
  assert.match(await oir(), /287\.05/);

  // The set of constants.
  await t.get("constants-select").selectOption("GFDL");
  await t.settled();
  assert.match(await oir(), /287\.04/);
  await flag.uncheck();
  await t.settled();
  assert.doesNotMatch(await oir(), /287\.04/);

  // Which edges of the tile are there.
  const drawn = async (place) => {
    await t.get("tile-select").selectOption(place);
    await t.settled();
    await t.runHere();
    await t.ran("done", "numpy");
    return await t.hash();
  };
  const hashes = [await drawn("single"), await drawn("west"), await drawn("east"), await drawn("interior")];
  assert.equal(new Set(hashes).size, 4, `${hashes}`);
  assert.equal(await drawn("north"), hashes[3], "no edge along i");
  assert.equal(await drawn("west"), hashes[1]);
  assert.equal(await t.get("input-external-i_end").inputValue(), "I[-1] + 32767");
  await t.get("inputs").scrollIntoViewIfNeeded();
  await t.shot("west");

  const other = await t.open(await t.link());
  await t.settled(other);
  await t.unfold(other);
  assert.equal(await t.get("constants-select", other).inputValue(), "GFDL");
  assert.equal(await t.get("tile-select", other).inputValue(), "west");
  assert.equal(await t.get("input-external-flag", other).isChecked(), false);
  assert.equal(await oir(other), await oir());
  await other.reload();
  await t.settled(other);
  await t.unfold(other);
  assert.equal(await t.get("tile-select", other).inputValue(), "west");
  await t.get("reset-tile", other).click();
  await t.get("reset-constants", other).click();
  await t.settled(other);
  assert.equal(await t.get("input-external-i_end", other).inputValue(), "I[-1]");
  assert.ok(await t.get("reset-constants", other).isHidden());

  await other.setViewportSize({ width: 390, height: 844 });
  await t.get("tile-select", other).scrollIntoViewIfNeeded();
  await t.shot("phone", other);
});
