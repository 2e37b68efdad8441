// A plan in five numbers, and the problem that it answers.

import { h } from "../dom.js";
import { aboveBound, busFactor, counted, digits, fabricWords, size, timeParts } from "../quantities.js";
import { quantity } from "../tables.js";

/** @import { Child } from "../dom.js" */
/** @import { Plan } from "../types.js" */

/**
 * The problem of a plan, a sentence.
 *
 * @param {Plan} plan
 */
export const problemOf = (plan) =>
  `${plan.collective} of ${size(plan.size_bytes)} on ${plan.gpus} GPUs, ${fabricWords(plan.fabric)}`;

/**
 * Time, bound, bandwidth, reconfigurations, and what was chosen.
 *
 * @param {Plan} plan
 */
export function headline(plan) {
  const algbw = plan.size_bytes / plan.total_s;
  /** @type {(name: string, value: Child, under: string, isFirst?: boolean) => Child} */
  const item = (name, value, under, isFirst = false) =>
    h(
      "div",
      { class: isFirst ? "first" : null },
      h("dt", {}, name),
      h("dd", {}, value),
      h("dd", { class: "under" }, under),
    );
  const most = plan.steps.length - 1;
  return h(
    "dl",
    { class: "headline", "aria-label": "Result" },
    item("Time", quantity(timeParts(plan.total_s)), `in ${counted(plan.steps.length, "step")}`, true),
    item("Lower bound", quantity(timeParts(plan.lower_bound_s)), aboveBound(plan.total_s, plan.lower_bound_s)),
    item(
      "Bandwidth",
      quantity([digits(algbw / 1e9), "GB/s algbw"]),
      `${digits((algbw * busFactor(plan.collective, plan.gpus)) / 1e9)} GB/s busbw`,
    ),
    item(
      "Reconfigurations",
      String(plan.reconfigurations),
      plan.reconfigurations ? `of at most ${most}` : "circuits stay as they are",
    ),
    item("Chosen", plan.algorithm, `planner ${plan.planner}`),
  );
}
