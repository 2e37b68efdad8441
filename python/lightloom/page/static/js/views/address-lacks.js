// Inputs that do not fit into the address of a view: a message, and a file of them to save.

import { h } from "../dom.js";
import { save } from "../downloads.js";
import { MOST_PACKED } from "../packed.js";
import { notice } from "../work.js";

/** @import { Held, Query } from "../address.js" */

/** @param {number} count */
const inWords = (count) => count.toLocaleString("en").replaceAll(",", "\u00a0");

/**
 * A notice with the values to be passed on with the address; null if the address holds all.
 * held: as `show` of addresses says.
 *
 * @param {Held} held
 * @param {Query} query
 */
export function lackOf({ names, characters }, query) {
  if (!names.length) return null;
  const words =
    `The address of this view lacks the ${names.join(" and the ")}: that takes ${inWords(characters)} characters, ` +
    `and an address holds ${inWords(MOST_PACKED)}. ` +
    "Who opens it is asked to paste it.";
  const buttons = names.map((name) => {
    const value = query.get(name) ?? "";
    const file = `${name}.${isJson(value) ? "json" : "txt"}`;
    return h(
      "button",
      { type: "button", class: "small", onclick: () => save(new Blob([value]), file) },
      `Save ${file}`,
    );
  });
  return notice("", words, ...buttons);
}

/** @param {string} text */
function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
