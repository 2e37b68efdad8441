// The one table of options, as the server sends it, and the page's inputs for its kinds.

import { ask } from "./api.js";
import { parseTime } from "./quantities.js";
import { writtenTime } from "./scales.js";

/** The server's table of options, which is there before any view is. @type {any} */
let table = null;

/** The table, asked for once: verbs with their options, registries, presets, limits. */
export async function loadTable() {
  table ??= dashed(await ask("/api/options"));
  return table;
}

// The planner whose plans never change circuits: gains from changing them are compared with it.
export const NEVER_CHANGE = "never-change";
const DELAY = "reconfiguration_delay";
const dashes = (name) => name.replaceAll("_", "-");

/** Names as the command line writes them, which addresses have; values of presets as a person enters them. */
function dashed(told) {
  for (const { options } of Object.values(told.verbs)) {
    for (const option of options) option.name = dashes(option.name);
  }
  for (const preset of told.presets ?? []) {
    preset.options = Object.fromEntries(
      Object.entries({ ...preset.options, ...preset.axes }).map(([name, value]) => [dashes(name), String(value)]),
    );
  }
  for (const [name, said] of Object.entries(told.fabrics)) {
    const settings = Object.entries(said).map(([option, value]) => [
      dashes(option),
      option === DELAY ? writtenTime(parseTime(value)) : value,
    ]);
    told.fabrics[name] = Object.fromEntries(settings);
  }
  return told;
}

/** Options of a verb in the order of the table. */
export const optionsOf = (verb) => table.verbs[verb]?.options ?? [];

const WIDGETS = { bytes: "size", seconds: "time", delay: "time", rate: "rate", count: "whole", flag: "yes-or-no" };

/** The input element of an option: a slider's kind, `yes-or-no`, `choice`, or `text`. */
export function widgetOf(option) {
  if (option.choices?.length) return "choice";
  return WIDGETS[option.kind] ?? "text";
}

/** Names that an option takes, with their explanations: `[{name, summary}]`; */
export function namesOf(option) {
  const entries = table.registries[option.names] ?? [];
  if (!option.choices?.length) return entries;
  const summaries = new Map(entries.map(({ name, summary }) => [name, summary]));
  return option.choices.map((name) => ({ name, summary: summaries.get(name) ?? "" }));
}

/** The value of an option on a named fabric; undefined if the fabric leaves it at its default. */
export const fabricSays = (fabric, name) => table.fabrics[fabric]?.[name];

/** The default as people write it, on a fabric that may have one of its own; empty if there is none. */
export function defaultOf(option, fabric = "") {
  const value = fabricSays(fabric, option.name) ?? option.default;
  if (value === null || value === undefined || value === false) return "";
  return String(value);
}

/** What is said of a value that is left out. */
export const otherwiseOf = (option, fabric = "") =>
  fabricSays(fabric, option.name) || option.otherwise || defaultOf(option);

/** A label: the option's name in words. */
export function labelOf(option) {
  const words = option.name.replaceAll("-", " ");
  if (words === "gpus") return "GPUs";
  return words[0].toUpperCase() + words.slice(1);
}

/** Problems worth starting from, of a verb. */
export const presetsOf = (...verbs) => (table.presets ?? []).filter((preset) => verbs.includes(preset.verb));

export const registry = (kind) => table.registries[kind] ?? [];
export const limits = () => table.limits ?? {};
export const version = () => table.version ?? "";

/** Query of an address for a verb: only options that it takes, and that differ from their defaults on its fabric. */
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

/** Options as a body has them: a yes or no is a boolean, and a matrix may be one of numbers. */
export function bodyOf(verb, query) {
  const kinds = new Map(optionsOf(verb).map((option) => [option.name, option.kind]));
  const entered = (name, value) => {
    if (kinds.get(name) === "flag") return value === "true";
    return kinds.get(name) === "matrix" ? rowsOf(value) : value;
  };
  return Object.fromEntries([...query].map(([name, value]) => [name, entered(name, value)]));
}

/** Rows of numbers such as `[[0, 1], [1, 0]]`; any other text as it is. */
function rowsOf(text) {
  try {
    const rows = JSON.parse(text);
    return Array.isArray(rows) ? rows : text;
  } catch {
    return text;
  }
}
