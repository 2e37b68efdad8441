// Fields of a view whose values are texts, such as TOML: their values, and the words on what is wrong in them.

import { freshId, h, replace } from "../dom.js";

/** @import { Change } from "../form.js" */
/** @import { Extras } from "./scaffold.js" */

/**
 * A field with its label.
 *
 * @typedef {{element: HTMLElement, input: HTMLInputElement | HTMLTextAreaElement, say: (words: string) => void}} TextField
 */

/**
 * Fields by name as `Scaffold` takes them. placeOf: the field that an error of the server is about; one that is not
 * among them belongs to the form.
 *
 * @param {Record<string, TextField>} fields
 * @param {(change: Change) => void} onChange
 * @param {(name: string) => string} placeOf
 * @returns {Extras}
 */
export function textFields(fields, onChange, placeOf) {
  for (const { input } of Object.values(fields)) {
    input.addEventListener("input", () => onChange({ draft: true }));
    input.addEventListener("change", () => onChange({ draft: false }));
  }
  return {
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
      if (!(place in fields)) return false;
      for (const [each, { say }] of Object.entries(fields)) say(each === place ? words : "");
      return true;
    },
    right() {
      for (const { say } of Object.values(fields)) say("");
    },
  };
}

/**
 * A field with its label and the words on what is wrong.
 *
 * @param {"input" | "textarea"} kind
 * @param {string} label
 * @param {Record<string, string | number>} attributes
 * @returns {TextField}
 */
export function textField(kind, label, attributes) {
  const ids = { input: freshId("text"), wrong: freshId("wrong") };
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
