// Draws the icons of the manifest from static/icon.svg: node tests/e2e/icons.mjs
//
// Some systems install no page whose icons are not PNG. They are committed, because no build needs a browser.

import { readFile, writeFile } from "node:fs/promises";
import { crc32, deflateSync } from "node:zlib";
import { launch } from "./browser.mjs";

const home = new URL("../../static/", import.meta.url);
const svg = await readFile(new URL("icon.svg", home), "utf8");
// A system cuts a shape of its own out of this one: the ground goes to the edge, the lines stay in the middle.
const maskable = svg
  .replace(' rx="6"', "")
  .replace("<g ", '<g transform="translate(16 16) scale(0.72) translate(-16 -16)" ');

/** The pixels as a page draws them: red, green, blue, opacity. */
async function pixels(browser, drawn, size) {
  const page = await browser.newPage();
  const all = await page.evaluate(
    async ([drawn, size]) => {
      const image = new Image(size, size);
      image.src = `data:image/svg+xml,${encodeURIComponent(drawn.replace("<svg ", `<svg width="${size}" height="${size}" `))}`;
      await image.decode();
      const context = new OffscreenCanvas(size, size).getContext("2d");
      context.drawImage(image, 0, 0, size, size);
      return [...context.getImageData(0, 0, size, size).data];
    },
    [drawn, size],
  );
  await page.close();
  return all;
}

/** A PNG of so many colours: ground to lines in 16 steps, nothing to ground in 16. Far smaller than one of all colours. */
function png(all, size) {
  const STEPS = 15;
  const ground = [0x0b, 0x5c, 0xad];
  const lines = Array.from({ length: STEPS + 1 }, (_, at) => ground.map((it) => Math.round(it + ((255 - it) * at) / STEPS)));
  const edges = Array.from({ length: STEPS + 1 }, (_, at) => Math.round((255 * at) / STEPS));
  const rows = Buffer.alloc(size * (size + 1));
  for (let at = 0; at < size * size; at++) {
    const [red, , , opacity] = all.slice(4 * at, 4 * at + 4);
    const step = (part) => Math.max(0, Math.min(STEPS, Math.round(part * STEPS)));
    const colour = opacity < 255 ? step(opacity / 255) : STEPS + 1 + step((red - ground[0]) / (255 - ground[0]));
    rows[at + Math.floor(at / size) + 1] = colour;
  }
  const chunk = (name, data) => {
    const body = Buffer.concat([Buffer.from(name, "latin1"), Buffer.from(data)]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(size, 0);
  head.writeUInt32BE(size, 4);
  head.set([8, 3], 8);
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", head),
    chunk("PLTE", [...edges.flatMap(() => ground), ...lines.flat()]),
    chunk("tRNS", edges),
    chunk("IDAT", deflateSync(rows, { level: 9 })),
    chunk("IEND", []),
  ]);
}

const browser = await launch();
for (const [name, size, drawn] of [
  ["icon-192.png", 192, svg],
  ["icon-512.png", 512, svg],
  ["icon-maskable-512.png", 512, maskable],
]) {
  await writeFile(new URL(name, home), png(await pixels(browser, drawn, size), size));
}
await browser.close();
