// What Firefox is held to, beside Chromium, which is held to everything: `cargo xtask e2e --firefox`.
//
// What a newcomer meets, what is kept, and what browsers do each in their own way: service workers, storage, locks,
// workers, clipboard, fragments.

export const IN_FIREFOX = [
  "a newcomer types, errs, reads, shares, comes back and runs elsewhere",
  "a newcomer reads a lesson, errs, and passes it",
  "after one visit everything works without a network",
  "a second tab has a copy, and each keeps its own",
  "a text that only the database has is there after a reload",
  "the lines of the statement under the cursor are lit in every pane",
  "what may be written is offered, and taken with Tab",
  "an example never takes the place of a text that somebody wrote",
];
