// When does it pay? A map of how much faster changing circuits is, over two axes.

import { addressOf, go } from "../address.js";
import { onResize, widthOf } from "../charts/axes.js";
import { ratioLegend } from "../charts/colours.js";
import { heatMap } from "../charts/heat.js";
import { announce, h, replace } from "../dom.js";
import { csv, downloads, json, ofDrawing } from "../downloads.js";
import { axisBody, axisFields, isPerPair, manner, pointsOf } from "../map-axes.js";
import { mapOf } from "../map-halves.js";
import { againstWords, inWords, nearest, pays, sentenceOf, titleOf } from "../map-words.js";
import { NEVER_CHANGE, bodyOf, defaultOf, kept, optionsOf, registry } from "../options.js";
import { aboveBound, counted, time, times } from "../quantities.js";
import { cardWith, table } from "../tables.js";
import { narrowingWords } from "./plan-worth.js";
import { scaffold } from "./scaffold.js";

const FIRST = ["collective", "size", "gpus", "reconfiguration-delay", "ports", "bandwidth"];
const START = new Map([["collective", "all-reduce"], ["size", "1MiB"], ["gpus", "64"]]);

/** Makes the view. */
export function mount(root) {
  let end = () => {};
  const extras = axisFields((change) => frame.changed(change), BASELINES());
  const frame = scaffold({
    root, view: "when-it-pays", verb: "plan", title: "When does it pay?", first: FIRST, presets: ["map"], start: START, extras,
    lead: "The best plan over one that leaves the circuits as they are, on a map of two options of your choice.",
    code: (query) => ["map", bodyFor(query)],
    async compute(query, signal) {
      const view = live(frame.result, query);
      const body = bodyFor(query);
      end();
      end = view.leave;
      const on = { row: view.add, progress: view.progress };
      view.finish(await mapOf(body, {}, pointsOf(query, "x") * pointsOf(query, "y"), on, signal));
      announce(view.sentence());
    },
  });
  return {
    show: frame.show,
    leave() {
      end();
      frame.leave();
    },
  };
}

// What the best plan is compared with: the best plan whose circuits never change, or another planner.
const BASELINES = () => [...registry("planners")].sort((one, other) => (other.name === NEVER_CHANGE) - (one.name === NEVER_CHANGE));
const AXES = new Set(["x", "y", "x-from", "x-to", "x-points", "y-from", "y-to", "y-points", "against"]);

function bodyFor(query) {
  const problem = new Map([...query].filter(([name]) => !AXES.has(name)));
  return { options: bodyOf("plan", problem), x: axisBody(query, "x"), y: axisBody(query, "y"), against: query.get("against") };
}

function live(result, query) {
  const names = { x: query.get("x"), y: query.get("y") };
  const axisOf = (letter) => ({ option: names[letter], isPerPair: isPerPair(query, letter) });
  const axes = { x: axisOf("x"), y: axisOf("y") };
  const counts = { x: pointsOf(query, "x"), y: pointsOf(query, "y") };
  const values = { x: [], y: [] };
  const cells = new Map();
  const against = query.get("against");
  const enclosed = `The line encloses where a plan that changes circuits saves at least 1 % over ${againstWords(against)}; the frame marks the problem of the form.`;
  const [chart, legend, words, readout, behind] = [h("div", {}), h("div", {}), h("p", { class: "sentence" }), h("p", { class: "readout quiet" }), h("div", { class: "result" })];
  const bar = h("progress", { max: 1, value: 0, "aria-label": "Cells computed" });
  let drawn = null;
  let isFirst = true;
  let waiting = null;
  let whole = null;

  const options = (x, y) => {
    const told = new Map([...query].filter(([name]) => !AXES.has(name)));
    for (const [letter, place] of [["x", x], ["y", y]]) {
      told.set(names[letter], manner(names[letter]).written(values[letter][place]) + (whole?.[letter]?.per_pair ? "/pair" : ""));
      if (names[letter] === "gpus") told.delete("dims");
    }
    return told;
  };

  function describe(cell) {
    const place = ["x", "y"].map((letter) => inWords(axes[letter])(cell[letter])).join(", ");
    if (!Number.isFinite(cell.total_s)) return `${place}: no plan${cell.reason ? ` (${cell.reason})` : ""}`;
    if (!Number.isFinite(cell.speedup)) return `${place}: ${time(cell.total_s)} (${cell.planner}, ${cell.algorithm}); ${againstWords(against)}: no plan`;
    const others = cell.speedup >= 1 ? `${times(cell.speedup)} as fast` : `that is ${times(1 / cell.speedup)} as fast`;
    const bound = cell.lower_bound_s ? `; lower bound ${time(cell.lower_bound_s)}, ${aboveBound(cell.total_s, cell.lower_bound_s, "the best plan")}` : "";
    return `${place}: ${time(cell.total_s)} with ${counted(cell.reconfigurations, "reconfiguration")} (${cell.planner}, ${cell.algorithm}); ${againstWords(against)} ${time(cell.against_s)}: ${others}${bound}`;
  }

  function make() {
    drawn = heatMap({
      columns: counts.x, rows: counts.y, width: widthOf(chart, 320, 1180), xTitle: titleOf(names.x), yTitle: titleOf(names.y),
      xWords: (place) => (values.x[place] === undefined ? "" : manner(names.x).words(values.x[place])),
      yWords: (place) => (values.y[place] === undefined ? "" : manner(names.y).words(values.y[place])),
      describe, pays: (cell) => pays(cell),
      onShow: (x, y) => replace(readout, cells.has(`${x},${y}`) ? `${describe(cells.get(`${x},${y}`))}. Enter or a click opens the plan.` : "Not computed yet."),
      onOpen: (x, y) => cells.has(`${x},${y}`) && go(addressOf("plan", kept("plan", options(x, y)))),
    });
    for (const [key, cell] of cells) drawn.put(...key.split(",").map(Number), cell);
    replace(chart, drawn.element);
    settle();
  }

  function begin() {
    isFirst = false;
    result.classList.remove("outdated");
    replace(readout, "Point at a cell, or move with the arrows.");
    replace(
      result, h("div", { class: "card" }, words),
      cardWith("How much faster the best plan is", [bar], legend, chart, readout, h("p", { class: "quiet" }, enclosed)),
      behind,
    );
    make();
  }

  function settle() {
    waiting = null;
    const end = drawn.settle();
    const hasLess = [...cells.values()].some((cell) => cell.speedup < 0.995);
    replace(legend, ratioLegend(end, hasLess));
    const own = ownPlace();
    drawn.here(nearest(known("x"), own.x), nearest(known("y"), own.y));
    bar.value = cells.size / (counts.x * counts.y);
    replace(words, sentence());
  }

  const known = (letter) => (values[letter].filter((value) => value !== undefined).length === counts[letter] ? values[letter] : []);

  function ownPlace() {
    const of = (letter) => {
      const option = optionsOf("plan").find((each) => each.name === names[letter]);
      return manner(names[letter]).parse(query.get(names[letter]) ?? defaultOf(option, query.get("fabric")));
    };
    return { x: of("x"), y: of("y") };
  }

  function problem() {
    const fixed = (name) => name !== names.x && name !== names.y;
    const parts = [query.get("collective")];
    if (fixed("size") && query.has("size")) parts.push(`of ${query.get("size")}`);
    if (fixed("gpus") && query.has("gpus")) parts.push(`on ${query.get("gpus")} GPUs`);
    const narrowing = narrowingWords(Object.fromEntries(query));
    if (narrowing) parts.push(`with ${narrowing}`);
    return parts.join(" ");
  }

  function sentence() {
    const map = { x: { ...axes.x, values: values.x }, y: { ...axes.y, values: values.y }, cell: (x, y) => cells.get(`${x},${y}`) };
    return sentenceOf({ map, own: ownPlace(), problem: problem(), against: againstWords(against) });
  }

  const recolour = () => drawn && settle();
  addEventListener("colours", recolour);
  const still = onResize(result, () => drawn && make());
  return {
    sentence,
    leave() {
      removeEventListener("colours", recolour);
      still();
      if (waiting !== null) cancelAnimationFrame(waiting);
    },
    add(cell) {
      if (isFirst) begin();
      values.x[cell.x_index] = cell.x;
      values.y[cell.y_index] = cell.y;
      cells.set(`${cell.x_index},${cell.y_index}`, cell);
      drawn.put(cell.x_index, cell.y_index, cell);
      waiting ??= requestAnimationFrame(settle);
    },
    progress({ done, of }) {
      bar.value = done / of;
    },
    finish(answer) {
      whole = answer;
      for (const cell of answer.cells) this.add(cell);
      if (waiting !== null) cancelAnimationFrame(waiting);
      if (!drawn) return;
      settle();
      bar.hidden = true;
      replace(behind, matrix(cells, values, names), h("div", { class: "card" }, downloads([
        json("lightloom-map.json", () => answer), csv("lightloom-map.csv", () => rowsOf(answer.cells, names)),
        ...ofDrawing("lightloom-map", () => drawn.element, () => ({ title: `How many times as fast as ${againstWords(against)} the best plan is: ${problem()}. ${enclosed}`, legend: legend.firstChild })),
      ])));
    },
  };
}

const COLUMNS = ["total_s", "against_s", "speedup", "reconfigurations", "planner", "algorithm", "lower_bound_s", "gap"];

const rowsOf = (cells, names) => [
  [names.x, names.y, ...COLUMNS],
  ...cells.map((cell) => [cell.x, cell.y, ...COLUMNS.map((column) => cell[column])]),
];

/** The map as a table, made when it is opened. */
function matrix(cells, values, names) {
  const place = h("div", {});
  const element = h("details", { class: "behind card" }, h("summary", {}, "The map as a table"), place);
  element.addEventListener("toggle", () => {
    if (!element.open || place.firstChild) return;
    const [across, up] = [manner(names.x).words, manner(names.y).words];
    replace(place, table({
      caption: `How many times as fast: ${titleOf(names.y)} by ${titleOf(names.x)}`, tall: true,
      columns: [{ head: titleOf(names.y) }, ...values.x.map((value) => ({ head: across(value), right: true }))],
      rows: values.y.map((value, y) => ({ cells: [up(value), ...values.x.map((_, x) => times(cells.get(`${x},${y}`)?.speedup ?? NaN))] })).reverse(),
    }));
  });
  return element;
}
