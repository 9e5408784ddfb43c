// Files of the visitor: dropped onto the page, or chosen. They are read here and never leave the page.
//
// What is handed on is a list of [path, Uint8Array]; the Rust side (web/src/files) decides what of it is taken.

/** So many files are looked at, and so many bytes of them read, whatever is dropped. */
const MOST_FILES = 4096;
const MOST_BYTES = 16 * 1024 * 1024;

const isWanted = (name) => /\.(py|ipynb|zip)$/i.test(name);
const isPassedOver = (name) => name.startsWith(".") || name === "node_modules" || name === "__pycache__";

/** Listens for drops anywhere on the page; `hover(true)` while files are held over it. */
export function listenForDrops(hover, take) {
  const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
  let depth = 0;
  const listen = (name, act) =>
    window.addEventListener(
      name,
      (event) => {
        if (!hasFiles(event)) return;
        // Before the editor does, which would insert the text.
        event.preventDefault();
        event.stopPropagation();
        act(event);
      },
      true,
    );
  listen("dragenter", () => {
    depth += 1;
    hover(true);
  });
  listen("dragover", (event) => {
    event.dataTransfer.dropEffect = "copy";
  });
  listen("dragleave", () => {
    depth = Math.max(0, depth - 1);
    if (depth === 0) hover(false);
  });
  listen("drop", async (event) => {
    depth = 0;
    hover(false);
    // Entries are gone once the event is over.
    const items = [...event.dataTransfer.items].map((it) => it.webkitGetAsEntry?.() ?? it.getAsFile?.());
    take(await readAll(items.filter(Boolean)));
  });
}

/** Asks for files, or for a folder; an empty list where nothing is chosen. */
export function choose(ofFolder) {
  return new Promise((resolve) => {
    const input = document.createElement("input");
    input.type = "file";
    input.multiple = true;
    input.hidden = true;
    input.dataset.testid = ofFolder ? "folder-chooser" : "file-chooser";
    if (ofFolder) input.webkitdirectory = true;
    else input.accept = ".py,.ipynb,.zip";
    const done = async (files) => {
      input.remove();
      resolve(await readAll(files));
    };
    input.addEventListener("change", () => done([...input.files]));
    input.addEventListener("cancel", () => done([]));
    document.body.append(input);
    input.click();
  });
}

async function readAll(items) {
  const found = [];
  for (const item of items) await walk(item, found);
  const read = [];
  let room = MOST_BYTES;
  for (const [path, file] of found) {
    if (file.size > room) continue;
    room -= file.size;
    try {
      read.push([path, new Uint8Array(await file.arrayBuffer())]);
    } catch {
      // Gone, or not readable: as if it had not been there.
    }
  }
  return read;
}

async function walk(item, found) {
  if (found.length >= MOST_FILES) return;
  if (item instanceof File) {
    const path = item.webkitRelativePath || item.name;
    if (isWanted(path) && !path.split("/").some(isPassedOver)) found.push([path, item]);
  } else if (item.isFile) {
    if (!isWanted(item.name)) return;
    const file = await new Promise((resolve) => item.file(resolve, () => resolve(null)));
    if (file) found.push([item.fullPath.replace(/^\//, ""), file]);
  } else if (item.isDirectory && !isPassedOver(item.name)) {
    const reader = item.createReader();
    for (;;) {
      // A folder is told in parts, the last one empty.
      const part = await new Promise((resolve) => reader.readEntries(resolve, () => resolve([])));
      if (part.length === 0) break;
      for (const inner of part) await walk(inner, found);
    }
  }
}
