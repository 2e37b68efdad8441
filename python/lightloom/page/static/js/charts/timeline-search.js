// The search in a timeline: boxes by the words that they show.

import { h, replace } from "../dom.js";

/** @import { Box, TimelineRow } from "../types.js" */

/**
 * A box that was found, and its row.
 *
 * @typedef {{row: TimelineRow, box: Box}} Found
 */

/**
 * The field of a search. wordsOf: of a box, in which what is typed is looked for. onFound: called with the moments of
 * all that is found. onGo: called with the one that is shown.
 *
 * @param {{
 *   rows: TimelineRow[], wordsOf: (row: TimelineRow, box: Box) => string, onFound: (moments: number[]) => void,
 *   onGo: (found: Found) => void,
 * }} told
 */
export function timelineSearch({ rows, wordsOf, onFound, onGo }) {
  const field = h("input", { type: "text", "aria-label": "Search in the timeline", placeholder: "Search…" });
  const count = h("output", { class: "quiet" });
  /** @type {Found[]} */
  let found = [];
  let at = -1;
  /** @type {{words: string, one: Found}[] | null} */
  let known = null;

  function all() {
    known ??= rows
      .flatMap((row) => row.boxes.map((box) => ({ words: wordsOf(row, box).toLowerCase(), one: { row, box } })))
      .sort((one, other) => one.one.box.first_s - other.one.box.first_s);
    return known;
  }

  function look() {
    const parts = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    found = parts.length
      ? all()
          .filter(({ words }) => parts.every((part) => words.includes(part)))
          .map(({ one }) => one)
      : [];
    at = -1;
    replace(count, parts.length ? (found.length ? `${found.length.toLocaleString("en")} found` : "nothing") : "");
    onFound(found.map(({ box }) => box.first_s));
  }

  /** @param {number} by */
  function go(by) {
    if (!found.length) return;
    at = at < 0 && by < 0 ? found.length - 1 : (at + by + found.length) % found.length;
    replace(count, `${(at + 1).toLocaleString("en")} of ${found.length.toLocaleString("en")}`);
    onGo(found[at]);
  }

  field.addEventListener("input", look);
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    go(event.shiftKey ? -1 : 1);
  });
  /** @type {(words: string, label: string, by: number) => HTMLElement} */
  const button = (words, label, by) =>
    h("button", { type: "button", class: "small", "aria-label": label, onclick: () => go(by) }, words);
  const buttons = [button("‹", "Previous that was found", -1), button("›", "Next that was found", 1)];
  return { element: h("div", { class: "timeline-search" }, field, buttons, count), field, go };
}
