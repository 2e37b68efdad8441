// Horizontal bars in the terms of the cost, with a line at the lower bound.

import { s } from "../dom.js";
import { shortTime, time, times } from "../quantities.js";
import { linear, ticks } from "../scales.js";
import { bottomAxis, drawing } from "./axes.js";
import { TERMS, termOf } from "./terms.js";

/** @import { Part, Parts } from "./terms.js" */

/**
 * A bar: its name and the words next to it, its seconds in all and by part.
 *
 * @typedef {Parts & {name: string, detail?: string, total_s: number, chosen: boolean}} Bar
 */

const ROW = 26;
// Room of a letter of the words next to bars, about.
const LETTER = 6.2;

/**
 * Bars of rows.
 *
 * terms: names of `…_s` parts that a bar is made of. bound: seconds, or 0. best: seconds that ratios are over.
 *
 * @param {{
 *   rows: Bar[], width: number, label: string, bound?: number, boundWords?: string, terms?: Part[], best?: number,
 * }} told
 */
export function bars({ rows, width, label, bound = 0, boundWords = "lower bound", terms = TERMS, best = 0 }) {
  const isNarrow = width < 560;
  const [left, right, top] = [isNarrow ? 8 : 232, isNarrow ? 66 : 130, bound ? 20 : 6];
  const row = isNarrow ? ROW + 16 : ROW;
  const bottom = top + rows.length * row;
  const most = Math.max(...rows.map((each) => each.total_s), bound, 1e-12);
  const x = linear(0, most, left, width - right);
  const svg = drawing(width, bottom + 24, label);
  svg.append(bottomAxis({ values: ticks(0, most, isNarrow ? 3 : 5), place: x, words: shortTime, top, bottom }));
  const words = s("g", {});
  /** @type {string[]} */
  const clear = [];
  rows.forEach((each, place) => {
    const y = top + place * row + (isNarrow ? 17 : 4);
    const name = s(
      "text",
      {
        class: each.chosen ? "strong" : null,
        x: isNarrow ? left : left - 8,
        y: isNarrow ? y - 4 : y + 13,
        "text-anchor": isNarrow ? "start" : "end",
      },
      each.name,
    );
    if (each.detail) name.append(s("tspan", { class: "detail" }, ` · ${each.detail}`));
    words.append(name);
    let at = left;
    for (const term of terms) {
      const wide = x(termOf(each, term)) - left;
      if (wide > 0)
        svg.append(
          s(
            "rect",
            { class: `term-${term}`, x: at, y, width: wide, height: ROW - 8 },
            s("title", {}, `${each.name}: ${term} ${time(termOf(each, term))}`),
          ),
        );
      at += wide;
    }
    const ratio = best && !isNarrow && each.total_s > best * (1 + 1e-9) ? ` · ${times(each.total_s / best)}` : "";
    const said = `${time(each.total_s)}${ratio}`;
    const begin = x(each.total_s) + 6;
    words.append(s("text", { x: begin, y: y + 13 }, said));
    // The line of the bound leaves out the names above bars, and the words next to a bar.
    const [from, to] = isNarrow ? [y - 1, y + ROW - 7] : [top + place * row, top + (place + 1) * row];
    if (x(bound) < begin - 3 || x(bound) > begin + said.length * LETTER) clear.push(`M${x(bound)} ${from}V${to}`);
  });
  if (bound > 0) {
    const d = [`M${x(bound)} ${top - 3}V${top}`, ...clear].join("");
    svg.append(s("path", { class: "reference", d }));
    const atEnd = x(bound) > width * 0.5;
    svg.append(
      s(
        "text",
        { x: x(bound) + (atEnd ? 3 : -3), y: top - 7, "text-anchor": atEnd ? "end" : "start" },
        `${boundWords} ${time(bound)}`,
      ),
    );
  }
  svg.append(words);
  return svg;
}
