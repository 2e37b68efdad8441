// A form made from the table of options: the few that matter first, the rest folded by group.

import { choose, freshId, h, replace, withCode } from "./dom.js";
import { defaultOf, labelOf, limits, namesOf, otherwiseOf, widgetOf } from "./options.js";
import { sliderOf } from "./scales.js";

/** @import { Query } from "./address.js" */
/** @import { Child } from "./dom.js" */
/** @import { Widget } from "./options.js" */
/** @import { Option } from "./types.js" */

/**
 * A change of a form; draft: while a value is being typed.
 *
 * @typedef {{draft: boolean}} Change
 */

/**
 * The field of an option. Its value is a text, empty where it is left at its default.
 *
 * @typedef {{
 *   element: HTMLElement, option: Option, follow: () => void, value: () => string, set: (value: string) => void,
 *   wrong: (words: string) => void,
 * }} Field
 */

/**
 * The fields of a verb's options. wrong: returns whether the field is one of these.
 *
 * @typedef {{
 *   element: HTMLElement, values: () => Query, set: (values: Query) => void,
 *   wrong: (field: string, words: string) => boolean, right: () => void,
 * }} Fields
 */

const FOLDED = ["problem", "fabric", "planner", "expert"];
const FABRIC = "fabric";
// A slider that is dragged is followed once it rests for so long, or is let go.
const REST_MS = 350;
/** @type {Record<string, string>} */
const TITLES = { problem: "More of the problem", fabric: "More of the fabric", planner: "Planner", expert: "Expert" };

/**
 * The fields of a verb's options.
 *
 * options: of the table. first: names of those that are shown unfolded, in this order. onChange: called with
 * `{draft}` after every change, draft while a value is being typed.
 *
 * Returns `{element, values(), set(values), wrong(field, words), right()}`; values is a Map of texts by name, without
 * those that are left at their defaults.
 *
 * @param {{options: Option[], first: string[], onChange: (change: Change) => void, hint: HTMLElement}} told
 * @returns {Fields}
 */
export function fieldsOf({ options, first, onChange, hint }) {
  /** @type {Map<string, Field>} */
  const fields = new Map();
  /** @type {(option: Option, isFirst: boolean) => HTMLElement} */
  const make = (option, isFirst) => {
    const field = fieldOf(option, isFirst, fabric, (draft) => {
      agree(fields, option.name);
      if (option.name === FABRIC) follow();
      sum();
      onChange({ draft });
    });
    fields.set(option.name, field);
    return field.element;
  };
  const unfolded = first.flatMap((name) => options.filter((option) => option.name === name));
  const shown = unfolded.map((option) => make(option, true));
  const folds = foldsOf(
    options.filter((option) => !first.includes(option.name)),
    (option) => make(option, false),
  );

  /** Name of the fabric whose values stand for empty fields; an empty string without a fabric. */
  function fabric() {
    return fields.get(FABRIC)?.value() ?? "";
  }

  function follow() {
    for (const field of fields.values()) field.follow();
  }

  function sum() {
    for (const { set, names } of folds) {
      const count = names.filter((name) => fields.get(name)?.value()).length;
      replace(set, count ? `${count} set` : "");
    }
  }

  const element = h(
    "div",
    { class: "fields-of" },
    h("div", { class: "fields" }, shown),
    folds.map((fold) => fold.element),
  );
  showHints(element, hint, fields);
  return {
    element,
    values() {
      /** @type {[string, string][]} */
      const entered = [...fields].map(([name, field]) => [name, field.value()]);
      return new Map(entered.filter(([, value]) => value !== ""));
    },
    set(values) {
      for (const [name, field] of fields) field.set(values.get(name) ?? "");
      follow();
      if (values.has("dims") && !values.has("gpus")) agree(fields, "dims");
      sum();
    },
    wrong(name, words) {
      const field = fields.get(name);
      if (!field) return false;
      const fold = field.element.closest("details");
      if (fold) fold.open = true;
      field.wrong(words);
      return true;
    },
    right() {
      for (const field of fields.values()) field.wrong("");
    },
  };
}

/**
 * The options that are folded, by group, with how many of them are set.
 *
 * @param {Option[]} options
 * @param {(option: Option) => Child} make
 */
function foldsOf(options, make) {
  return FOLDED.map((group) => options.filter((option) => groupOf(option) === group))
    .filter((inside) => inside.length)
    .map((inside) => {
      const set = h("span", { class: "set" });
      const summary = h("summary", {}, h("span", {}, TITLES[groupOf(inside[0])]), set);
      const element = h("details", {}, summary, h("div", { class: "fields" }, inside.map(make)));
      return { element, set, names: inside.map((option) => option.name) };
    });
}

/** @param {Option} option */
const groupOf = (option) => {
  const group = String(option.group).toLowerCase();
  return FOLDED.includes(group) ? group : "expert";
};

/**
 * A grid says how many GPUs there are: whichever of the two is changed, the other follows.
 *
 * @param {Map<string, Field>} fields
 * @param {string} changed
 */
function agree(fields, changed) {
  const [dims, gpus] = [fields.get("dims"), fields.get("gpus")];
  if (!dims || !gpus || !dims.value()) return;
  const sides = dims.value().split(/[x×]/i).map(Number);
  const product = sides.reduce((all, side) => all * side, 1);
  if (!Number.isInteger(product) || product < 1) return;
  if (changed === "dims") gpus.set(String(product));
  else if (changed === "gpus" && gpus.value() !== String(product)) dims.set("");
}

/**
 * @param {Option} option
 * @param {boolean} isFirst
 * @param {() => string} fabric
 * @param {(draft: boolean) => void} onChange
 * @returns {Field}
 */
function fieldOf(option, isFirst, fabric, onChange) {
  const ids = { input: freshId(option.name), help: freshId("help"), wrong: freshId("wrong") };
  const widget = widgetOf(option);
  const ownDefault = () => defaultOf(option, option.name === FABRIC ? "" : fabric());
  const help = h("span", { id: ids.help, class: "unseen" }, option.help);
  const wrong = h("span", { id: ids.wrong, class: "wrong", hidden: true });
  const described = { "aria-describedby": `${ids.help} ${ids.wrong}` };
  const input = inputOf(option, widget, {
    id: ids.input,
    name: option.name,
    autocomplete: "off",
    spellcheck: "false",
    ...described,
  });
  const slider = isFirst && input.type === "text" ? sliderFor(option, widget, input, ownDefault, onChange) : null;
  const follow = () => {
    if (input.type === "text") input.placeholder = otherwiseOf(option, fabric());
    slider?.follow();
  };
  input.addEventListener("input", () => {
    follow();
    onChange(input.type === "text");
  });
  input.addEventListener("change", () => {
    if (input.type === "text") onChange(false);
  });
  const list = input.type === "text" ? listFor(option, input) : null;
  const isWide = slider !== null || (isFirst && input instanceof HTMLSelectElement);
  const element = h(
    "div",
    { class: `field ${widget === "yes-or-no" ? "yes-or-no" : ""} ${isWide ? "full" : ""}`, "data-field": option.name },
    h("label", { for: ids.input }, labelOf(option)),
    slider ? h("div", { class: "with-slider" }, input, slider.element) : input,
    list,
    help,
    wrong,
  );
  return {
    element,
    option,
    follow,
    value() {
      if (input.type === "checkbox") return input.checked === Boolean(option.default) ? "" : String(input.checked);
      const value = input.value.trim();
      return value === ownDefault() && !option.required ? "" : value;
    },
    set(value) {
      if (input.type === "checkbox") input.checked = value === "" ? Boolean(option.default) : value === "true";
      else if (input instanceof HTMLSelectElement) choose(input, value || defaultOf(option));
      else input.value = value;
    },
    wrong(words) {
      wrong.hidden = !words;
      replace(wrong, words);
      if (words) input.setAttribute("aria-invalid", "true");
      else input.removeAttribute("aria-invalid");
    },
  };
}

/**
 * @param {Option} option
 * @param {Widget} widget
 * @param {Record<string, string>} attributes
 */
function inputOf(option, widget, attributes) {
  if (widget === "yes-or-no") return h("input", { ...attributes, type: "checkbox" });
  if (widget === "choice") {
    const none = option.required || defaultOf(option) ? [] : [h("option", { value: "" }, option.otherwise || "–")];
    const entries = namesOf(option).map(({ name, summary, title }) =>
      h("option", { value: name, title: summary || null }, title ?? name),
    );
    return h("select", attributes, none, entries);
  }
  const isNumber = widget === "whole";
  return h("input", { ...attributes, type: "text", inputmode: isNumber ? "numeric" : null });
}

/**
 * @param {Option} option
 * @param {HTMLInputElement} input
 */
function listFor(option, input) {
  const names = namesOf(option);
  if (!names.length) return null;
  const id = freshId("names");
  input.setAttribute("list", id);
  return h(
    "datalist",
    { id },
    names.map(({ name, summary }) => h("option", { value: name }, summary)),
  );
}

/**
 * @param {Option} option
 * @param {Widget} widget
 * @param {HTMLInputElement} input
 * @param {() => string} ownDefault
 * @param {(draft: boolean) => void} onChange
 */
function sliderFor(option, widget, input, ownDefault, onChange) {
  const most =
    option.name === "gpus" ? Math.min(limits().gpus ?? 1024, 1024) : option.name === "ports" ? 16 : option.most;
  const scale = sliderOf(widget, option.least ?? 1, most);
  if (!scale) return null;
  const element = h("input", {
    type: "range",
    min: 0,
    max: scale.count - 1,
    step: 1,
    "aria-label": `${labelOf(option)}, slider`,
  });
  const say = () => element.setAttribute("aria-valuetext", input.value || ownDefault());
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let resting;
  element.addEventListener("input", () => {
    input.value = scale.textAt(Number(element.value), input.value);
    say();
    clearTimeout(resting);
    resting = setTimeout(() => onChange(true), REST_MS);
  });
  element.addEventListener("change", () => {
    clearTimeout(resting);
    onChange(false);
  });
  return {
    element,
    follow() {
      element.value = String(scale.placeOf(input.value || ownDefault()));
      say();
    },
  };
}

/**
 * The meaning of the option that has the focus, at one place below the form.
 *
 * @param {HTMLElement} element
 * @param {HTMLElement} hint
 * @param {Map<string, Field>} fields
 */
function showHints(element, hint, fields) {
  /** @param {Event} event */
  const show = (event) => {
    const field = event.target instanceof Element && event.target.closest("[data-field]");
    const name = field instanceof HTMLElement && field.dataset.field;
    const option = name && fields.get(name)?.option;
    if (option) replace(hint, h("strong", {}, option.flag), " ", withCode(option.help));
  };
  element.addEventListener("focusin", show);
  element.addEventListener("pointerover", show);
}
