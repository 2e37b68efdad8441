// Which job, and which switches: texts of TOML, and names of the catalogue.

import { freshId, h, replace } from "../dom.js";
import { registry } from "../options.js";

/** @import { Change } from "../form.js" */
/** @import { Body } from "../types.js" */
/** @import { Extras } from "./scaffold.js" */

/**
 * Fields of the job, as `Scaffold` takes them; asked: the server's request for it.
 *
 * @typedef {Extras & {asked: () => Body}} AdvisedFields
 */

const OWN_EXAMPLE = '[my-switch]\nreconfiguration_delay = "500us"';

/**
 * The fields of the job and the switches.
 *
 * @param {(change: Change) => void} onChange
 * @returns {AdvisedFields}
 */
export function jobFields(onChange) {
  const job = field("textarea", "Job (TOML)", { rows: 10 });
  const switches = field("input", "Switches", { type: "text" });
  const own = field("textarea", "Switches of your own (TOML)", { rows: 3, placeholder: OWN_EXAMPLE });
  const known = registry("switches").map(({ name }) => name);
  const hint = h("p", { class: "field full quiet" }, `all, or some of ${known.join(", ")}`);
  const fields = { job, switches, "own-switches": own };
  for (const { input } of Object.values(fields)) {
    input.addEventListener("input", () => onChange({ draft: true }));
    input.addEventListener("change", () => onChange({ draft: false }));
  }
  return {
    before: h("div", { class: "fields" }, job.element),
    element: h("div", { class: "fields" }, switches.element, hint, own.element),
    names: Object.keys(fields),
    values: () => Object.entries(fields).map(([name, { input }]) => [name, input.value]),
    set(query) {
      for (const [name, { input }] of Object.entries(fields)) {
        const value = query.get(name) ?? "";
        if (input.value !== value) input.value = value;
      }
    },
    wrong(name, words) {
      const place = placeOf(name);
      if (place === "ports") return false;
      for (const [each, { say }] of Object.entries(fields)) say(each === place ? words : "");
      return true;
    },
    right() {
      for (const { say } of Object.values(fields)) say("");
    },
    asked() {
      const more = own.input.value.trim();
      const names = switches.input.value.trim();
      return { job: job.input.value, ...(names ? { switches: names } : {}), ...(more ? { own_switches: more } : {}) };
    },
  };
}

/**
 * The field that an error is about: the server names keys of the job, and of switches.
 *
 * @param {string} name
 */
function placeOf(name) {
  if (name === "switches" || name === "ports") return name;
  return name.startsWith("switches.") || name === "own_switches" ? "own-switches" : "job";
}

/**
 * A field with its label and the words on what is wrong.
 *
 * @param {"input" | "textarea"} kind
 * @param {string} label
 * @param {Record<string, string | number>} attributes
 */
function field(kind, label, attributes) {
  const ids = { input: freshId("advice"), wrong: freshId("wrong") };
  const told = { id: ids.input, spellcheck: "false", "aria-describedby": ids.wrong, ...attributes };
  const input = /** @type {HTMLInputElement | HTMLTextAreaElement} */ (h(kind, told));
  const wrong = h("span", { class: "wrong", id: ids.wrong, hidden: true });
  const element = h("div", { class: "field full" }, h("label", { for: ids.input }, label), input, wrong);
  /** @param {string} words */
  function say(words) {
    wrong.hidden = !words;
    replace(wrong, words);
    if (words) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
  }
  return { element, input, say };
}
