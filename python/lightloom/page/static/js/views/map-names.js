// What the names of a map's legend mean: algorithms by their registry, circuits by the plan of a cell that has them.

import { ask } from "../api.js";
import { h, replace } from "../dom.js";
import { registry } from "../registries.js";

/** @import { Layer } from "../charts/map-layers.js" */
/** @import { Body, Cell } from "../types.js" */

// Topologies of a plan whose sentences are told: as many as a cell names.
const MOST = 4;

/** A list of names and their meanings, below a map. */
export class MapNames {
  element = h("div", {});
  /** Sentences by layer and name. @type {Map<string, string>} */
  #known = new Map();
  #shown = 0;

  /**
   * problemOf: options of the plan that a cell has in a layer. signal: of the map's calculation.
   *
   * @param {{problemOf: (layer: string, cell: Cell) => Body, signal: AbortSignal}} told
   */
  constructor({ problemOf, signal }) {
    this.problemOf = problemOf;
    this.signal = signal;
  }

  /**
   * Explains the names of a layer, one after the other: each takes a plan.
   *
   * @param {Layer} layer
   * @param {string[]} names
   * @param {Cell[]} cells
   */
  async show(layer, names, cells) {
    this.#shown += 1;
    const turn = this.#shown;
    this.#write(layer, names);
    for (const name of names) {
      const key = `${layer.name} ${name}`;
      if (this.#known.has(key)) continue;
      const cell = cells.find((each) => layer.of?.(each) === name);
      const words = cell && (await this.#explained(layer, name, cell));
      if (turn !== this.#shown || this.signal.aborted) return;
      this.#known.set(key, words ?? "");
      this.#write(layer, names);
    }
  }

  /**
   * @param {Layer} layer
   * @param {string} name
   * @param {Cell} cell
   */
  async #explained(layer, name, cell) {
    if (layer.name === "algorithm") return registry("algorithms").find((entry) => entry.name === name)?.summary;
    try {
      const { topologies } = await ask("/api/explain", this.problemOf(layer.name, cell), { signal: this.signal });
      const sentences = [...new Set(topologies)];
      return sentences.slice(0, MOST).join("; ") + (sentences.length > MOST ? "; …" : "");
    } catch {
      // A map is shown without what its names mean: a demo has no answers to this.
      return "";
    }
  }

  /**
   * @param {Layer} layer
   * @param {string[]} names
   */
  #write(layer, names) {
    const entries = names
      .map((name) => [name, this.#known.get(`${layer.name} ${name}`)])
      .filter(([, words]) => words)
      .map(([name, words]) => [h("dt", {}, name), h("dd", {}, words)]);
    replace(this.element, entries.length ? h("dl", { class: "names" }, entries) : null);
  }
}
