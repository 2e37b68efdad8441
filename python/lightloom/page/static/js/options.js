// The one table of options, as the server sends it, and the page's inputs for its kinds.

import { ask } from "./api.js";
import { parseTime } from "./quantities.js";
import { registry, tellRegistries } from "./registries.js";
import { writtenTime } from "./scales.js";

/** @import { Query } from "./address.js" */
/** @import { Body, Option, OptionTable, Preset } from "./types.js" */

/**
 * The input of an option: a slider's kind, `yes-or-no`, `choice`, or `text`.
 *
 * @typedef {"size" | "time" | "rate" | "whole" | "yes-or-no" | "choice" | "text"} Widget
 */

/**
 * A preset whose options, those of axes included, are texts.
 *
 * @typedef {Omit<Preset, "options"> & {options: Record<string, string>}} EnteredPreset
 */

/**
 * The server's table of options as `dashed` makes it, which is there before any view is.
 *
 * @type {Omit<OptionTable, "presets"> & {presets: EnteredPreset[]}}
 */
let table;

/** The table, asked for once: verbs with their options, registries, presets, limits. */
export async function loadTable() {
  table ??= dashed(await ask("/api/options"));
  tellRegistries(table.registries);
  return table;
}

// The planner whose plans never change circuits: gains from changing them are compared with it.
export const NEVER_CHANGE = "never-change";
const DELAY = "reconfiguration_delay";
/** @param {string} name */
const dashes = (name) => name.replaceAll("_", "-");

/**
 * Names as the command line writes them, which addresses have; values of presets as a person enters them.
 *
 * @param {OptionTable} told
 */
function dashed(told) {
  for (const { options } of Object.values(told.verbs)) {
    for (const option of options) option.name = dashes(option.name);
  }
  const presets = (told.presets ?? []).map((preset) => ({
    ...preset,
    options: Object.fromEntries(
      Object.entries({ ...preset.options, ...preset.axes }).map(([name, value]) => [dashes(name), String(value)]),
    ),
  }));
  for (const [name, said] of Object.entries(told.fabrics)) {
    told.fabrics[name] = Object.fromEntries(
      Object.entries(said).map(([option, value]) => [
        dashes(option),
        option === DELAY ? writtenTime(parseTime(value)) : value,
      ]),
    );
  }
  return { ...told, presets };
}

/**
 * Options of a verb in the order of the table.
 *
 * @param {string} verb
 */
export const optionsOf = (verb) => table.verbs[verb]?.options ?? [];

/** @type {Record<string, Widget>} */
const WIDGETS = { bytes: "size", seconds: "time", delay: "time", rate: "rate", count: "whole", flag: "yes-or-no" };

/**
 * The input of an option.
 *
 * @param {Option} option
 */
export function widgetOf(option) {
  if (option.choices?.length) return "choice";
  return WIDGETS[option.kind] ?? "text";
}

/**
 * Names that an option takes, with their explanations, and titles where they have them.
 *
 * @param {Option} option
 * @returns {{name: string, summary: string, title?: string}[]}
 */
export function namesOf(option) {
  const entries = registry(option.names ?? "");
  if (!option.choices?.length) return entries;
  const known = new Map(entries.map((entry) => [entry.name, entry]));
  return option.choices.map((name) => known.get(name) ?? { name, summary: "" });
}

/**
 * The value of an option on a named fabric; undefined if the fabric leaves it at its default.
 *
 * @param {string} fabric
 * @param {string} name
 * @returns {string | undefined}
 */
export const fabricSays = (fabric, name) => table.fabrics[fabric]?.[name];

/**
 * The default as people write it, on a fabric that may have one of its own; empty if there is none.
 *
 * @param {Option} option
 */
export function defaultOf(option, fabric = "") {
  const value = fabricSays(fabric, option.name) ?? option.default;
  if (value === null || value === undefined || value === false) return "";
  return String(value);
}

/**
 * What is said of a value that is left out.
 *
 * @param {Option} option
 */
export const otherwiseOf = (option, fabric = "") =>
  fabricSays(fabric, option.name) || option.otherwise || defaultOf(option);

/**
 * A label: the option's name in words.
 *
 * @param {Option} option
 */
export function labelOf(option) {
  const words = option.name.replaceAll("-", " ");
  if (words === "gpus") return "GPUs";
  return words[0].toUpperCase() + words.slice(1);
}

/**
 * Problems worth starting from, of some verbs.
 *
 * @param {string[]} verbs
 */
export const presetsOf = (...verbs) => table.presets.filter((preset) => verbs.includes(preset.verb));

/**
 * The problem that a view begins with: the first example of a verb.
 *
 * @param {string} verb
 * @returns {Query}
 */
export const startOf = (verb) => new Map(Object.entries(presetsOf(verb)[0]?.options ?? {}));

/**
 * What a view of plans begins with: the first example; where an address says something, only what no plan can be
 * without, for the other options have defaults.
 *
 * @param {Query} given
 * @returns {Query}
 */
export function startOfPlans(given) {
  const needed = new Set(optionsOf("plan").flatMap(({ name, required }) => (required ? [name] : [])));
  return new Map([...startOf("plan")].filter(([name]) => !given.size || needed.has(name)));
}

/**
 * The number of ranks that a model that ships has by itself.
 *
 * @param {string} model
 */
export const ranksOf = (model) => table.model_ranks[model] ?? 0;

/** Options that a map can vary, each with its range and number of values. */
export const ranges = () => table.ranges;

export const limits = () => table.limits ?? {};

/**
 * Query of an address for a verb: only options that it takes, and that differ from their defaults on its fabric, and
 * all others of some names.
 *
 * @param {string} verb
 * @param {Query} query
 * @param {string[]} others
 * @returns {Query}
 */
export function kept(verb, query, others = []) {
  const known = new Map(optionsOf(verb).map((option) => [option.name, option]));
  const fabric = query.get("fabric");
  return new Map(
    [...query].filter(([name, value]) => {
      if (others.includes(name)) return value !== "";
      const option = known.get(name);
      return option && value !== "" && value !== defaultOf(option, fabric);
    }),
  );
}

/**
 * Options as a body has them: a yes or no is a boolean, and a matrix may be one of numbers.
 *
 * @param {string} verb
 * @param {Query} query
 * @returns {Body}
 */
export function bodyOf(verb, query) {
  const kinds = new Map(optionsOf(verb).map((option) => [option.name, option.kind]));
  /**
   * @param {string} name
   * @param {string} value
   */
  const entered = (name, value) => {
    if (kinds.get(name) === "flag") return value === "true";
    return kinds.get(name) === "matrix" ? rowsOf(value) : value;
  };
  return Object.fromEntries([...query].map(([name, value]) => [name, entered(name, value)]));
}

/**
 * Rows of numbers such as `[[0, 1], [1, 0]]`; any other text as it is.
 *
 * @param {string} text
 */
function rowsOf(text) {
  try {
    /** @type {unknown} */
    const rows = JSON.parse(text);
    return Array.isArray(rows) ? rows : text;
  } catch {
    return text;
  }
}
