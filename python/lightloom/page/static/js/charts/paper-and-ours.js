// Two numbers next to each other: a paper's as a mark, or a band where it states a range, and ours as a bar.

import { h, s } from "../dom.js";
import { linear } from "../scales.js";
import { drawing } from "./axes.js";

/** @import { Numbers } from "../types.js" */

const [WIDTH, HEIGHT, EDGE] = [150, 22, 5];

/**
 * A small drawing of numbers, from nothing to the largest of them. label: the same in words.
 *
 * @param {Numbers} numbers
 * @param {string} label
 */
export function paperAndOurs({ paper_least: least, paper_most: most, ours }, label) {
  const all = [least, most, ours, 0];
  const x = linear(Math.min(...all), Math.max(...all), EDGE, WIDTH - EDGE);
  const [nothing, end] = [x(0), x(ours)].sort((one, other) => one - other);
  const svg = drawing(WIDTH, HEIGHT, label, { class: "chart paper-and-ours" });
  svg.append(
    s("line", { class: "gridline", x1: x(0), x2: x(0), y1: 1, y2: HEIGHT - 1 }),
    s("rect", { class: "ours", x: nothing, y: 7, width: Math.max(1, end - nothing), height: HEIGHT - 14 }),
    most > least
      ? s("rect", { class: "paper-range", x: x(least), y: 2.5, width: x(most) - x(least), height: HEIGHT - 5 })
      : markAt(x(least)),
  );
  return svg;
}

/**
 * A diamond, which is seen on a bar and next to it.
 *
 * @param {number} x
 */
const markAt = (x) => s("path", { class: "paper-mark", d: `M${x} ${HEIGHT / 2 - 6}l5 6l-5 6l-5 -6z` });

/** The legend of the two numbers. */
export function paperAndOursLegend() {
  const mark = s("svg", { width: 12, height: HEIGHT, "aria-hidden": "true", class: "paper-and-ours" }, markAt(6));
  return h(
    "ul",
    { class: "legend wide" },
    h("li", {}, mark, "the paper’s number"),
    h("li", {}, h("span", { class: "swatch ours" }), "ours"),
  );
}
