// Explanations of the names in a plan: its topologies, its algorithm, its planner.

import { ask } from "../api.js";
import { h } from "../dom.js";
import { registry } from "../registries.js";

/** @import { Body, Plan } from "../types.js" */

// Topologies that are explained: more of them differ little from these.
const MOST = 8;
const UNKNOWN = "not described yet";

/**
 * Sentences on the plan's topologies, by their places in it. body: the options that it was planned with.
 *
 * @param {Body} body
 * @param {AbortSignal} signal
 */
export const explanationsOf = async (body, signal) => (await ask("/api/explain", body, { signal })).topologies;

/**
 * A list of names and their meanings; explanations: of the topologies, as far as they are known.
 *
 * @param {Plan} plan
 * @param {string[]} explanations
 */
export function namesOf(plan, explanations) {
  const named = [
    ["planner", "planners", plan.planner],
    ["algorithm", "algorithms", plan.algorithm],
  ].map(([what, kind, name]) => [`${what} ${name}`, registry(kind).find((entry) => entry.name === name)?.summary]);
  const topologies = new Map(
    plan.steps.map((step) => [plan.topologies[step.topology].name, explanations[step.topology] ?? UNKNOWN]),
  );
  return listOf(
    named.filter(([, words]) => words),
    topologies,
  );
}

/**
 * The topologies of circuits that never change, by name with their meanings.
 *
 * @param {{names: string[], topologies: string[]}} told
 */
export const topologyNames = ({ names, topologies }) =>
  listOf([], new Map(names.map((name, place) => [name, topologies[place]])));

/**
 * @param {(string | undefined)[][]} named
 * @param {Map<string, string>} topologies
 */
function listOf(named, topologies) {
  const entries = [...named, ...[...topologies].slice(0, MOST)];
  const more = topologies.size - MOST;
  return [
    h(
      "dl",
      { class: "names" },
      entries.map(([name, words]) => [h("dt", {}, name), h("dd", {}, words)]),
    ),
    more > 0
      ? h("p", { class: "quiet" }, more === 1 ? "And one more topology." : `And ${more} more topologies.`)
      : null,
  ];
}
