// Many iterations: an All-to-All planned once for all of them, and its regret.

import { ask } from "../api.js";
import { onResize, widthOf } from "../charts/axes.js";
import { bars } from "../charts/bars.js";
import { lineLegend, lines } from "../charts/lines.js";
import { announce, h, replace } from "../dom.js";
import { downloads, fromServer, json } from "../downloads.js";
import { bodyOf, startOf } from "../options.js";
import { counted, shortTime, size, time, times } from "../quantities.js";
import { card, cardWith, table } from "../tables.js";
import { Scaffold } from "./scaffold.js";

/** @import { Body } from "../types.js" */

/** @typedef {"once" | "uniform" | "previous" | "each"} Way */

/**
 * A way of planning over several iterations; seconds. over_each: the mean time over that of `each`.
 *
 * @typedef {{
 *   name: Way, mean_s: number, worst_s: number, mean_regret_s: number, worst_regret_s: number, over_each: number,
 * }} Strategy
 */

/** @typedef {Record<`${Way}_s`, number> & {iteration: number, held_out: boolean, traffic_bytes: number}} Iteration */

/**
 * A plan that is made once: `lightloom.robust/1`.
 *
 * @typedef {{
 *   gpus: number, ports: number, objective: string, made_for: string, optimised: boolean, initial: string,
 *   strategies: Strategy[], held_out: Strategy[], iterations: Iteration[], steps: unknown[],
 * }} Robust
 */

/** @type {Record<Way, string>} */
const WORDS = {
  once: "one plan for all of these iterations",
  uniform: "one plan for equal blocks",
  previous: "a plan for each iteration, made for the one before",
  each: "a plan for each iteration, made for its own bytes",
};
/** @type {Exclude<Way, "each">[]} */
const WITH_REGRET = ["once", "previous", "uniform"];

/**
 * Makes the view.
 *
 * @param {HTMLElement} root
 */
export function mount(root) {
  let end = () => {};
  const frame = new Scaffold({
    root,
    view: "robust",
    verb: "robust",
    title: "Many iterations",
    first: ["matrices", "size", "gpus", "iterations", "drift", "objective", "reconfiguration-delay", "ports"],
    presets: ["robust"],
    start: startOf("robust"),
    lead: "An unequal All-to-All that is planned once for many iterations, compared with planning it anew each time.",
    async compute(query, signal) {
      const body = bodyOf("robust", query);
      const found = /** @type {Robust} */ (await ask("/api/robust", body, { signal }));
      end();
      end = draw(frame.result, found, body);
      announce(sentence(found));
    },
  });
  return {
    /** @type {typeof frame.show} */
    show: (query, lost) => frame.show(query, lost),
    leave() {
      end();
      frame.leave();
    },
  };
}

/**
 * Shows the plan; returns a function that cancels pending work.
 *
 * @param {HTMLElement} result
 * @param {Robust} found
 * @param {Body} body
 */
function draw(result, found, body) {
  const [means, regrets] = [h("div", {}), h("div", {})];
  const isCourse = found.iterations.length > 1;
  replace(
    result,
    h("div", { class: "card" }, h("p", { class: "sentence" }, sentence(found)), h("p", { class: "quiet" }, how(found))),
    card("Mean time of an iteration", means, strategyTable(found)),
    isCourse ? cardWith("Regret by iteration", [lineLegend(WITH_REGRET)], regrets, iterationTable(found)) : null,
    h("div", { class: "card" }, files(found, body)),
  );
  const redraw = () => {
    replace(means, meanBars(found, widthOf(means)));
    if (isCourse) replace(regrets, regretLines(found, widthOf(regrets)));
  };
  redraw();
  return onResize(result, redraw);
}

/** @param {Robust} found */
function sentence({ strategies, held_out: held, iterations }) {
  const { once, previous } = byName(strategies);
  const all = counted(iterations.length - iterations.filter((one) => one.held_out).length, "iteration");
  const unseen = held.length ? ` In those held out, it takes ${times(byName(held).once.over_each)}.` : "";
  return (
    `One plan for ${all} takes ${time(once.mean_s)} on average: ${times(once.over_each)} what a plan for each takes. ` +
    `Plans from the iteration before take ${times(previous.over_each)}.${unseen}`
  );
}

/** @param {Robust} found */
function how({ made_for: made, optimised, initial, steps }) {
  const shares = optimised ? "shares of paths the best for these iterations" : "shares of paths those of the planner";
  const charged = initial === "repeated" ? "are" : "are not";
  return (
    `The plan has ${counted(steps.length, "step")}; its circuits were planned for ${made}, ${shares}. Changes of ` +
    `circuits between iterations ${charged} charged. Regret is the time less that of a plan for each iteration.`
  );
}

/**
 * The strategies by name.
 *
 * @param {Strategy[]} strategies
 */
const byName = (strategies) =>
  /** @type {Record<Way, Strategy>} */ (Object.fromEntries(strategies.map((one) => [one.name, one])));

/**
 * @param {Robust} found
 * @param {number} width
 */
function meanBars({ strategies }, width) {
  const { each } = byName(strategies);
  const rows = strategies.map(({ name, mean_s: mean, worst_s: worst }) => ({
    name,
    detail: `slowest ${shortTime(worst)}`,
    total_s: mean,
    transmission_s: mean,
    chosen: name === "once",
  }));
  const label = `Mean time of an iteration: ${rows.map((row) => `${row.name} ${time(row.total_s)}`).join(", ")}`;
  return bars({ rows, width, terms: ["transmission"], best: each.mean_s, label });
}

/**
 * @param {Robust} found
 * @param {number} width
 */
function regretLines({ iterations }, width) {
  const held = iterations.filter((one) => one.held_out).length;
  return lines({
    xs: iterations.map(({ iteration }) => iteration),
    series: WITH_REGRET.map((name) => ({
      name,
      values: iterations.map((one) => one[`${name}_s`] - one.each_s),
    })),
    width,
    xTitle: held ? `Iteration; the last ${held} held out` : "Iteration",
    label: "Regret by iteration: the time less that of a plan made for the iteration itself",
    isCounted: true,
  });
}

/** @param {Robust} found */
function strategyTable({ strategies, held_out: held }) {
  const parts = [
    ...strategies.map((one) => ({ one, where: "" })),
    ...held.map((one) => ({ one, where: ", held out" })),
  ];
  return h(
    "details",
    { class: "behind" },
    h("summary", {}, "As a table"),
    table({
      caption: "Ways of planning many iterations",
      columns: [
        { head: "Way" },
        ...["Mean", "Slowest", "Mean regret", "Over each"].map(right),
        { head: "Plans", words: true },
      ],
      rows: parts.map(({ one, where }) => ({
        chosen: one.name === "once",
        cells: [
          one.name + where,
          time(one.mean_s),
          time(one.worst_s),
          regret(one.mean_regret_s, one.mean_s),
          times(one.over_each),
          WORDS[one.name],
        ],
      })),
    }),
  );
}

/** @param {Robust} found */
function iterationTable({ iterations }) {
  return h(
    "details",
    { class: "behind" },
    h("summary", {}, "Every iteration, as a table"),
    table({
      caption: "Times and regrets by iteration",
      tall: true,
      columns: [
        { head: "Iteration" },
        ...["Traffic", "Each", ...WITH_REGRET.map((name) => `Regret of ${name}`)].map(right),
      ],
      rows: iterations.map((one) => ({
        cells: [
          `${one.iteration}${one.held_out ? ", held out" : ""}`,
          size(one.traffic_bytes),
          time(one.each_s),
          ...WITH_REGRET.map((name) => regret(one[`${name}_s`] - one.each_s, one.each_s)),
        ],
      })),
    }),
  );
}

/** @param {string} head */
const right = (head) => ({ head, right: true });

/**
 * Seconds of regret; 0 where they are rounding of a time.
 *
 * @param {number} seconds
 * @param {number} whole
 */
function regret(seconds, whole) {
  if (Math.abs(seconds) <= 1e-9 * whole) return "0";
  return `${seconds < 0 ? "−" : "+"}${time(Math.abs(seconds))}`;
}

/**
 * @param {Robust} found
 * @param {Body} body
 */
function files(found, body) {
  const of = { of: "robust", ...body };
  return downloads([
    json("lightloom-robust.json", () => found),
    fromServer("CSV", "lightloom-robust.csv", "/api/table", () => ({ ...of, format: "csv" })),
    fromServer("SVG", "lightloom-robust.svg", "/api/picture", () => ({ ...of, format: "svg" })),
    fromServer("PNG", "lightloom-robust.png", "/api/picture", () => ({ ...of, format: "png" })),
  ]);
}
