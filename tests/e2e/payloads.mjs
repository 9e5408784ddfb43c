// What somebody could put into a link so that it is more than text: payloads, and the places of a link.

import { deflateRawSync } from "node:zlib";

/** Each calls `fired` where it comes to life. */
export const PAYLOADS = [
  "<script>fired()</script>",
  "<script src=/boot.js onload=fired()></script>",
  "</script><script>fired()</script>",
  "<img src=x onerror=fired()>",
  "<svg onload=fired()>",
  "<svg><animate onbegin=fired() attributeName=x dur=1s>",
  "<body onload=fired()>",
  "<details open ontoggle=fired()>",
  "<input autofocus onfocus=fired()>",
  "<iframe srcdoc='<script>parent.fired()</script>'></iframe>",
  "<iframe src=javascript:parent.fired()></iframe>",
  "<object data=javascript:fired()></object>",
  "<a href=javascript:fired() id=first-text>x</a>",
  "<form action=javascript:fired()><button>x</button></form>",
  "<base href=//attacker.example/>",
  "<meta http-equiv=refresh content='0;url=javascript:fired()'>",
  "<link rel=stylesheet href=//attacker.example/x.css>",
  "<style>@import '//attacker.example/x.css';</style>",
  "<math><mtext><script>fired()</script></mtext></math>",
  "\" onmouseover=\"fired()\" autofocus onfocus=\"fired()",
  "' onfocus='fired()' autofocus='",
  "`${fired()}`",
  "{{constructor.constructor('fired()')()}}",
  "'-fired()-'",
  "\\u003cscript\\u003efired()\\u003c/script\\u003e",
  "&lt;script&gt;fired()&lt;/script&gt;",
  "javascript:fired()",
  "data:text/html,<script>fired()</script>",
  "\u202e<script>fired()</script>\u2066",
  "\u0000<script>fired()</script>\u0000",
  "__proto__",
  "constructor",
];

const STENCIL =
  "from ndsl.dsl.gt4py import PARALLEL, computation, interval\nfrom ndsl.dsl.typing import FloatField\n\n\n" +
  "def copy(a: FloatField, b: FloatField):\n    with computation(PARALLEL), interval(...):\n        b = a\n";

const oneLine = (text) => text.replaceAll("\n", " ");

/** Where a payload stands; each makes the state of a link. */
export const PLACES = {
  "the name of a file": (it) => ({ files: { [it]: "x = 1\n", "main.py": STENCIL } }),
  "the name of the first file": (it) => ({ files: { "main.py": STENCIL, [`${it}.py`]: STENCIL }, main: `${it}.py` }),
  "title and text about a stencil": (it) => ({
    files: { "main.py": `# @title ${oneLine(it)}\n# @about ${oneLine(it)}\n${STENCIL}` },
  }),
  "a statement": (it) => ({ files: { "main.py": STENCIL.replace("b = a\n", `b = ${it}\n`) } }),
  "a string": (it) => ({
    files: { "main.py": `from lib import ${JSON.stringify(it)}\n${STENCIL.replace("b = a", `b = ${JSON.stringify(it)}`)}` },
  }),
  "a docstring": (it) => ({
    files: { "main.py": STENCIL.replace("    with", `    """${it}\n\n    Args:\n        a: ${oneLine(it)} (in)\n    """\n    with`) },
  }),
  "lines that describe a run": (it) => ({
    files: {
      "main.py": ["input", "scalar", "external", "plot", "stencil", "domain"]
        .map((name) => `# @${name} ${oneLine(it)}\n`)
        .join("") + STENCIL,
    },
  }),
  "the names of stencil, stages and field": (it) => ({
    files: { "main.py": STENCIL },
    stencil: it,
    ui: { stages: [it, "oir"], field: it },
  }),
  "scalars and externals": (it) => ({ files: { "main.py": STENCIL }, scalars: { [it]: it }, externals: { [it]: it } }),
  "names of an example, of passes and of a tile": (it) => ({
    files: { "main.py": STENCIL },
    gallery: it,
    skip: [it, `oir/${it}`],
    tile: it,
    constants: it,
  }),
  "keys that nobody knows": (it) => ({
    files: { "main.py": STENCIL },
    [it]: it,
    lesson: it,
    meta: { title: it, author: it, compiler: it },
  }),
};

/** A link that any page of the first version could have made. */
export const fragment = (state) => `s=1${deflateRawSync(JSON.stringify(state)).toString("base64url")}`;
