// What all views with a form share: the form beside the result, the address, the newest calculation, code.

import { addressOf, restate, show } from "../address.js";
import { Refusal } from "../api.js";
import { codes } from "../codes.js";
import { append, h, replace } from "../dom.js";
import { foldOf } from "../fold.js";
import { fieldsOf } from "../form.js";
import { bodyOf, fabricSays, kept, optionsOf, presetsOf } from "../options.js";
import { notice, Work } from "../work.js";
import { lackOf } from "./address-lacks.js";
import { problemWords } from "./problem-words.js";

const TYPING_MS = 180;
const START = new Map([["collective", "all-reduce"], ["size", "1MiB"], ["gpus", "64"]]);

/**
 * A view with a form.
 *
 * root: where it goes. view: its path. verb: whose options it has. title, lead: what it is for. first: options that are
 * shown unfolded. presets: verbs whose presets it offers. start: query of the problem that it begins with, or a function
 * that makes it of what the address says. extras:
 * `{element, names, values(), set(query), wrong(field, words)}`, form parts beside the options. compute: async function
 * of `(query, signal)` that shows the result. code: `[verb, body]` of a query where it is not the verb with its options.
 *
 * Returns `{result, work, form, query(), code(), changed(change), show(query, lost), leave()}`.
 */
export function scaffold({ root, view, verb, title, lead, first, presets = [verb], start = START, extras = null, options = optionsOf(verb), compute, code }) {
  const [hint, notices, busy] = [h("p", { class: "hint", "aria-hidden": "true" }), h("div", { class: "notices" }), h("span", { class: "busy" })];
  const result = h("div", { class: "result" });
  const asCode = codes();
  let query = new Map();
  // What was last computed, or is.
  let asked = null;
  // Names of values that the address was too short for: nothing is computed until something is entered; and of those
  // that were left out then.
  let lost = [];
  let left = [];
  let reading = Promise.resolve();
  const form = fieldsOf({ options, first, onChange: changed, hint });
  replace(hint, "What an option means is said here.");
  const preset = presetSelect(presetsOf(...presets), (chosen) => {
    set(new Map(chosen));
    changed({ draft: false });
  });
  const element = h(
    "form", { "aria-label": title, onsubmit: (event) => event.preventDefault() }, preset, extras?.before, form.element, extras?.element,
  );
  const heading = h("h1", {}, title);
  const aside = h("aside", { class: "form", "aria-label": "Problem" }, heading, h("p", { class: "lead" }, lead), element, hint);
  const lack = h("div", { class: "notices" });
  const main = h("main", { id: "result", tabindex: -1 }, busy, notices, lack, result, asCode.element);
  const fold = foldOf({ holder: aside, part: element, words: "Change", done: "Show the result", next: () => main });
  heading.after(fold.button);
  aside.append(fold.end);
  append(root, [aside, main]);
  document.title = titleOf(new Map(), title);
  const work = new Work({
    notices, busy, result,
    wrong(field, words) {
      const isSaid = form.wrong(field, words) || extras?.wrong?.(field, words) || false;
      if (isSaid) fold.unfold();
      return isSaid;
    },
    right: () => {
      form.right();
      extras?.right?.();
    },
  });
  const names = extras?.names ?? [];

  function values() {
    return new Map([...form.values(), ...(extras?.values() ?? [])]);
  }

  function set(next) {
    query = next;
    form.set(query);
    extras?.set(query);
  }

  /** Says the problem where it is said beside the form. */
  function spread() {
    fold.say(problemWords(query));
    carry(query);
  }

  function tell(held) {
    if (!held) return;
    const without = `This is without the ${left.join(" and the ")} that the address was made with: it was too short for that.`;
    replace(lack, left.length ? notice("", without) : lackOf(held, query));
  }

  function changed({ draft }) {
    query = values();
    left = [...left, ...lost].filter((name) => !query.get(name));
    lost = [];
    show(view, kept(verb, query, names), { draft }).then(tell);
    spread();
    // A field that is left says once more what was typed into it.
    if (draft || work.hasFailed || !isSame(query, asked)) run(draft ? TYPING_MS : 0);
  }

  function run(delay) {
    asked = new Map(query);
    const problem = asked;
    work.run(
      async (signal) => {
        for (const name of lost) {
          if (!problem.get(name)) throw new Refusal("The address was too short for what stood here: paste it again.", { field: name, status: 422 });
        }
        await compute(problem, signal);
        document.title = titleOf(problem, title);
        reading = asCode.show(...(code?.(problem) ?? [verb, bodyOf(verb, problem)]));
      },
      { delay },
    );
  }

  return {
    result, work, form,
    query: () => new Map(query),
    code: () => reading,
    /**
     * Shows an address's query: what it leaves open of the problem is the start's. told, hasLost: of the address, as
     * `here` tells them.
     */
    show(told, hasLost = []) {
      const given = kept(verb, told, names);
      const full = complete(given, start);
      set(full);
      query = values();
      lost = hasLost ?? [];
      left = [];
      replace(lack, hasLost ? null : notice("bad", "What is packed in this address is cut off or damaged, and left out."));
      if (!lost.length && hasLost) restate(view, full).then(tell);
      spread();
      run(0);
    },
    changed,
    leave: () => work.stop(),
  };
}

function isSame(one, other) {
  return other !== null && one.size === other.size && [...one].every(([name, value]) => other.get(name) === value);
}

/** `all-reduce, 1MiB, 64 GPUs – Plan – Lightloom`: what a window or a bookmark is called. */
function titleOf(query, view) {
  const gpus = query.get("gpus");
  const parts = [query.get("model") ?? query.get("collective"), query.get("size"), gpus && `${gpus} GPUs`];
  return [parts.filter(Boolean).join(", "), view, "Lightloom"].filter(Boolean).join(" – ");
}

/** The start's options where the problem itself is not given. */
function complete(given, begin) {
  const start = typeof begin === "function" ? begin(given) : begin;
  const isSaid = (name) => given.has(name) || (name === "gpus" && (given.has("dims") || fabricSays(given.get("fabric"), "gpus") !== undefined));
  return new Map([...[...start].filter(([name]) => !isSaid(name)), ...given]);
}

function presetSelect(presets, onChoice) {
  if (!presets.length) return null;
  const entries = presets.map((preset, place) => h("option", { value: place, title: preset.summary }, preset.summary || preset.name));
  const select = h("select", { id: "preset" }, h("option", { value: "" }, "An example…"), entries);
  select.addEventListener("change", () => {
    if (select.value !== "") onChoice(Object.entries(presets[Number(select.value)].options));
    select.value = "";
  });
  return h("div", { class: "field full" }, h("label", { for: "preset" }, "Start from"), select);
}

/** Links of the header take the problem with them. */
function carry(query) {
  for (const link of document.querySelectorAll(".views a")) {
    const other = link.dataset.view;
    if (other === "results") continue;
    link.setAttribute("href", addressOf(other, kept(other === "training" ? "train" : other === "compare" ? "compare" : "plan", query)));
  }
}
