// Which job, and which switches: texts of TOML, and names of the catalogue.

import { h } from "../dom.js";
import { registry } from "../registries.js";
import { textField, textFields } from "./text-fields.js";

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
  const job = textField("textarea", "Job (TOML)", { rows: 10 });
  const switches = textField("input", "Switches", { type: "text" });
  const own = textField("textarea", "Switches of your own (TOML)", { rows: 3, placeholder: OWN_EXAMPLE });
  const known = registry("switches").map(({ name }) => name);
  const hint = h("p", { class: "field full quiet" }, `all, or some of ${known.join(", ")}`);
  return {
    ...textFields({ job, switches, "own-switches": own }, onChange, placeOf),
    before: h("div", { class: "fields" }, job.element),
    element: h("div", { class: "fields" }, switches.element, hint, own.element),
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
