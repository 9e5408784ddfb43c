// Sentences of the compiler: what stands between back quotes is drawn as code.

/** @returns {DocumentFragment} */
export function prose(text) {
  const made = document.createDocumentFragment();
  const parts = text.split("`");
  // A back quote without another one is a sign like any other.
  const last = parts.length % 2 === 0 ? parts.length - 2 : parts.length - 1;
  for (const [at, part] of parts.slice(0, last + 1).entries()) {
    if (at % 2 === 0) made.append(part);
    else {
      const code = document.createElement("code");
      code.className = "cm-name";
      code.textContent = part;
      made.append(code);
    }
  }
  if (last < parts.length - 1) made.append(`\`${parts.at(-1)}`);
  return made;
}

/** The same where there is text only. */
export function plain(text) {
  const made = document.createElement("span");
  made.append(prose(text));
  return made.textContent;
}
