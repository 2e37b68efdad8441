// The common part of all views with a form: the form next to the result, the address, the newest calculation, code.

import { isShown, restate, show } from "../address.js";
import { Refusal } from "../api.js";
import { codes } from "../codes.js";
import { append, h, replace } from "../dom.js";
import { foldOf } from "../fold.js";
import { fieldsOf } from "../form.js";
import { bodyOf, fabricSays, kept, optionsOf, presetsOf, startOfPlans } from "../options.js";
import { carry } from "../tabs.js";
import { notice, Work } from "../work.js";
import { lackOf } from "./address-lacks.js";
import { problemWords } from "./problem-words.js";

/** @import { Held, Query } from "../address.js" */
/** @import { Change } from "../form.js" */
/** @import { EnteredPreset } from "../options.js" */
/** @import { Body, Option } from "../types.js" */

const TYPING_MS = 180;
const LOST = "The address was too short for what stood here: paste it again.";
const DAMAGED = "What is packed in this address is cut off or damaged, and left out.";

/**
 * A view with a form.
 *
 * root: where it goes. view: its path. verb: whose options it has. title, lead: its purpose. first: options that are
 * shown unfolded. presets: verbs whose presets it offers. start: query of the problem that it begins with, or a
 * function that makes it from the address. extras: form parts next to the options. compute: shows the result.
 * unknown, of extras: what an address says wrong that no field shows. code: requests of a query, `[verb, body]` each, where they are not the verb with its options.
 *
 * @typedef {{
 *   root: HTMLElement, view: string, verb: string, title: string, lead: string, first: string[], presets?: string[],
 *   start?: Start, extras?: Extras, options?: Option[],
 *   compute: (query: Query, signal: AbortSignal) => Promise<unknown>, code?: (query: Query) => [string, Body][],
 * }} Settings
 *
 * @typedef {Query | ((given: Query) => Query)} Start
 *
 * @typedef {{
 *   names: string[], values: () => [string, string][], set: (query: Query) => void,
 *   wrong: (field: string, words: string) => boolean, right: () => void, before?: Node, element?: Node,
 *   unknown?: (query: Query) => string[],
 * }} Extras
 */
export class Scaffold {
  result = h("div", { class: "result" });
  #hint = h("p", { class: "hint", "aria-hidden": "true" }, "The meaning of the selected option is shown here.");
  #lack = h("div", { class: "notices" });
  #unknown = h("div", { class: "notices" });
  #code = codes();
  /** @type {Query} */
  #query = new Map();
  /** The query that was computed last, or is being computed. @type {Query | null} */
  #asked = null;
  /**
   * Names of values that the address was too short for: nothing is computed until something is entered; and of those
   * that were left out then.
   *
   * @type {string[]}
   */
  #lost = [];
  /** @type {string[]} */
  #left = [];

  /** @param {Settings} settings */
  constructor(settings) {
    const { title, verb, first, options = optionsOf(verb) } = settings;
    this.settings = settings;
    this.extras = settings.extras;
    this.names = settings.extras?.names ?? [];
    this.form = fieldsOf({ options, first, onChange: (change) => this.changed(change), hint: this.#hint });
    const [notices, busy] = [h("div", { class: "notices" }), h("span", { class: "busy" })];
    this.fold = this.#layout(notices, busy);
    document.title = titleOf(new Map(), title);
    this.work = new Work({
      notices,
      busy,
      result: this.result,
      wrong: (field, words) => this.#wrong(field, words),
      right: () => {
        this.form.right();
        this.extras?.right();
      },
    });
  }

  /**
   * Puts the form and the result on the page; returns what folds the form.
   *
   * @param {HTMLElement} notices
   * @param {HTMLElement} busy
   */
  #layout(notices, busy) {
    const { root, title, lead, verb, presets = [verb] } = this.settings;
    const preset = presetSelect(presetsOf(...presets), (chosen) => {
      this.#set(new Map(chosen));
      this.changed({ draft: false });
    });
    /** @param {Event} event */
    const onsubmit = (event) => event.preventDefault();
    const attributes = { "aria-label": title, onsubmit };
    const part = h("form", attributes, preset, this.extras?.before, this.form.element, this.extras?.element);
    const heading = h("h1", {}, title);
    const says = h("p", { class: "lead" }, lead);
    const holder = h("aside", { class: "form", "aria-label": "Problem" }, heading, says, part, this.#hint);
    const shown = [busy, notices, this.#lack, this.#unknown, this.result, this.#code.element];
    const main = h("main", { id: "result", tabindex: -1 }, shown);
    const fold = foldOf({ holder, part, words: "Change", done: "Show the result", next: () => main });
    heading.after(fold.button);
    holder.append(fold.end);
    append(root, [holder, main]);
    return fold;
  }

  /**
   * @param {string} field
   * @param {string} words
   */
  #wrong(field, words) {
    const isSaid = this.form.wrong(field, words) || this.extras?.wrong(field, words) || false;
    if (isSaid) this.fold.unfold();
    return isSaid;
  }

  #values() {
    return new Map([...this.form.values(), ...(this.extras?.values() ?? [])]);
  }

  /** @param {Query} next */
  #set(next) {
    this.#query = next;
    this.form.set(next);
    this.extras?.set(next);
  }

  /** Shows the problem in its places outside the form. */
  #spread() {
    const { view, verb } = this.settings;
    this.fold.say(problemWords(verb, this.#query));
    carry({ view, verb, names: this.names, query: this.#query });
  }

  /** @param {Held | null} held */
  #tell(held) {
    if (!held) return;
    const names = this.#left.join(" and the ");
    const without = `This is without the ${names} that the address was made with: it was too short for that.`;
    replace(this.#lack, names ? notice("", without) : lackOf(held, this.#query));
  }

  /**
   * Computes the form's current query; draft: while a value is being typed.
   *
   * @param {Change} change
   */
  changed({ draft }) {
    const { view, verb } = this.settings;
    this.#query = this.#values();
    this.#left = [...this.#left, ...this.#lost].filter((name) => !this.#query.get(name));
    this.#lost = [];
    show(view, kept(verb, this.#query, this.names), { draft }).then((held) => this.#tell(held));
    this.#spread();
    // A field that loses the focus reports its value once more.
    if (draft || this.work.hasFailed || !isSame(this.#query, this.#asked)) this.#run(draft ? TYPING_MS : 0);
  }

  /** @param {number} delay */
  #run(delay) {
    const problem = new Map(this.#query);
    this.#asked = problem;
    this.#code.outdate();
    this.work.run((signal) => this.#compute(problem, signal), { delay });
  }

  /**
   * @param {Query} problem
   * @param {AbortSignal} signal
   */
  async #compute(problem, signal) {
    const { title, compute } = this.settings;
    const lost = this.#lost.find((name) => !problem.get(name));
    this.#code.show(lost ? [] : this.#requests(problem));
    if (lost) throw new Refusal(LOST, { field: lost, status: 422 });
    await compute(problem, signal);
    if (signal.aborted) return;
    document.title = titleOf(problem, title);
  }

  /**
   * The requests of a problem; none where a field is not filled in, as computing it says.
   *
   * @param {Query} problem
   * @returns {[verb: string, body: Body][]}
   */
  #requests(problem) {
    const { verb, code } = this.settings;
    try {
      return code?.(problem) ?? [[verb, bodyOf(verb, problem)]];
    } catch (error) {
      if (error instanceof Refusal) return [];
      throw error;
    }
  }

  /**
   * The values in the form.
   *
   * @returns {Query}
   */
  query() {
    return new Map(this.#query);
  }

  /**
   * Shows an address's query: options that it leaves open are those of the start. told, hasLost: of the address, as
   * `here` tells them.
   *
   * @param {Query} told
   * @param {string[] | null} hasLost
   */
  show(told, hasLost = []) {
    const { verb, start = startOfPlans } = this.settings;
    const full = complete(kept(verb, told, this.names), start);
    this.#lost = hasLost ?? [];
    this.#left = [];
    replace(this.#lack, hasLost ? null : notice("bad", DAMAGED));
    this.#sayUnknown(told);
    this.instead(full, hasLost !== null);
  }

  /**
   * Shows other values in place of those in the form. isWhole: whether the address may say them.
   *
   * @param {Query} values
   */
  instead(values, isWhole = true) {
    this.#set(values);
    this.#query = this.#values();
    if (!this.#lost.length && isWhole) restate(this.settings.view, values).then((held) => this.#tell(held));
    this.#spread();
    this.#run(0);
  }

  /** Puts into the address what changes the look of the result, and not the result. */
  restated() {
    const { view, verb } = this.settings;
    this.#query = this.#values();
    this.#asked = new Map(this.#query);
    show(view, kept(verb, this.#query, this.names)).then((held) => this.#tell(held));
    isShown();
  }

  /** Computes the same once more. */
  again() {
    this.#run(0);
  }

  /**
   * Says which names of an address are no options of the view, and which values its fields do not have.
   *
   * @param {Query} told
   */
  #sayUnknown(told) {
    const known = new Set([...optionsOf(this.settings.verb).map(({ name }) => name), ...this.names]);
    const names = [...told.keys()].filter((name) => !known.has(name));
    const words = `The address says ${names.join(", ")}: no option of this view has that name, and it is left out.`;
    const values = this.extras?.unknown?.(told) ?? [];
    replace(this.#unknown, [
      names.length ? notice("", words) : null,
      values.map((value) => notice("", `The address says ${value}.`)),
    ]);
  }

  /** Ends what runs. */
  leave() {
    this.#code.outdate();
    this.work.stop();
  }
}

/**
 * @param {Query} one
 * @param {Query | null} other
 */
function isSame(one, other) {
  return other !== null && one.size === other.size && [...one].every(([name, value]) => other.get(name) === value);
}

/**
 * `all-reduce, 1MiB, 64 GPUs – Plan – Lightloom`: the title of a window or a bookmark.
 *
 * @param {Query} query
 * @param {string} view
 */
function titleOf(query, view) {
  const gpus = query.get("gpus");
  const parts = [query.get("model") ?? query.get("collective"), query.get("size"), gpus && `${gpus} GPUs`];
  return [parts.filter(Boolean).join(", "), view, "Lightloom"].filter(Boolean).join(" – ");
}

/**
 * The start's options where the problem itself is not given.
 *
 * @param {Query} given
 * @param {Start} begin
 */
function complete(given, begin) {
  const start = typeof begin === "function" ? begin(given) : begin;
  /** @param {string} name */
  const isSaid = (name) =>
    given.has(name) ||
    (name === "gpus" && (given.has("dims") || fabricSays(given.get("fabric") ?? "", "gpus") !== undefined));
  return new Map([...[...start].filter(([name]) => !isSaid(name)), ...given]);
}

/**
 * @param {EnteredPreset[]} presets
 * @param {(chosen: [string, string][]) => void} onChoice
 */
function presetSelect(presets, onChoice) {
  if (!presets.length) return null;
  const entries = presets.map((preset, place) =>
    h("option", { value: place, title: preset.summary }, preset.summary || preset.name),
  );
  const select = h("select", { id: "preset" }, h("option", { value: "" }, "An example…"), entries);
  select.addEventListener("change", () => {
    if (select.value !== "") onChoice(Object.entries(presets[Number(select.value)].options));
    select.value = "";
  });
  return h("div", { class: "field full" }, h("label", { for: "preset" }, "Start from"), select);
}
