// Texts and their history in IndexedDB, and who may write them: one tab each.
//
// Each function answers with a promise; one that is refused rejects, and whoever asked says so.

import { language } from "./locale.js";

/** How many earlier states of a text are kept, and after how long one a minute is enough. */
const MOST_STATES = 200;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** What is typed within this time is one state. */
const ONE_STATE_MS = 5_000;
/**
 * A database that does not answer for so long has failed. Whoever reads waits longer: what was not read in time would be
 * taken for older than what is shown.
 */
const PATIENCE_MS = { readwrite: 2_000, readonly: 30_000 };

let opening;
/** Whether nothing is kept any more. */
let isShut = false;

function database() {
  opening ??= new Promise((resolve, reject) => {
    const request = indexedDB.open("isobar", 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore("texts", { keyPath: "id" });
      request.result.createObjectStore("states", { keyPath: ["id", "at"] });
    };
    request.onsuccess = () => {
      // Whoever deletes it, or has a later form of it, need not wait; the next write opens it again.
      request.result.onversionchange = () => {
        request.result.close();
        opening = undefined;
      };
      request.result.onclose = () => (opening = undefined);
      resolve(request.result);
    };
    request.onerror = () => reject(request.error);
    request.onblocked = () => reject(new Error("another tab holds the storage"));
  });
  // Asked again after a failure: the browser may have room by then.
  opening.catch(() => (opening = undefined));
  return opening;
}

/** Runs `act(stores)` in one transaction, and waits for its end. */
function within(mode, act) {
  const late = new Promise((_, reject) => {
    setTimeout(() => reject(new Error("the storage does not answer")), PATIENCE_MS[mode]);
  });
  return Promise.race([transact(mode, act), late]);
}

async function transact(mode, act) {
  if (isShut) throw new Error("everything was forgotten");
  const transaction = (await database()).transaction(["texts", "states"], mode);
  const ended = new Promise((resolve, reject) => {
    transaction.oncomplete = resolve;
    transaction.onabort = transaction.onerror = () => reject(transaction.error ?? new Error("not kept"));
  });
  const found = await act({ texts: transaction.objectStore("texts"), states: transaction.objectStore("states") });
  await ended;
  return found;
}

const answer = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

const ofText = (id) => IDBKeyRange.bound([id, 0], [id, Infinity]);

/** Times of states, oldest first, that need not be kept any more. */
export function outlived(times, now) {
  const gone = times.slice(0, Math.max(0, times.length - MOST_STATES));
  let minute;
  for (const at of times.slice(gone.length)) {
    if (now - at <= HOUR_MS) break;
    const here = Math.floor(at / MINUTE_MS);
    if (here === minute) gone.push(at);
    minute = here;
  }
  return gone;
}

/** A name for a new text. */
export function newTextId() {
  return `${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 10)}`;
}

/** Keeps a text as it is now, and among its earlier states. */
export function keepText(id, title, state, at) {
  return within("readwrite", async ({ texts, states }) => {
    texts.put({ id, title, state, at });
    const times = (await answer(states.getAllKeys(ofText(id)))).map((it) => it[1]);
    const last = times.at(-1);
    // What is still being typed takes the place of what was there a moment ago.
    if (last !== undefined && at - last < ONE_STATE_MS && times.length > 1) {
      states.delete([id, last]);
      times.pop();
    }
    states.put({ id, at, state });
    for (const it of outlived([...times, at], at)) states.delete([id, it]);
  });
}

/** Keeps something that is no text of the list: its key has a dot, which the name of a text has not. */
export function keepAside(id, state, at) {
  return within("readwrite", ({ texts }) => void texts.put({ id, title: "", state, at }));
}

/** The state of a text, where it was kept after that time, or null. */
export async function laterText(id, at) {
  const found = await within("readonly", ({ texts }) => answer(texts.get(id)));
  return found?.at > at ? found.state : null;
}

/** All texts as JSON, the last one first: `[{ id, title, at }]`. */
export async function listTexts() {
  const kept = await within("readonly", ({ texts }) => answer(texts.getAll()));
  const all = kept.filter(({ id }) => !id.includes("."));
  const rows = all.map(({ id, title, at }) => ({ id, title, at })).sort((a, b) => b.at - a.at);
  return JSON.stringify(rows);
}

/** The state of a text, or null. */
export async function loadText(id) {
  return (await within("readonly", ({ texts }) => answer(texts.get(id))))?.state ?? null;
}

/** When the earlier states of a text were kept, the last one first, as JSON. */
export async function listStates(id) {
  const keys = await within("readonly", ({ states }) => answer(states.getAllKeys(ofText(id))));
  return JSON.stringify(keys.map((it) => it[1]).reverse());
}

/** An earlier state of a text, or null. */
export async function loadState(id, at) {
  return (await within("readonly", ({ states }) => answer(states.get([id, at]))))?.state ?? null;
}

/** Forgets a text and its earlier states. */
export function forgetText(id) {
  return within("readwrite", ({ texts, states }) => {
    texts.delete(id);
    states.delete(ofText(id));
  });
}

/** Forgets every text, and keeps nothing from now on: the page ends. */
export async function forgetAll() {
  await within("readwrite", ({ texts, states }) => {
    texts.clear();
    states.clear();
  });
  isShut = true;
}

let release = () => {};
let claimed;

/** A page that was left may hold its lock for a moment longer: so often, and so long apart, it is asked for again. */
const ASK_AGAIN = 3;
const LET_GO_MS = 120;

/** Waits for a lock, and holds it until `held` is resolved; tells whether it was to be had. */
async function locked(name, held) {
  for (let left = ASK_AGAIN; ; left--) {
    const isOurs = await new Promise((resolve) => {
      navigator.locks
        .request(name, { ifAvailable: true }, (lock) => {
          resolve(lock !== null);
          return lock && held;
        })
        .catch(() => resolve(true));
    });
    if (isOurs || left === 0) return isOurs;
    await new Promise((done) => setTimeout(done, LET_GO_MS));
  }
}

/**
 * Takes the right to write a text, and lets go of the one before; false where another tab has it. Where the browser
 * has no locks, everybody may write.
 */
export function claimText(id) {
  // Asked again for what is held, a lock that is just let go of would seem another tab's.
  if (claimed?.id === id) return claimed.answer;
  release();
  release = () => {};
  if (!navigator.locks) return Promise.resolve(true);
  const held = new Promise((done) => (release = done));
  const answer = locked(`isobar.text.${id}`, held);
  const claim = { id, answer };
  claimed = claim;
  answer.then((isOurs) => {
    if (!isOurs && claimed === claim) claimed = undefined;
  });
  return answer;
}

/** Asks that the browser does not clear what is kept here; it may say no. */
export async function askToKeep() {
  return (await navigator.storage?.persist?.()) ?? false;
}

/** A time as the reader's own clock and calendar tell it, or those of the page's language where that is another one. */
export function timeInWords(at) {
  const day = new Date(at).toDateString() === new Date().toDateString() ? {} : { day: "numeric", month: "short" };
  const own = navigator.language.startsWith(language()) ? undefined : language();
  return new Intl.DateTimeFormat(own, { hour: "2-digit", minute: "2-digit", ...day }).format(at);
}
