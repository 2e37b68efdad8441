// The terms of the cost: their names, a legend, bars of them.

import { h, s } from "../dom.js";
import { shortTime, time } from "../quantities.js";
import { linear, ticks } from "../scales.js";
import { bottomAxis, drawing, leftAxis } from "./axes.js";

/** @import { Group, Span } from "../steps.js" */
/** @import { Term } from "../types.js" */

/**
 * A part of a bar: a term, or computation.
 *
 * @typedef {Term | "compute"} Part
 */

/**
 * Seconds by part; those that are left out take none.
 *
 * @typedef {Partial<Record<`${Part}_s`, number>>} Parts
 */

/** @type {Term[]} */
export const TERMS = ["startup", "propagation", "transmission", "reconfiguration", "barrier"];

/**
 * Seconds of a term of a step or row.
 *
 * @param {Parts} row
 * @param {Part} term
 */
export const termOf = (row, term) => row[/** @type {const} */ (`${term}_s`)] ?? 0;

/**
 * The terms of some steps or rows; the barrier only where one takes time.
 *
 * @param {Parts[]} rows
 */
export const shownTerms = (rows) =>
  TERMS.filter((term) => term !== "barrier" || rows.some((row) => termOf(row, term) > 0));

/**
 * A term at the head of a column.
 *
 * @param {Term} term
 */
export const headOf = (term) => (term === "reconfiguration" ? "Reconfig." : term[0].toUpperCase() + term.slice(1));

/**
 * All terms of a step.
 *
 * @param {Parts} row
 */
export const totalOf = (row) => TERMS.reduce((sum, term) => sum + termOf(row, term), 0);

/**
 * The legend of the colours.
 *
 * @param {Part[]} names
 */
export function legend(names = shownTerms([])) {
  return h(
    "ul",
    { class: "legend" },
    names.map((term) => h("li", {}, h("span", { class: `swatch term-${term}` }), term)),
  );
}

/**
 * Columns of a step each (or of a run of equal steps), in terms.
 *
 * onChoice: called with a group that is clicked. Returns `{element, mark(step)}`.
 *
 * @param {{groups: Group[], width: number, onChoice: (group: Group) => void, label: string}} told
 */
export function stepColumns({ groups, width, onChoice, label }) {
  const [left, right, top, bottom] = [56, 6, 8, 174];
  const most = Math.max(...groups.map((group) => totalOf(group.first)), 1e-12);
  const svg = drawing(width, bottom + 34, label);
  const y = linear(0, most, bottom, top);
  svg.append(leftAxis({ values: ticks(0, most, 4), place: y, words: shortTime, left, right: width - right }));
  const room = (width - left - right) / groups.length;
  const thick = Math.max(1, Math.min(46, room - Math.min(6, room * 0.22)));
  const every = Math.ceil(34 / room);
  const hits = groups.map((group, place) => {
    const x = left + place * room + (room - thick) / 2;
    let at = bottom;
    for (const term of TERMS) {
      const height = bottom - y(termOf(group.first, term));
      if (height > 0) svg.append(s("rect", { class: `term-${term}`, x, y: at - height, width: thick, height }));
      at -= height;
    }
    if (place % every === 0) {
      svg.append(s("text", { x: x + thick / 2, y: bottom + 14, "text-anchor": "middle" }, group.numbers));
    }
    const hit = s(
      "rect",
      {
        class: "bar-hit",
        x: left + place * room,
        y: top,
        width: room,
        height: bottom - top + 18,
        onclick: () => onChoice(group),
      },
      s("title", {}, `steps ${group.numbers} on ${group.topology}: ${time(totalOf(group.first))} each`),
    );
    svg.append(hit);
    return hit;
  });
  svg.append(s("line", { class: "axis-line", x1: left, x2: width - right, y1: bottom, y2: bottom }));
  svg.append(s("text", { x: (left + width) / 2, y: bottom + 31, "text-anchor": "middle" }, "step"));
  return {
    element: svg,
    /** @param {number} step */
    mark(step) {
      for (const [place, group] of groups.entries()) hits[place].classList.toggle("now", group.holds(step));
    },
  };
}

/**
 * The plan in time, its terms one after the other.
 *
 * bound: seconds. onChoice: called with the beginning and the step of a span that is clicked. Returns
 * `{element, mark(seconds)}`.
 *
 * @param {{
 *   spans: Span[], total: number, width: number, bound: number, onChoice: (seconds: number, step: number) => void,
 *   label: string,
 * }} told
 */
export function timeStrip({ spans, total, width, bound, onChoice, label }) {
  const [left, right, top, bottom] = [6, 12, 16, 50];
  const x = linear(0, total, left, width - right);
  const svg = drawing(width, bottom + 22, label);
  for (const { term, from, to, step } of spans) {
    svg.append(
      s(
        "rect",
        {
          class: `term-${term}`,
          x: x(from),
          y: top,
          width: Math.max(0.4, x(to) - x(from)),
          height: bottom - top,
          onclick: () => onChoice(from, step),
        },
        s("title", {}, `step ${step + 1}: ${term} ${time(to - from)}`),
      ),
    );
  }
  svg.append(
    bottomAxis({
      values: ticks(0, total, Math.max(3, width / 130)),
      place: x,
      words: shortTime,
      top: bottom,
      bottom: bottom + 4,
    }),
  );
  if (bound > 0) {
    svg.append(s("line", { class: "reference", x1: x(bound), x2: x(bound), y1: top - 5, y2: bottom + 4 }));
    const end = bound > total * 0.6;
    svg.append(
      s("text", { x: x(bound) + (end ? -4 : 4), y: top - 5, "text-anchor": end ? "end" : "start" }, "lower bound"),
    );
  }
  const head = s("line", { class: "playhead", x1: left, x2: left, y1: top - 3, y2: bottom + 4 });
  svg.append(head);
  return {
    element: svg,
    /** @param {number} seconds */
    mark(seconds) {
      head.setAttribute("x1", String(x(seconds)));
      head.setAttribute("x2", String(x(seconds)));
    },
  };
}
