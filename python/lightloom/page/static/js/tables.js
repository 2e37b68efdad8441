// Tables of results.

import { append, h } from "./dom.js";

/** @import { Attributes, Child } from "./dom.js" */

// Kinds of columns, as style sheets know them.
const KINDS = /** @type {const} */ (["right", "words", "wide"]);

/**
 * A table in a box that scrolls where it is too wide.
 *
 * columns: right of numbers, words of sentences, wide where narrow screens leave it out. rows: a cell is text or an
 * element. foot: cells of a last row. caption: of the table, for screen readers.
 *
 * @param {{
 *   caption: string, columns: {head: string, right?: boolean, words?: boolean, wide?: boolean}[],
 *   rows: {cells: Child[], chosen?: boolean, attributes?: Attributes}[], foot?: Child[] | null, tall?: boolean,
 * }} told
 */
export function table({ caption, columns, rows, foot = null, tall = false }) {
  /** @param {number} place */
  const kind = (place) => KINDS.filter((name) => columns[place][name]).join(" ") || null;
  const head = h(
    "tr",
    {},
    columns.map((column, place) => h("th", { scope: "col", class: kind(place) }, column.head)),
  );
  const body = rows.map(({ cells, chosen = false, attributes = {} }) =>
    h(
      "tr",
      { class: chosen ? "chosen" : null, ...attributes },
      cells.map((cell, place) => h("td", { class: kind(place) }, cell)),
    ),
  );
  const made = h("table", {}, h("caption", { class: "unseen" }, caption), h("thead", {}, head), h("tbody", {}, body));
  const last = foot?.map((cell, place) => h("td", { class: kind(place) }, cell));
  if (last) made.append(h("tfoot", {}, h("tr", {}, last)));
  return h("div", { class: `scroll ${tall ? "tall" : ""}`, tabindex: 0, role: "region", "aria-label": caption }, made);
}

/**
 * A card with a title.
 *
 * @param {string} title
 * @param {Child[]} children
 */
export function card(title, ...children) {
  return cardWith(title, [], ...children);
}

/**
 * A card whose title has elements at its right.
 *
 * @param {string} title
 * @param {Child[]} end
 * @param {Child[]} children
 */
export function cardWith(title, end, ...children) {
  const id = `card-${title.toLowerCase().replace(/[^a-z]+/g, "-")}`;
  const header = h("header", {}, h("h2", { id }, title), end.length ? h("div", { class: "end" }, end) : null);
  return append(h("section", { class: "card", "aria-labelledby": id }, header), children);
}

/**
 * A number and its unit, the unit smaller.
 *
 * @param {[number: string, unit: string]} parts
 * @returns {Child[]}
 */
export const quantity = ([number, unit]) => [number, h("span", { class: "unit" }, unit)];
