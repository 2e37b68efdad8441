// The map of a view: its cells as they are computed, in the layer that is shown, a sentence, a table, files.

import { addressOf, go } from "../address.js";
import { onResize, widthOf } from "../charts/axes.js";
import { HeatMap } from "../charts/heat.js";
import { LAYERS } from "../charts/map-layers.js";
import { h, replace } from "../dom.js";
import { csv, downloads, json, ofDrawing } from "../downloads.js";
import { isPerPair, manner, pointsOf, variedOf } from "../map-axes.js";
import { againstWords, hasPlan, inWords, nearest, pays, sentenceOf, titleOf } from "../map-words.js";
import { bodyOf, defaultOf, kept, NEVER_CHANGE } from "../options.js";
import { aboveBound, counted, isKnown, time, times } from "../quantities.js";
import { cardWith, table } from "../tables.js";
import { MapNames } from "./map-names.js";
import { NARROWING, narrowingWords, without } from "./plan-worth.js";

/** @import { Query } from "../address.js" */
/** @import { DrawnMap, NamedAxis } from "../map-words.js" */
/** @import { Cell, CellMap, Letter, Progress } from "../types.js" */

/** @type {Letter[]} */
const LETTERS = ["x", "y"];

/** The map, as its cells are computed. */
export class PaysMap {
  /** @type {Record<Letter, number[]>} */
  #values = { x: [], y: [] };
  /** By place `x,y`. @type {Map<string, Cell>} */
  #cells = new Map();
  #chart = h("div", {});
  #legend = h("div", {});
  #words = h("p", { class: "sentence" });
  #readout = h("p", { class: "readout quiet" });
  #behind = h("div", { class: "result" });
  #bar = h("progress", { max: 1, value: 0, "aria-label": "Cells computed" });
  #done = h("span", { class: "quiet" });
  #stop = h("button", { type: "button", class: "small" }, "Stop");
  #layers = h("select", { "aria-label": "Shown" });
  /** @type {HeatMap | null} */
  #drawn = null;
  /** @type {number | null} */
  #waiting = null;
  #isResting = false;
  /** The server's whole answer, once it is there. @type {CellMap | null} */
  #whole = null;

  /**
   * query: of the whole map; problem: of it what is no part of the axes. layer: the name of what is shown; onLayer:
   * called with that of another. onStop: called where no more cells are wanted. signal: of the
   * calculation.
   *
   * @param {HTMLElement} result
   * @param {{
   *   query: Query, problem: Query, layer: string, onLayer: (name: string) => void, onStop: () => void,
   *   signal: AbortSignal,
   * }} told
   */
  constructor(result, { query, problem, layer, onLayer, onStop, signal }) {
    this.result = result;
    this.query = query;
    this.problem = problem;
    this.onLayer = onLayer;
    this.#stop.addEventListener("click", onStop);
    this.names = { x: query.get("x") ?? "", y: query.get("y") ?? "" };
    /** @type {(letter: Letter) => NamedAxis} */
    const axisOf = (letter) => ({ option: this.names[letter], isPerPair: isPerPair(query, letter) });
    this.axes = { x: axisOf("x"), y: axisOf("y") };
    this.counts = { x: pointsOf(query, "x"), y: pointsOf(query, "y") };
    this.against = againstWords(query.get("against") ?? "");
    this.enclosed =
      `The line encloses where a plan that changes circuits saves at least 1 % over ${this.against}; ` +
      "the frame marks the problem of the form.";
    this.recolour = () => this.#drawn && this.#settle();
    addEventListener("colours", this.recolour);
    for (const { name, words } of LAYERS) this.#layers.append(h("option", { value: name }, words));
    this.#layers.value = layer;
    this.#layers.addEventListener("change", () => {
      this.#settle();
      this.onLayer(this.#layers.value);
    });
    this.naming = new MapNames({ problemOf: (name, cell) => this.#bodyOf(name, cell), signal });
    this.still = onResize(result, () => this.#drawn && this.#make());
  }

  /**
   * Options of the plan of a cell.
   *
   * @param {number} x
   * @param {number} y
   */
  #options(x, y) {
    const told = new Map(this.problem);
    const places = { x, y };
    for (const letter of LETTERS) {
      const name = this.names[letter];
      const ofPair = this.#whole?.[letter]?.per_pair ? "/pair" : "";
      told.set(name, manner(name).written(this.#values[letter][places[letter]]) + ofPair);
      if (name === "gpus") told.delete("dims");
    }
    return told;
  }

  /**
   * Options of the plan that a cell has in a layer.
   *
   * @param {string} layer
   * @param {Cell} cell
   */
  #bodyOf(layer, cell) {
    const body = bodyOf("plan", kept("plan", this.#options(cell.x_index, cell.y_index)));
    if (layer !== "fixed") return body;
    return { ...without(body, NARROWING), planner: this.query.get("against") || NEVER_CHANGE };
  }

  /** @param {Cell} cell */
  #describe(cell) {
    const place = LETTERS.map((letter) => inWords(this.axes[letter])(cell[letter])).join(", ");
    const { total_s: total, lower_bound_s: least, speedup } = cell;
    if (!isKnown(total)) return `${place}: no plan${cell.reason ? ` (${cell.reason})` : ""}`;
    const by = `(${cell.planner}, ${cell.algorithm}); ${this.against}`;
    if (!isKnown(speedup)) return `${place}: ${time(total)} ${by}: no plan`;
    const others = speedup >= 1 ? `${times(speedup)} as fast` : `that is ${times(1 / speedup)} as fast`;
    const circuits = [
      cell.topologies && `on ${cell.topologies}`,
      cell.against_topologies && `compared with ${cell.against_topologies}`,
    ];
    const on = circuits.some(Boolean) ? `; ${circuits.filter(Boolean).join(", ")}` : "";
    const bound = least ? `; lower bound ${time(least)}, ${aboveBound(total, least, "the best plan")}` : "";
    const changes = counted(cell.reconfigurations ?? 0, "reconfiguration");
    return `${place}: ${time(total)} with ${changes} ${by} ${time(cell.against_s ?? NaN)}: ${others}${bound}${on}`;
  }

  #make() {
    /** @type {(letter: Letter) => (place: number) => string} */
    const wordsOf = (letter) => (place) => {
      const value = this.#values[letter][place];
      return value === undefined ? "" : manner(this.names[letter]).words(value);
    };
    const drawn = new HeatMap({
      columns: this.counts.x,
      rows: this.counts.y,
      width: widthOf(this.#chart, 320, 1180),
      xTitle: titleOf(this.names.x),
      yTitle: titleOf(this.names.y),
      xWords: wordsOf("x"),
      yWords: wordsOf("y"),
      describe: (cell) => this.#describe(cell),
      pays: (cell) => pays(cell),
      onShow: (x, y) => replace(this.#readout, this.#readoutOf(this.#cells.get(`${x},${y}`))),
      onOpen: (x, y) => {
        if (this.#cells.has(`${x},${y}`)) go(addressOf("plan", kept("plan", this.#options(x, y))));
      },
    });
    for (const [key, cell] of this.#cells) {
      const [x, y] = key.split(",").map(Number);
      drawn.put(x, y, cell);
    }
    this.#drawn = drawn;
    replace(this.#chart, drawn.element);
    this.#settle();
    return drawn;
  }

  /** @param {Cell | undefined} cell */
  #readoutOf(cell) {
    return cell ? `${this.#describe(cell)}. Enter or a click opens the plan.` : "Not computed yet.";
  }

  #begin() {
    this.result.classList.remove("outdated");
    replace(this.#readout, "Point at a cell, or move with the arrows.");
    const parts = [
      this.#legend,
      this.#chart,
      this.#readout,
      h("p", { class: "quiet" }, this.enclosed),
      this.naming.element,
    ];
    replace(
      this.result,
      h("div", { class: "card" }, this.#words),
      cardWith(
        "Map",
        [this.#done, " ", this.#bar, " ", this.#stop],
        h("p", { class: "layers" }, this.#layers),
        ...parts,
      ),
      this.#behind,
    );
    return this.#make();
  }

  #settle() {
    this.#waiting = null;
    const drawn = this.#drawn;
    if (!drawn) return;
    const layer = LAYERS.find(({ name }) => name === this.#layers.value) ?? LAYERS[0];
    const cells = [...this.#cells.values()];
    const { colour, legend, names } = layer.colours(cells);
    drawn.settle(colour);
    replace(this.#legend, legend);
    // What computes cells is not kept from it.
    if (this.#isResting) this.naming.show(layer, names, cells);
    const own = this.#ownPlace();
    drawn.here(nearest(this.#known("x"), own.x), nearest(this.#known("y"), own.y));
    this.progress({ done: this.#cells.size, of: this.counts.x * this.counts.y });
    replace(this.#words, this.sentence());
  }

  /**
   * Values of an axis, once all are known.
   *
   * @param {Letter} letter
   */
  #known(letter) {
    const values = this.#values[letter];
    return values.filter((value) => value !== undefined).length === this.counts[letter] ? values : [];
  }

  #ownPlace() {
    /** @param {Letter} letter */
    const of = (letter) => {
      const name = this.names[letter];
      return manner(name).parse(this.query.get(name) ?? defaultOf(variedOf(name), this.query.get("fabric")));
    };
    return { x: of("x"), y: of("y") };
  }

  #problem() {
    /** @param {string} name */
    const isGiven = (name) => name !== this.names.x && name !== this.names.y && this.query.has(name);
    const parts = [this.query.get("collective")];
    if (isGiven("size")) parts.push(`of ${this.query.get("size")}`);
    if (isGiven("gpus")) parts.push(`on ${this.query.get("gpus")} GPUs`);
    const narrowing = narrowingWords(Object.fromEntries(this.query));
    if (narrowing) parts.push(`with ${narrowing}`);
    return parts.join(" ");
  }

  /** The result in words. */
  sentence() {
    const { of } = this.reached;
    /** @type {DrawnMap} */
    const map = {
      x: { ...this.axes.x, values: this.#values.x },
      y: { ...this.axes.y, values: this.#values.y },
      cell: (x, y) => this.#cells.get(`${x},${y}`),
    };
    return sentenceOf({ map, own: this.#ownPlace(), problem: this.#problem(), against: this.against, of });
  }

  /** Cancels pending drawing. */
  leave() {
    removeEventListener("colours", this.recolour);
    this.still();
    this.#end();
  }

  /** Takes away what belongs to a calculation that runs. */
  #end() {
    for (const part of [this.#bar, this.#stop]) part.hidden = true;
    if (this.#waiting !== null) cancelAnimationFrame(this.#waiting);
  }

  /**
   * Adds a cell.
   *
   * @param {Cell} cell
   */
  add(cell) {
    const drawn = this.#drawn ?? this.#begin();
    this.#values.x[cell.x_index] = cell.x;
    this.#values.y[cell.y_index] = cell.y;
    this.#cells.set(`${cell.x_index},${cell.y_index}`, cell);
    drawn.put(cell.x_index, cell.y_index, cell);
    this.#waiting ??= requestAnimationFrame(() => this.#settle());
  }

  /**
   * Says how far it is.
   *
   * @param {Progress} said
   */
  progress({ done, of }) {
    this.#bar.value = done / of;
    const [known, planned] = [this.#cells.size, [...this.#cells.values()].filter(hasPlan).length];
    replace(this.#done, `${done} of ${of} cells${planned < known ? `, ${planned} with a plan` : ""}`);
  }

  /** How many cells there are so far, `done` of all. */
  get reached() {
    return { done: this.#cells.size, of: this.counts.x * this.counts.y };
  }

  /** Whether all cells are there, and none has a plan. */
  get isRefused() {
    const { done, of } = this.reached;
    return done === of && ![...this.#cells.values()].some(hasPlan);
  }

  /** Shows what there is as a result: nothing is computed any more. */
  rest() {
    this.#isResting = true;
    this.#end();
    this.#settle();
  }

  /**
   * Shows the whole answer.
   *
   * @param {CellMap} answer
   */
  finish(answer) {
    this.#whole = answer;
    for (const cell of answer.cells) this.add(cell);
    if (!this.#drawn) return;
    this.rest();
    replace(this.#behind, matrix(this.#cells, this.#values, this.names), this.#files(answer));
  }

  /** @param {CellMap} answer */
  #files(answer) {
    const title = () => {
      const shown = LAYERS.find(({ name }) => name === this.#layers.value)?.words;
      return `${shown}, compared with ${this.against}: ${this.#problem()}. ${this.enclosed}`;
    };
    const drawing = () => this.#drawn?.element;
    return h(
      "div",
      { class: "card" },
      downloads([
        json("lightloom-map.json", () => answer),
        csv("lightloom-map.csv", () => rowsOf(answer.cells, this.names)),
        ...ofDrawing("lightloom-map", drawing, () => ({ title: title(), legend: this.#legend.firstElementChild })),
      ]),
    );
  }
}

/** @type {(keyof Cell)[]} */
const COLUMNS = [
  "total_s",
  "against_s",
  "speedup",
  "reconfigurations",
  "planner",
  "algorithm",
  "lower_bound_s",
  "gap",
  "topologies",
  "against_algorithm",
  "against_topologies",
];

/**
 * @param {Cell[]} cells
 * @param {Record<Letter, string>} names
 */
const rowsOf = (cells, names) => [
  [names.x, names.y, ...COLUMNS],
  ...cells.map((cell) => [cell.x, cell.y, ...COLUMNS.map((column) => cell[column])]),
];

/**
 * The map as a table, made when it is opened.
 *
 * @param {Map<string, Cell>} cells
 * @param {Record<Letter, number[]>} values
 * @param {Record<Letter, string>} names
 */
function matrix(cells, values, names) {
  const place = h("div", {});
  const element = h("details", { class: "behind card" }, h("summary", {}, "The map as a table"), place);
  element.addEventListener("toggle", () => {
    if (!element.open || place.firstChild) return;
    const [across, up] = [manner(names.x).words, manner(names.y).words];
    replace(
      place,
      table({
        caption: `How many times as fast: ${titleOf(names.y)} by ${titleOf(names.x)}`,
        tall: true,
        columns: [{ head: titleOf(names.y) }, ...values.x.map((value) => ({ head: across(value), right: true }))],
        rows: values.y
          .map((value, y) => ({
            cells: [up(value), ...values.x.map((_, x) => times(cells.get(`${x},${y}`)?.speedup ?? NaN))],
          }))
          .reverse(),
      }),
    );
  });
  return element;
}
