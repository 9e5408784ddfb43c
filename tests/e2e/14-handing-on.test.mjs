// What is shared, outside of the page.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { inflateRawSync } from "node:zlib";
import { scenario } from "./harness.mjs";

/** The files of an archive, by its directory. */
function unzipped(bytes) {
  const files = {};
  let at = bytes.readUInt32LE(bytes.length - 6);
  for (let left = bytes.readUInt16LE(bytes.length - 12); left > 0; left--) {
    const [packed, name, from] = [bytes.readUInt32LE(at + 20), bytes.readUInt16LE(at + 28), bytes.readUInt32LE(at + 42)];
    const start = from + 30 + bytes.readUInt16LE(from + 26);
    files[bytes.toString("utf8", at + 46, at + 46 + name)] = inflateRawSync(bytes.subarray(start, start + packed)).toString();
    at += 46 + name;
  }
  return files;
}

scenario("what is shared opens in a chat, in a folder and on a command line", async (t) => {
  await t.page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await t.pick("copy_scale");
  await t.size(12, 10, 8);
  await t.toEnd();
  await t.page.keyboard.type("  # ```` and <b>bold</b>");
  await t.settled();
  const text = await t.text();
  await t.get("share").click();
  const link = await (await t.see("share-link")).inputValue();
  const command = await t.get("share-command").inputValue();
  await t.shot("dialog");
  assert.match(await t.get("share-size").textContent(), new RegExp(`^${link.length} characters`));

  const said = t.get("share-said");
  const clipboard = () => t.page.evaluate(() => navigator.clipboard.readText());
  await t.get("copy-link").click();
  await said.getByText("Copied.").waitFor();
  assert.equal(await clipboard(), link);
  await t.get("copy-markdown").click();
  await t.page.waitForFunction((link) => navigator.clipboard.readText().then((it) => it !== link), link);
  const markdown = await clipboard();
  assert.ok(markdown.startsWith("`````python\n") && markdown.includes(text.trimEnd()), markdown);
  assert.ok(markdown.endsWith(`\`\`\`\`\`\n\n[Open in Isobar](${link})\n`), markdown);

  const [download] = await Promise.all([t.page.waitForEvent("download"), t.get("save-zip").click()]);
  const files = unzipped(await readFile(await download.path()));
  assert.equal(files["main.py"], text);
  assert.deepEqual(JSON.parse(files["workspace.json"]).domain, [12, 10, 8]);

  assert.equal(command, `isobar open '${link}'`);
  const folder = await mkdtemp(join(tmpdir(), "isobar-open-"));
  try {
    const run = (...words) => promisify(execFile)(process.env.ISOBAR_BIN, words);
    const { stderr } = await run("open", link, "--output", folder, "--force");
    assert.equal(await readFile(join(folder, "main.py"), "utf8"), text);
    assert.equal(await readFile(join(folder, "workspace.json"), "utf8"), files["workspace.json"]);
    // The command that it prints is one that runs.
    const [, line] = stderr.match(/run it: isobar (.*)/);
    const { stdout } = await run(...line.split(" "));
    assert.match(stdout, /b|out|q/);
  } finally {
    await rm(folder, { recursive: true });
  }
  for (const made of [link, markdown, command, JSON.stringify(files)]) {
    assert.doesNotMatch(made, /token/i, "a token is handed on");
  }
});

scenario("the graph is saved as the command line writes it", async (t) => {
  await t.pick("horizontal_diffusion");
  await t.show("sdfg");
  const [download] = await Promise.all([t.page.waitForEvent("download"), t.get("save-graph").click()]);
  assert.equal(download.suggestedFilename(), "horizontal_diffusion.sdfg");
  const graph = await readFile(await download.path(), "utf8");
  const file = new URL("../../static/gallery/horizontal_diffusion.py", import.meta.url).pathname;
  const words = ["emit", file, "--stage", "sdfg", "--form", "sdfg"];
  const { stdout } = await promisify(execFile)(process.env.ISOBAR_BIN, words, { maxBuffer: 1 << 26 });
  // The names of the files differ.
  const named = (text) => text.replaceAll(/[^"]*horizontal_diffusion\.py|main\.py/g, "FILE");
  assert.equal(named(graph), named(stdout));
});
