// What a map can show: the gain, or names, each with colours of its own.

import { h } from "../dom.js";
import { isDark } from "../theme.js";
import { endOf, ratioColour, ratioLegend } from "./colours.js";

/** @import { Cell } from "../types.js" */

/**
 * Colours of cells, null where there is nothing to show, and their legend. names: that the legend has.
 *
 * @typedef {{colour: (cell: Cell) => string | null, legend: HTMLElement, names: string[]}} Colours
 */

/**
 * A layer. words: its title. of: the name that a cell has in it, where it shows names.
 *
 * @typedef {(cell: Cell) => string | null} NameOf
 * @typedef {{name: string, words: string, of?: NameOf, colours: (cells: Cell[]) => Colours}} Layer
 */

// Colours of names as timelines have them, for any colour vision; names beyond these share the last.
const LIGHT = ["#0072b2", "#cc79a7", "#56b4e9", "#882255", "#332288", "#009e73", "#7b8794"];
const DARK = ["#2b8fd0", "#cc79a7", "#56b4e9", "#b5487f", "#8f7fe8", "#12b486", "#76838f"];
const MOST_NAMES = LIGHT.length - 1;

/** @type {Layer[]} */
export const LAYERS = [
  { name: "gain", words: "How much faster the best plan is", colours: gains },
  ofNames("algorithm", "Algorithm of the best plan", ({ algorithm }) => algorithm),
  ofNames("circuits", "Circuits of the best plan", ({ topologies }) => topologies),
  ofNames("fixed", "Circuits it is compared with", ({ against_topologies: topologies }) => topologies),
];

/**
 * @param {string} name
 * @param {string} words
 * @param {NameOf} of
 * @returns {Layer}
 */
function ofNames(name, words, of) {
  return { name, words, of, colours: namesBy(of) };
}

/**
 * @param {Cell[]} cells
 * @returns {Colours}
 */
function gains(cells) {
  const known = cells.map(({ speedup }) => speedup ?? 0).filter((speedup) => speedup > 0);
  const end = endOf(known);
  const hasLess = known.some((speedup) => speedup < 0.995);
  return {
    colour: ({ speedup }) => (speedup ? ratioColour(speedup, end) : null),
    legend: ratioLegend(end, hasLess),
    names: [],
  };
}

/**
 * Colours of names, those of most cells first.
 *
 * @param {NameOf} of
 * @returns {(cells: Cell[]) => Colours}
 */
function namesBy(of) {
  return (cells) => {
    /** @type {Map<string, number>} */
    const counts = new Map();
    for (const cell of cells) {
      const name = of(cell);
      if (name) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    const names = [...counts.keys()].sort((one, other) => (counts.get(other) ?? 0) - (counts.get(one) ?? 0));
    const colours = isDark() ? DARK : LIGHT;
    /** @param {string} name */
    const colourOf = (name) => colours[Math.min(MOST_NAMES, names.indexOf(name))];
    const more = names.length - MOST_NAMES;
    const told = names.slice(0, MOST_NAMES);
    const entries = told.map((name) => entry(colourOf(name), name));
    if (more > 0)
      entries.push(
        entry(colours[MOST_NAMES], `${more} ${more === 1 ? "other, in fewer cells" : "others, each in fewer cells"}`),
      );
    return {
      colour(cell) {
        const name = of(cell);
        return name ? colourOf(name) : null;
      },
      legend: h("ul", { class: "legend", "aria-label": "Colours: names" }, entries),
      names: told,
    };
  };
}

/**
 * @param {string} colour
 * @param {string} words
 */
function entry(colour, words) {
  const swatch = h("span", { class: "swatch" });
  swatch.style.background = colour;
  return h("li", {}, swatch, words);
}
