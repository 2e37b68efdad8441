// Which training job: a description of a model that ships, or a workload as JSON.

import { Refusal, wordsOf } from "../api.js";
import { freshId, h, replace } from "../dom.js";
import { counted } from "../quantities.js";
import { registry } from "../registries.js";

/** @import { Change } from "../form.js" */
/** @import { Body, Workload } from "../types.js" */
/** @import { Extras } from "./scaffold.js" */

const OWN = "pasted";

const EXAMPLE = '{"schema": "lightloom.workload/1", "ranks": 8, …}';

/**
 * A change of the form; isOther: to another job; isOwn: to a workload of one's own.
 *
 * @typedef {Change & {isOther?: boolean, isOwn?: boolean}} JobChange
 */

/**
 * Fields of the job, as `Scaffold` takes them; workload: the server's request for it; planned: says on how many ranks it
 * was planned, where these are not the job's own; leftOut: says which ranks the job that was chosen does not take.
 *
 * @typedef {Extras & {
 *   workload: () => Body, planned: (workload: Workload, hasOther: boolean) => void, leftOut: (words: string) => void,
 * }} JobFields
 */

/**
 * The fields of the job.
 *
 * @param {(change: JobChange) => void} onChange
 * @returns {JobFields}
 */
export function workloadFields(onChange) {
  const { before, field, left, select, summary, text, wrong } = jobElements();

  function follow() {
    field.hidden = select.value !== OWN;
    const entry = registry("models").find(({ name }) => name === select.value);
    replace(summary, entry?.summary ?? "");
  }

  /** @param {string} words */
  function say(words) {
    wrong.hidden = !words;
    replace(wrong, words);
    if (words) text.setAttribute("aria-invalid", "true");
    else text.removeAttribute("aria-invalid");
  }

  select.addEventListener("change", () => {
    follow();
    replace(left);
    onChange({ draft: false, isOther: true, isOwn: select.value === OWN });
  });
  text.addEventListener("input", () => onChange({ draft: true }));
  return {
    before,
    names: ["model", "workload"],
    values: () =>
      select.value === OWN
        ? [
            ["model", OWN],
            ["workload", text.value],
          ]
        : [["model", select.value]],
    set(query) {
      const wanted = query.get("model") ?? "";
      if (![...select.options].some((option) => option.value === wanted) && wanted)
        select.append(h("option", { value: wanted }, wanted));
      if (wanted) select.value = wanted;
      const pasted = query.get("workload");
      if (pasted !== undefined) text.value = pasted;
      follow();
    },
    wrong(option, words) {
      if (!["workload", "model"].includes(option) || field.hidden) return false;
      say(words);
      return true;
    },
    right: () => say(""),
    leftOut: (words) => replace(left, words),
    planned(workload, hasOther) {
      follow();
      if (hasOther) replace(summary, `${summary.textContent}, as it comes. Planned here: ${ranksWords(workload)}.`);
    },
    workload() {
      if (select.value !== OWN) return { model: select.value };
      if (!text.value.trim())
        throw new Refusal("Paste a workload: JSON of schema lightloom.workload/1.", { field: "workload", status: 422 });
      try {
        return { workload: JSON.parse(text.value) };
      } catch (error) {
        throw new Refusal(`It is not JSON: ${wordsOf(error)}`, { field: "workload", status: 422 });
      }
    },
  };
}

/**
 * `64 ranks (tp 8 · dp 2 · pp 4)`.
 *
 * @param {Workload} workload
 */
function ranksWords({ ranks, mesh = {} }) {
  const axes = Object.entries(mesh).map(([axis, size]) => `${axis} ${size}`);
  return `${counted(ranks, "rank")}${axes.length ? ` (${axes.join(" · ")})` : ""}`;
}

function jobElements() {
  const ids = { select: freshId("model"), text: freshId("workload"), wrong: freshId("wrong") };
  const entries = registry("models").map(({ name, summary }) =>
    h("option", { value: name, title: summary || null }, name),
  );
  const select = h("select", { id: ids.select }, entries, h("option", { value: OWN }, "A workload of your own (JSON)"));
  const summary = h("p", { class: "quiet" });
  const left = h("p", { class: "quiet", role: "status" });
  const described = { "aria-describedby": ids.wrong, placeholder: EXAMPLE };
  const text = h("textarea", { id: ids.text, spellcheck: "false", ...described });
  const wrong = h("span", { class: "wrong", id: ids.wrong, hidden: true });
  const label = h("label", { for: ids.text }, "Workload");
  const field = h("div", { class: "field full", hidden: true }, label, text, wrong);
  const job = h("div", { class: "field full" }, h("label", { for: ids.select }, "Training job"), select, summary, left);
  return { before: h("div", { class: "fields" }, job, field), field, left, select, summary, text, wrong };
}
