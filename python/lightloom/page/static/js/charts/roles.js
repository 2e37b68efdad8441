// What boxes of a timeline stand for: the words and the colours of their roles.

import { h } from "../dom.js";

/** @import { TimelineRow } from "../types.js" */

// Style sheets have this many colours of axes, groups and jobs, `label-0` and so on.
const LABELS = 6;
/** @type {Record<string, {words: string, className: string}>} */
const FIXED = {
  "=dark": { words: "reconfiguration, waited for", className: "term-reconfiguration" },
  "=hidden": { words: "reconfiguration, hidden", className: "hidden-change" },
  "=compute": { words: "computation", className: "term-compute" },
};

/**
 * The words of a role.
 *
 * @param {string} role
 */
export const roleWords = (role) => FIXED[role]?.words ?? role;

/**
 * The roles in use, from below to above where they share a column: circuits that change first.
 *
 * @param {TimelineRow[]} rows
 */
export function rolesOf(rows) {
  const used = new Set(rows.flatMap((row) => row.boxes.map((box) => box.role)));
  const named = [...used].filter((role) => !(role in FIXED));
  return [...Object.keys(FIXED).filter((role) => used.has(role)), ...named];
}

/**
 * The legend of roles, and how to ask for the colours that the style sheets give them now.
 *
 * @param {string[]} roles
 */
export function roleLegend(roles) {
  const named = roles.filter((role) => !(role in FIXED));
  const swatches = roles.map((role) => {
    const className = FIXED[role]?.className ?? `label-${named.indexOf(role) % LABELS}`;
    return h("span", { class: `swatch ${className}` });
  });
  const entries = roles.map((role, at) => h("li", {}, swatches[at], roleWords(role)));
  return {
    element: h("ul", { class: "legend" }, entries),
    colours: () => new Map(roles.map((role, at) => [role, getComputedStyle(swatches[at]).backgroundColor])),
  };
}
