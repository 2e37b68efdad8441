// Times as lines, over reconfiguration delays on a logarithmic axis, or over whole numbers on a linear one.

import { h, s } from "../dom.js";
import { isKnown, shortTime, time } from "../quantities.js";
import { linear, logarithmic, logTicks, ticks } from "../scales.js";
import { bottomAxis, drawing, leftAxis } from "./axes.js";

/**
 * A line by its name: seconds at each of the drawing's values; null where there are none.
 *
 * @typedef {{name: string, values: (number | null)[]}} Series
 */

const LOOKS = [
  ["var(--transmission)", ""],
  ["#e69f00", "6 3"],
  ["#12a07a", "2 3"],
  ["#cc79a7", "8 3 2 3"],
  ["#56b4e9", ""],
  ["#d55e00", "4 2"],
];

/** @param {number} place */
const lookOf = (place) => LOOKS[place % LOOKS.length];

/**
 * The legend of the lines.
 *
 * @param {string[]} names
 */
export function lineLegend(names) {
  return h(
    "ul",
    { class: "legend" },
    names.map((name, place) => {
      const [colour, dash] = lookOf(place);
      const line = s("line", { x1: 0, x2: 22, y1: 5, y2: 5, "stroke-width": 2.5, "stroke-dasharray": dash || null });
      line.style.stroke = colour;
      return h("li", {}, s("svg", { width: 22, height: 10, "aria-hidden": "true" }, line), name);
    }),
  );
}

/**
 * Lines over `xs`, which are seconds too, or numbers of things if isCounted.
 *
 * @param {{
 *   xs: number[], series: Series[], width: number, xTitle: string, label: string, isCounted?: boolean,
 * }} told
 */
export function lines({ xs, series, width, xTitle, label, isCounted = false }) {
  const [left, right, top, bottom] = [64, 14, 8, 236];
  const all = series.flatMap(({ values }) => values).filter(isKnown);
  const end = xs[xs.length - 1];
  const [least, most] = [Math.min(...all), Math.max(...all)];
  const room = Math.max((most - least) * 0.06, most * 1e-4);
  const x = (isCounted ? linear : logarithmic)(xs[0], end, left, width - right);
  const y = linear(least - room, most + room, bottom, top);
  const svg = drawing(width, bottom + 40, label, { class: "chart lines" });
  svg.append(
    leftAxis({
      values: ticks(Math.max(0, least - room), most + room, 4),
      place: y,
      words: shortTime,
      left,
      right: width - right,
    }),
  );
  svg.append(
    bottomAxis({
      values: isCounted ? ticks(xs[0], end, 8).filter(Number.isInteger) : logTicks(xs[0], end),
      place: x,
      words: isCounted ? String : shortTime,
      top,
      bottom,
      title: xTitle,
      middle: (left + width) / 2,
    }),
  );
  series.forEach(({ name, values }, place) => {
    const [colour, dash] = lookOf(place);
    const points = xs.flatMap((value, at) => pointOf(x(value), values[at]));
    const path = s("path", {
      d: points.map(([px, value], at) => `${at ? "L" : "M"}${px.toFixed(1)} ${y(value).toFixed(1)}`).join(""),
      "stroke-dasharray": dash || null,
    });
    path.style.stroke = colour;
    svg.append(path);
    for (const [px, value] of points) {
      const dot = s("circle", { cx: px, cy: y(value), r: 3.2 }, s("title", {}, `${name}: ${time(value)}`));
      dot.style.fill = colour;
      svg.append(dot);
    }
  });
  return svg;
}

/**
 * A point of a line, where it has one.
 *
 * @param {number} x
 * @param {number | null} value
 * @returns {[x: number, value: number][]}
 */
const pointOf = (x, value) => (isKnown(value) ? [[x, value]] : []);
