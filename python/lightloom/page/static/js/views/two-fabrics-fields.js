// What the second of two fabrics has in place of the first's options: rows of an option and its value.

import { choose, freshId, h, replace } from "../dom.js";
import { labelOf, namesOf, optionsOf, otherwiseOf } from "../options.js";

/** @import { Query } from "../address.js" */
/** @import { Change } from "../form.js" */
/** @import { Extras } from "./scaffold.js" */

export const OTHER = "other-";
// What differs where nothing is said.
const USUAL = "reconfiguration-delay";

/**
 * The rows, each with the words on what is wrong in it.
 *
 * @typedef {{
 *   element: HTMLElement, option: () => string, value: () => string, say: (words: string) => void, focus: () => void,
 * }} Row
 */

/**
 * Options of the second by name, as an address with `other-…` says them.
 *
 * @param {Query} query
 * @returns {Query}
 */
export const othersOf = (query) =>
  new Map([...query].flatMap(([name, value]) => (name.startsWith(OTHER) ? [[name.slice(OTHER.length), value]] : [])));

/**
 * Fields of what differs.
 *
 * @param {(change: Change) => void} onChange
 * @returns {Extras}
 */
export function otherFields(onChange) {
  /** @type {Row[]} */
  let rows = [];
  const place = h("div", { class: "fields-of" });
  const add = h("button", { type: "button", class: "small", onclick: () => grow() }, "One more difference");
  const element = h(
    "fieldset",
    {},
    h("legend", {}, "The second has instead"),
    place,
    h("p", { class: "downloads" }, add),
  );

  function grow() {
    const taken = rows.map((row) => row.option());
    const free = optionsOf("plan").find(({ name }) => !taken.includes(name) && name !== "collective");
    rows.push(make(free?.name ?? USUAL, ""));
    layout();
    rows[rows.length - 1].focus();
  }

  /**
   * @param {string} option
   * @param {string} value
   */
  const make = (option, value) => {
    /** @type {Row} */
    const row = rowOf(option, value, onChange, () => {
      rows = rows.filter((each) => each !== row);
      layout();
      add.focus();
      onChange({ draft: false });
    });
    return row;
  };

  function layout() {
    replace(
      place,
      rows.map((row) => row.element),
    );
  }

  return {
    before: element,
    names: optionsOf("plan").map(({ name }) => OTHER + name),
    values: () => rows.map((row) => [OTHER + row.option(), row.value()]),
    set(query) {
      const told = othersOf(query);
      rows = [...(told.size ? told : new Map([[USUAL, ""]]))].map(([option, value]) => make(option, value));
      layout();
    },
    wrong(name, words) {
      const row = rows.find((each) => OTHER + each.option() === name);
      row?.say(words);
      return Boolean(row);
    },
    right() {
      for (const row of rows) row.say("");
    },
  };
}

/**
 * @param {string} option
 * @param {string} value
 * @param {(change: Change) => void} onChange
 * @param {() => void} onRemove
 * @returns {Row}
 */
function rowOf(option, value, onChange, onRemove) {
  const ids = { select: freshId("differs"), input: freshId("other"), wrong: freshId("wrong"), list: freshId("names") };
  const known = optionsOf("plan");
  const options = known.map((each) => h("option", { value: each.name }, labelOf(each)));
  const select = h("select", { id: ids.select, "aria-label": "Option that differs" }, options);
  choose(select, option);
  const told = { spellcheck: "false", autocomplete: "off", "aria-describedby": ids.wrong, list: ids.list };
  const input = h("input", { type: "text", id: ids.input, "aria-label": "Value of the second", ...told });
  input.value = value;
  const list = h("datalist", { id: ids.list });
  const wrong = h("span", { class: "wrong", id: ids.wrong, role: "alert", hidden: true });
  const follow = () => {
    const own = known.find(({ name }) => name === select.value);
    input.placeholder = own ? otherwiseOf(own) : "";
    const names = own ? namesOf(own) : [];
    replace(
      list,
      names.map(({ name, summary }) => h("option", { value: name }, summary)),
    );
  };
  follow();
  select.addEventListener("change", () => {
    input.value = "";
    follow();
    onChange({ draft: false });
  });
  input.addEventListener("input", () => onChange({ draft: true }));
  input.addEventListener("change", () => onChange({ draft: false }));
  const away = h(
    "button",
    { type: "button", class: "small", "aria-label": "Remove this difference", onclick: onRemove },
    "×",
  );
  return {
    element: h("div", { class: "field full" }, h("div", { class: "differs" }, select, input, away), list, wrong),
    option: () => select.value,
    value: () => input.value.trim(),
    focus: () => select.focus(),
    say(words) {
      wrong.hidden = !words;
      replace(wrong, words);
      if (words) input.setAttribute("aria-invalid", "true");
      else input.removeAttribute("aria-invalid");
    },
  };
}
