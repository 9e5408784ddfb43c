// Bundles what the page's Rust code imports: the editor, dist/editor.js, and what the page says, dist/locale.js. Beside
// them lie the catalogues of the languages that are fetched when they are chosen, dist/LANGUAGE.ftl.
// Trunk runs this before it builds; `cargo xtask page` does too.
import { build } from "esbuild";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const home = new URL("../../static/locales/", import.meta.url);

/** All files of a language as one, without what only translators read. */
async function catalogue(language) {
  const folder = new URL(`${language}/`, home);
  const names = (await readdir(folder)).filter((it) => it.endsWith(".ftl")).sort();
  const texts = await Promise.all(names.map((it) => readFile(new URL(it, folder), "utf8")));
  // An entry may not begin within the one before: each file begins on a line of its own.
  return texts.join("\n").replace(/^#.*\n/gm, "").replace(/\n{2,}/g, "\n");
}

const catalogues = {
  name: "catalogues",
  setup(build) {
    build.onResolve({ filter: /^catalogue:/ }, ({ path }) => ({ path: path.split(":")[1], namespace: "catalogue" }));
    build.onLoad({ filter: /./, namespace: "catalogue" }, async ({ path }) => ({
      contents: await catalogue(path),
      loader: "text",
    }));
  },
};

const bundle = (name, options) =>
  build({
    absWorkingDir: fileURLToPath(new URL(".", import.meta.url)),
    entryPoints: [`src/${name}`],
    outfile: `dist/${name}`,
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    legalComments: "none",
    logLevel: "warning",
    ...options,
  });

await bundle("locale.js", { plugins: [catalogues] });
// One for both: what is imported twice under one address is there once.
await bundle("editor.js", { external: ["./locale.js"] });

for (const language of await readdir(home)) {
  if (language !== "en") await writeFile(new URL(`dist/${language}.ftl`, import.meta.url), await catalogue(language));
}
