// Two plans of one problem compared: a sentence, and the rows of a table.

import { headOf, shownTerms, termOf } from "../charts/terms.js";
import { labelOf, optionsOf, otherwiseOf } from "../options.js";
import { busFactor, counted, delayOf, digits, islandsOf, rates, shortTime, time, times } from "../quantities.js";

/** @import { Query } from "../address.js" */
/** @import { Plan, Term } from "../types.js" */

/**
 * A row: its name, both values, the second compared with the first, and whether the second is better.
 *
 * @typedef {{name: string, values: [string, string], words: string, verdict: "better" | "worse" | "other" | "same"}} Difference
 */

// Below this, two times are said to be equal.
const EQUAL = 1e-9;

/**
 * `reconfiguration delay 1ms, ports 4`: options that differ, as one of the two has them.
 *
 * @param {Query} query
 * @param {Query} others
 */
export function settingWords(query, others) {
  const fabric = query.get("fabric") ?? "";
  const words = [...others.keys()].flatMap((name) => {
    const option = optionsOf("plan").find((each) => each.name === name);
    if (!option) return [];
    const label = labelOf(option);
    const value = query.get(name) || otherwiseOf(option, name === "fabric" ? "" : fabric) || "none";
    return [`${label === "GPUs" ? label : label.toLowerCase()} ${value}`];
  });
  return words.join(", ");
}

/**
 * The sum of a term over a plan's steps.
 *
 * @param {Plan} plan
 * @param {Term} term
 */
const sumOf = (plan, term) => plan.steps.reduce((sum, step) => sum + termOf(step, term), 0);

/**
 * Which of the two is faster, and by which term.
 *
 * @param {[Plan, Plan]} plans
 * @param {[string, string]} names
 */
export function sentenceOf(plans, names) {
  const [one, other] = plans;
  const ratio = other.total_s / one.total_s;
  const isLike = one.reconfigurations === other.reconfigurations;
  const changes = isLike
    ? `Each has ${changesOf(one)}.`
    : `The first has ${changesOf(one)}, the second ${changesOf(other)}.`;
  if (Math.abs(ratio - 1) < EQUAL)
    return `It takes ${time(one.total_s)}, with ${names[0]} as with ${names[1]}. ${changes}`;
  const [fast, slow] = ratio > 1 ? [0, 1] : [1, 0];
  const gain = times(Math.max(ratio, 1 / ratio));
  const takes = `With ${names[fast]} it takes ${time(plans[fast].total_s)}, ${gain} as fast as with ${names[slow]}`;
  const most = shownTerms(plans.flatMap(({ steps }) => steps))
    .map((term) => ({ term, saved_s: sumOf(plans[slow], term) - sumOf(plans[fast], term) }))
    .sort((a, b) => b.saved_s - a.saved_s)[0];
  const saves = `It saves most in ${most.term}: ${time(most.saved_s)}`;
  return `${takes}, ${time(plans[slow].total_s)}. ${saves}. ${changes}`;
}

/** @param {Plan} plan */
const changesOf = ({ reconfigurations: count }) => (count ? counted(count, "reconfiguration") : "no reconfiguration");

/**
 * Two numbers. better: which is, where one is.
 *
 * @param {string} name
 * @param {[number, number]} numbers
 * @param {(value: number) => string} words
 * @param {"less" | "more" | ""} better
 * @returns {Difference}
 */
function numbers(name, [one, other], words, better = "less") {
  /** @type {[string, string]} */
  const values = [words(one), words(other)];
  if (Math.abs(other - one) <= EQUAL * Math.max(one, other))
    return { name, values, words: "the same", verdict: "same" };
  const is = other < one ? "less" : "more";
  const by = one > 0 && other > 0 ? times(other / one) : is;
  if (!better) return { name, values, words: by, verdict: "other" };
  const verdict = is === better ? "better" : "worse";
  return { name, values, words: `${by}, ${verdict}`, verdict };
}

/**
 * Two names.
 *
 * @param {string} name
 * @param {[string, string]} values
 * @returns {Difference}
 */
const names = (name, values) =>
  values[0] === values[1]
    ? { name, values, words: "the same", verdict: "same" }
    : { name, values, words: "another", verdict: "other" };

/**
 * What differs in the fabrics.
 *
 * @param {[Plan, Plan]} plans
 */
function fabricsOf([one, other]) {
  /** @type {(name: string, of: (plan: Plan) => string) => Difference} */
  const row = (name, of) => names(name, [of(one), of(other)]);
  return [
    numbers("GPUs", [one.gpus, other.gpus], String, ""),
    numbers("Ports", [one.fabric.ports, other.fabric.ports], String, ""),
    row("Bandwidth of a port", ({ fabric }) => rates(fabric)),
    row("Startup of a step", ({ fabric }) => shortTime(fabric.startup_s)),
    row("Hop delay", ({ fabric }) => shortTime(fabric.hop_delay_s)),
    row("Reconfiguration delay", ({ fabric }) => delayOf(fabric)),
    row("Islands", ({ fabric }) => islandsOf(fabric)),
    row("Optical layer", ({ fabric }) => fabric.optics ?? "none"),
  ].filter(({ verdict }) => verdict !== "same");
}

/**
 * Everything that is compared.
 *
 * @param {[Plan, Plan]} plans
 * @returns {Difference[]}
 */
export function differencesOf(plans) {
  /** @type {<Value>(of: (plan: Plan) => Value) => [Value, Value]} */
  const both = (of) => [of(plans[0]), of(plans[1])];
  /** @param {Plan} plan */
  const busbw = (plan) => ((plan.size_bytes / plan.total_s) * busFactor(plan.collective, plan.gpus)) / 1e9;
  return [
    numbers(
      "Time",
      both((plan) => plan.total_s),
      time,
    ),
    ...shownTerms(plans.flatMap(({ steps }) => steps)).map((term) =>
      numbers(
        headOf(term),
        both((plan) => sumOf(plan, term)),
        time,
      ),
    ),
    numbers(
      "Lower bound",
      both((plan) => plan.lower_bound_s),
      time,
      "",
    ),
    numbers(
      "Time over the bound",
      both((plan) => plan.total_s / plan.lower_bound_s),
      times,
      "",
    ),
    numbers("Bus bandwidth", both(busbw), (value) => `${digits(value)} GB/s`, "more"),
    numbers(
      "Steps",
      both((plan) => plan.steps.length),
      String,
      "",
    ),
    numbers(
      "Reconfigurations",
      both((plan) => plan.reconfigurations),
      String,
      "",
    ),
    names(
      "Algorithm",
      both((plan) => plan.algorithm),
    ),
    names(
      "Planner",
      both((plan) => plan.planner),
    ),
    ...fabricsOf(plans),
  ];
}
