// What the page says, in the visitor's language: Fluent's messages from static/locales.
//
// English is part of this module. Another language is a file, which is here before this module is: whoever imports it
// waits. Where the file cannot be had, the page speaks English; so does a message that the language does not have.

import { FluentBundle, FluentNumber, FluentResource } from "@fluent/bundle";
import english from "catalogue:en";

/** As `web/src/bridge/locale.rs` has them. */
const LANGUAGES = ["en", "de"];
const KEY = "isobar.language";
/** How long a catalogue is waited for, in milliseconds. */
const PATIENCE = 10_000;

const page = globalThis.document?.documentElement;

function kept() {
  // A worker is named after the page's language, and keeps nothing.
  if (!page) return globalThis.name;
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

const known = (tag) => LANGUAGES.find((it) => it === String(tag).toLowerCase().split("-")[0]);
const chosen = known(kept()) ?? (navigator.languages ?? []).map(known).find(Boolean) ?? "en";

/** Which way a catalogue's language is written. */
const isFromRight = (catalogue) => catalogue.body.find((it) => it.id === "direction")?.value === "rtl";

function bundle(language, text) {
  const catalogue = new FluentResource(text);
  // Marks around what is filled in are for languages that are written the other way; they would end up in copies.
  const made = new FluentBundle(language, { useIsolating: isFromRight(catalogue) });
  made.addResource(catalogue);
  return made;
}

/** The bundles in the order in which they are asked. */
const bundles = [bundle("en", english)];

if (chosen !== "en") {
  try {
    const files = page?.dataset.files ?? globalThis.location.href;
    const address = new URL(`locales/${chosen}.ftl`, files);
    const response = await fetch(address, { signal: AbortSignal.timeout(PATIENCE) });
    if (!response.ok) throw new Error(`the server answered ${response.status}`);
    bundles.unshift(bundle(chosen, await response.text()));
  } catch (error) {
    console.info(`The page speaks English: ${chosen} cannot be had. ${error}`);
  }
}

/** The language that is spoken. */
export const language = () => bundles[0].locales[0];

/**
 * The message of that key, as plain text.
 *
 * @param {string} key
 * @param {(string|number)[]} [args] names and values by turns; numbers are written without thousands separators,
 *   unless the message asks for them
 */
export function text(key, args = []) {
  const named = {};
  for (let at = 0; at < args.length; at += 2) {
    const value = args[at + 1];
    named[args[at]] = typeof value === "number" ? new FluentNumber(value, { useGrouping: false }) : value;
  }
  for (const it of bundles) {
    const message = it.getMessage(key);
    // What goes wrong within a message is shown in its text.
    if (message?.value) return it.formatPattern(message.value, named, []);
  }
  return key;
}

if (page) {
  page.lang = language();
  // Whoever looks at the page the other way round said so before.
  page.dir ||= text("direction");
}
