// Bundles the editor into one module, dist/editor.js, that the page's Rust code imports.
// Trunk runs this before it builds; `cargo xtask page` does too.
import { build } from "esbuild";
import { fileURLToPath } from "node:url";

await build({
  absWorkingDir: fileURLToPath(new URL(".", import.meta.url)),
  entryPoints: ["src/editor.js"],
  outfile: "dist/editor.js",
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  legalComments: "none",
  logLevel: "warning",
});
