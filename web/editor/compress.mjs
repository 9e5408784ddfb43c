// node compress.mjs --best|--quick FILE...: writes FILE.br and FILE.gz for each file that is named, as small as the two
// formats allow, or in a moment.
import { readFile, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const { BROTLI_PARAM_LGWIN, BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = constants;

const [how, ...files] = process.argv.slice(2);
const [quality, level] = how === "--best" ? [11, 9] : [4, 4];

await Promise.all(
  files.map(async (file) => {
    const bytes = await readFile(file);
    // A window that spans the file: the program of the worker is longer than the usual one.
    const params = { [BROTLI_PARAM_QUALITY]: quality, [BROTLI_PARAM_LGWIN]: 24, [BROTLI_PARAM_SIZE_HINT]: bytes.length };
    const [br, gz] = await Promise.all([promisify(brotliCompress)(bytes, { params }), promisify(gzip)(bytes, { level })]);
    await writeFile(`${file}.br`, br);
    await writeFile(`${file}.gz`, gz);
  }),
);
