// Rows in time: computation of ranks, traffic of axes and ports, and dark times of circuits.

import { h, s } from "../dom.js";
import { shortTime, time } from "../quantities.js";
import { linear, ticks } from "../scales.js";
import { bottomAxis, drawing } from "./axes.js";

/** @import { Box, TimelineRow } from "../types.js" */

/**
 * How boxes of a role look: by a class, or a colour.
 *
 * @typedef {{className: string, colour: string | null}} Look
 */

/**
 * Boxes drawn as one. covered: seconds of them all.
 *
 * @typedef {Box & {count: number, covered: number}} JoinedBox
 */

const LANE = 9;
const LEAST_ROW = 22;
// Colours of axes and groups, in the order of their rows, other than those of computation and dark circuits.
const PALETTE = ["#3f8fd0", "#e69f00", "#12a07a", "#cc79a7", "#56b4e9", "#a59a2a"];
/** @type {Record<string, string>} */
const FIXED = { "=compute": "compute", "=dark": "reconfiguration" };
/** @type {Record<string, string>} */
const WORDS = {
  "=compute": "computation",
  "=dark": "reconfiguration, waited for",
  "=hidden": "reconfiguration, hidden",
};

/**
 * Looks of boxes by role, for the roles in use.
 *
 * @param {TimelineRow[]} rows
 */
function looksOf(rows) {
  const roles = new Set(rows.flatMap((row) => row.boxes.map((box) => box.role)));
  const named = [...roles].filter((role) => !role.startsWith("="));
  /** @type {(role: string) => Look} */
  const lookOf = (role) => {
    if (role in FIXED) return { className: `term-${FIXED[role]}`, colour: null };
    if (role === "=hidden") return { className: "hidden-change", colour: null };
    return { className: "", colour: PALETTE[named.indexOf(role) % PALETTE.length] };
  };
  return new Map([...roles].map((role) => [role, lookOf(role)]));
}

/**
 * The legend of the colours.
 *
 * @param {TimelineRow[]} rows
 */
export function ganttLegend(rows) {
  const looks = looksOf(rows);
  return h(
    "ul",
    { class: "legend" },
    [...looks].map(([role, look]) => {
      const swatch = h("span", { class: `swatch ${look.className}` });
      if (look.colour) swatch.style.background = look.colour;
      return h("li", {}, swatch, WORDS[role] ?? role);
    }),
  );
}

/**
 * The rows from `first` to `last`, seconds. describe: words of a box. onShow: called with the box that is pointed at.
 *
 * Boxes too narrow to be seen are joined with their neighbours of one look, the paler the less of the time they take.
 *
 * @param {{
 *   rows: TimelineRow[], first: number, last: number, width: number, label: string,
 *   onShow: (row: TimelineRow, box: JoinedBox) => void,
 * }} told
 */
export function gantt({ rows, first, last, width, label, onShow }) {
  const looks = looksOf(rows);
  const left = width < 560 ? 120 : 140;
  const [right, top] = [14, 4];
  const x = linear(first, last, left, width - right);
  const heights = rows.map((row) => Math.max(LEAST_ROW, row.lanes * LANE + 8));
  const bottom = top + heights.reduce((sum, height) => sum + height, 0);
  const svg = drawing(width, bottom + 22, label, { class: "chart gantt" });
  // Far into the iteration, short spans need more digits.
  /** @param {number} seconds */
  const words = (seconds) => shortTime(seconds, first > last - first ? 6 : 3);
  svg.append(
    bottomAxis({ values: ticks(first, last, Math.max(3, (width - left) / 110)), place: x, words, top, bottom }),
  );
  let y = top;
  rows.forEach((row, place) => {
    const height = heights[place];
    const lane = (height - 6) / row.lanes;
    svg.append(s("rect", { class: "lane", x: left, y: y + 2, width: width - right - left, height: height - 4 }));
    svg.append(
      s("text", { x: left - 8, y: y + height / 2 + 4, "text-anchor": "end" }, shortened(row.name, (left - 8) / 6.9)),
    );
    for (const box of joined(row.boxes, first, last, (last - first) / (width - left))) {
      const look = looks.get(box.role);
      const [from, to] = [Math.max(first, box.first_s), Math.min(last, box.last_s)];
      const rect = s("rect", {
        class: `event ${look?.className ?? ""}`,
        x: x(from),
        y: y + 3 + box.lane * lane,
        width: Math.max(0.7, x(to) - x(from)),
        height: lane - 1,
      });
      if (look?.colour) rect.style.fill = look.colour;
      if (box.count > 1)
        rect.style.fillOpacity = String(0.3 + 0.7 * Math.min(1, box.covered / (box.last_s - box.first_s)));
      rect.addEventListener("pointerover", () => onShow(row, box));
      svg.append(rect);
    }
    y += height;
  });
  return svg;
}

/**
 * @param {string} words
 * @param {number} most
 */
const shortened = (words, most) => (words.length > most ? `${words.slice(0, Math.max(4, most - 1))}…` : words);

/**
 * Boxes within a span; neighbours of one role and lane closer than a pixel are one.
 *
 * @param {Box[]} boxes
 * @param {number} first
 * @param {number} last
 * @param {number} pixel
 */
function joined(boxes, first, last, pixel) {
  /** @type {Map<string, JoinedBox>} */
  const open = new Map();
  /** @type {JoinedBox[]} */
  const found = [];
  for (const box of boxes) {
    if (box.last_s <= first || box.first_s >= last) continue;
    const key = `${box.role} ${box.lane}`;
    const before = open.get(key);
    if (
      before &&
      box.first_s - before.last_s < pixel &&
      box.last_s - box.first_s < 3 * pixel &&
      box.first_s >= before.first_s
    ) {
      before.last_s = Math.max(before.last_s, box.last_s);
      before.count += 1;
      before.covered += box.last_s - box.first_s;
      continue;
    }
    const kept = { ...box, count: 1, covered: box.last_s - box.first_s };
    open.set(key, kept);
    found.push(kept);
  }
  return found;
}

/**
 * A box in words.
 *
 * @param {TimelineRow} row
 * @param {JoinedBox} box
 */
export function boxWords(row, box) {
  const what = WORDS[box.role] ?? (box.words || `${box.role} on ${row.name}`);
  const several = box.count > 1 ? `${box.count} times ` : "";
  return `${row.name}: ${several}${what}, ${time(box.first_s)} to ${time(box.last_s)}, ${time(box.covered)} in all`;
}
