// Which job, and which switches: texts of TOML, and names of the catalogue.

import { freshId, h } from "../dom.js";
import { ranksOf } from "../options.js";
import { registry } from "../registries.js";
import { textField, textFields } from "./text-fields.js";

/** @import { Query } from "../address.js" */
/** @import { Change } from "../form.js" */
/** @import { Body } from "../types.js" */
/** @import { Extras } from "./scaffold.js" */

/**
 * Fields of the job, as `Scaffold` takes them; asked: the server's request for it.
 *
 * @typedef {Extras & {asked: () => Body}} AdvisedFields
 */

// Options of a fabric that a job has too, by its own names.
const OF_FABRIC = { fabric: "fabric", bandwidth: "bandwidth", startup: "startup", "hop-delay": "hop_delay" };

/**
 * A job of one model or workload, as TOML. query: of a training iteration, whose fabric it has.
 *
 * @param {string | object} asked a model's name, or a workload
 * @param {number} gpus
 * @param {Query} [query]
 */
export function jobText(asked, gpus, query = new Map()) {
  const said = Object.entries(OF_FABRIC).flatMap(([name, key]) => {
    const value = query.get(name);
    return value ? [`${key} = ${JSON.stringify(value)}`] : [];
  });
  const ports = query.get("ports");
  const isModel = typeof asked === "string";
  const name = isModel ? [`name = ${JSON.stringify(asked)}`] : [];
  const lines = [...name, `gpus = ${gpus}`, ...(ports ? [`ports = ${ports}`] : []), ...said];
  // JSON may write an apostrophe as its number, so that it does not end the text of TOML.
  const workload = () => `workload = '''${JSON.stringify(asked).replaceAll("'", "\\u0027")}'''`;
  const mix = isModel ? `model = ${JSON.stringify(asked)}` : workload();
  return `${lines.join("\n")}\n\n[[mix]]\n${mix}\n`;
}

const OWN_EXAMPLE = '[my-switch]\nreconfiguration_delay = "500us"';

/**
 * The fields of the job and the switches.
 *
 * @param {(change: Change) => void} onChange
 * @returns {AdvisedFields}
 */
export function jobFields(onChange) {
  const models = registry("models").map(({ name, summary }) => h("option", { value: name, title: summary }, name));
  const model = h("select", { id: freshId("model") }, h("option", { value: "" }, "A model…"), models);
  model.addEventListener("change", () => {
    if (model.value) job.input.value = jobText(model.value, ranksOf(model.value));
    model.value = "";
    onChange({ draft: false });
  });
  const chosen = h("div", { class: "field full" }, h("label", { for: model.id }, "A model as the job"), model);
  const job = textField("textarea", "Job (TOML)", { rows: 10 });
  const switches = textField("input", "Switches", { type: "text" });
  const own = textField("textarea", "Switches of your own (TOML)", { rows: 3, placeholder: OWN_EXAMPLE });
  const known = registry("switches").map(({ name }) => name);
  const hint = h("p", { class: "field full quiet" }, `all, or some of ${known.join(", ")}`);
  return {
    ...textFields({ job, switches, "own-switches": own }, onChange, placeOf),
    before: h("div", { class: "fields" }, chosen, job.element),
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
