// The two axes of a map: options that may be varied, how they are entered and written.

import { choose, freshId, h, replace } from "./dom.js";
import { labelOf, NEVER_CHANGE, optionsOf, ranges, widgetOf } from "./options.js";
import { parseRate, parseSize, parseTime, rate, shortSize, shortTime } from "./quantities.js";
import { writtenSize, writtenTime } from "./scales.js";

/** @import { Query } from "./address.js" */
/** @import { Change } from "./form.js" */
/** @import { Entry, Letter } from "./types.js" */
/** @import { Extras } from "./views/scaffold.js" */

/**
 * How values of an option are read and written; words are shorter than what a person types.
 *
 * @typedef {{
 *   parse: (text: string) => number, words: (value: number) => string, written: (value: number) => string,
 * }} Manner
 */

/**
 * An axis as the server takes it. points: the text that is no number, so that the server can report it.
 *
 * @typedef {{option: string, from?: string, to?: string, points?: number | string, values?: number[]}} AskedAxis
 */

const PARTS = /** @type {const} */ (["from", "to", "points"]);
const MOST_POINTS = 60;
const LETTERS = /** @type {const} */ (["x", "y"]);
// What an axis goes over where nothing is said.
const USUAL = { x: "size", y: "reconfiguration-delay" };

/** Options that a map can vary. */
export const varied = () => optionsOf("plan").filter((option) => option.name in ranges());

/**
 * An option that a map can vary, by its name.
 *
 * @param {string} name
 */
export function variedOf(name) {
  const found = varied().find((option) => option.name === name);
  if (!found) throw new Error(`${name} is not an option of maps`);
  return found;
}

/**
 * How values of an option are read and written.
 *
 * @param {string} name
 * @returns {Manner}
 */
export function manner(name) {
  const widget = widgetOf(variedOf(name));
  if (widget === "size") return { parse: parseSize, words: shortSize, written: writtenSize };
  if (widget === "time") return { parse: parseTime, words: shortTime, written: writtenTime };
  if (widget === "rate") return { parse: parseRate, words: rate, written: (value) => `${value / 1e9}Gbps` };
  return { parse: Number, words: String, written: String };
}

const PAIR = /\/pair\s*$/;

/**
 * Whether an axis has sizes of one pair's block, as it or the size of the form says.
 *
 * @param {Query} query
 * @param {Letter} letter
 */
export const isPerPair = (query, letter) =>
  query.get(letter) === "size" &&
  [query.get("size"), query.get(`${letter}-from`)].some((text) => PAIR.test(text ?? ""));

/**
 * An axis as the server takes it. Whole numbers are told one by one, powers of two where these are the ends.
 *
 * @param {Query} query
 * @param {Letter} letter
 * @returns {AskedAxis}
 */
export function axisBody(query, letter) {
  const option = query.get(letter) ?? "";
  const [from, to, points] = PARTS.map((part) => query.get(`${letter}-${part}`) ?? "");
  const isWhole = option === "gpus" || option === "ports";
  const [least, most] = [Number(from), Number(to)];
  /** @param {string} text */
  const ofPairs = (text) => (isPerPair(query, letter) && !PAIR.test(text) ? `${text}/pair` : text);
  const count = /^\d+$/.test(points) ? Number(points) : points;
  if (!isWhole || !(least >= 1) || !(most >= least))
    return { option, from: ofPairs(from), to: ofPairs(to), points: count };
  const values = new Set();
  const isDoubling = Number.isInteger(Math.log2(least)) && Number.isInteger(Math.log2(most)) && option === "gpus";
  const all = isDoubling ? Math.log2(most / least) + 1 : Math.min(Number(points) || 1, most - least + 1);
  for (let place = 0; place < Math.min(all, MOST_POINTS); place += 1) {
    values.add(Math.round(least * (most / least) ** (all > 1 ? place / (all - 1) : 0)));
  }
  return { option, values: [...values] };
}

/**
 * Number of values of an axis as it is entered, or NaN.
 *
 * @param {Query} query
 * @param {Letter} letter
 */
export function pointsOf(query, letter) {
  const body = axisBody(query, letter);
  return body.values?.length ?? Number(body.points);
}

/**
 * Fields of both axes and of the baseline. onChange: called with `{draft}`.
 *
 * @param {(change: Change) => void} onChange
 * @param {Entry[]} baselines
 * @returns {Extras}
 */
export function axisFields(onChange, baselines) {
  const axes = [axisField("x", onChange), axisField("y", onChange)];
  const id = freshId("against");
  const against = h(
    "select",
    { id },
    baselines.map(({ name, summary }) =>
      h("option", { value: name, title: summary || null }, name === NEVER_CHANGE ? "circuits that never change" : name),
    ),
  );
  against.addEventListener("change", () => onChange({ draft: false }));
  /** @type {Pick<Extras, "names" | "values" | "set">[]} */
  const parts = [
    ...axes,
    {
      names: ["against"],
      values: () => [["against", against.value]],
      set: (query) => choose(against, query.get("against") || NEVER_CHANGE),
    },
  ];
  const element = h(
    "div",
    { class: "fields-of" },
    axes.map((axis) => axis.element),
    h("div", { class: "field full" }, h("label", { for: id }, "Compared with"), against),
  );
  return {
    before: element,
    names: parts.flatMap((part) => part.names),
    values: () => parts.flatMap((part) => part.values()),
    set(query) {
      for (const part of parts) part.set(query);
    },
    wrong(field, words) {
      const [name] = field.split(".");
      const axis = field === "points" ? axes[0] : axes.find((each) => field.includes(".") && each.isOf(name));
      axis?.wrong(words);
      return Boolean(axis);
    },
    right() {
      for (const axis of axes) axis.wrong("");
    },
    unknown: (query) => LETTERS.flatMap((letter) => unknownAxis(letter, query)),
  };
}

/**
 * What an address says of an axis that no map can vary.
 *
 * @param {Letter} letter
 * @param {Query} query
 */
function unknownAxis(letter, query) {
  const chosen = query.get(letter);
  if (!chosen || chosen in ranges()) return [];
  return [
    `${letter}=${chosen}: a map does not vary that, and goes over ${labelOf(variedOf(USUAL[letter])).toLowerCase()}`,
  ];
}

/**
 * @param {Letter} letter
 * @param {(change: Change) => void} onChange
 */
function axisField(letter, onChange) {
  const select = h(
    "select",
    { id: freshId(letter) },
    varied().map((option) => h("option", { value: option.name }, labelOf(option))),
  );
  const wrong = h("p", { class: "wrong", id: freshId("wrong"), role: "alert", hidden: true });
  const inputs = PARTS.map((part) =>
    h("input", {
      type: "text",
      id: freshId(`${letter}-${part}`),
      "aria-describedby": wrong.id,
      autocomplete: "off",
      inputmode: part === "points" ? "numeric" : null,
    }),
  );
  const fields = PARTS.map((part, place) =>
    h(
      "div",
      { class: "field" },
      h("label", { for: inputs[place].id }, { from: "From", to: "To", points: "Values" }[part]),
      inputs[place],
    ),
  );
  const name = letter === "x" ? "Across" : "Up";
  const element = h(
    "fieldset",
    {},
    h("legend", { class: "unseen" }, `${name}: axis of the map`),
    h("div", { class: "axis" }, h("div", { class: "field" }, h("label", { for: select.id }, name), select), fields),
    wrong,
  );
  /** @param {(part: string) => string | undefined} told */
  const fill = (told) =>
    inputs.forEach((input, place) => {
      input.value = told(PARTS[place]) ?? String(ranges()[select.value][PARTS[place]]);
    });
  select.addEventListener("change", () => {
    fill(() => undefined);
    onChange({ draft: false });
  });
  for (const input of inputs) {
    input.addEventListener("input", () => onChange({ draft: true }));
    input.addEventListener("change", () => onChange({ draft: false }));
  }
  return {
    element,
    names: [letter, ...PARTS.map((part) => `${letter}-${part}`)],
    /** @param {string} name */
    isOf: (name) => name === letter || name === select.value,
    /** @returns {[string, string][]} */
    values: () => [[letter, select.value], ...PARTS.map((part, place) => entry(`${letter}-${part}`, inputs[place]))],
    /** @param {Query} query */
    set(query) {
      const chosen = query.get(letter) ?? "";
      select.value = chosen in ranges() ? chosen : USUAL[letter];
      fill((part) => query.get(`${letter}-${part}`) || undefined);
    },
    /** @param {string} words */
    wrong(words) {
      wrong.hidden = !words;
      replace(wrong, words);
      for (const input of inputs) {
        if (words) input.setAttribute("aria-invalid", "true");
        else input.removeAttribute("aria-invalid");
      }
    },
  };
}

/**
 * @param {string} name
 * @param {HTMLInputElement} input
 * @returns {[string, string]}
 */
const entry = (name, input) => [name, input.value.trim()];
