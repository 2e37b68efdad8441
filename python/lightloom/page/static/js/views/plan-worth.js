// Whether changing circuits is worth it: a plan compared with the best one whose circuits never change.

import { ask, Refusal } from "../api.js";
import { PAYS } from "../map-words.js";
import { NEVER_CHANGE } from "../options.js";
import { counted, shortTime, time, times } from "../quantities.js";

/** @import { Body, Plan } from "../types.js" */

// Options that leave fewer plans to choose from than the problem does.
export const NARROWING = ["planner", "algorithm", "topology", "candidates"];

/**
 * `planner static, topology ring`: these options in words; empty if none is given.
 *
 * @param {Body} body
 */
export const narrowingWords = (body) =>
  NARROWING.filter((name) => name in body)
    .map((name) => `${name} ${body[name]}`)
    .join(", ");

/**
 * A sentence on a plan; empty where there is nothing to compare it with. body: options that it was planned with.
 *
 * @param {Plan} plan
 * @param {Body} body
 * @param {AbortSignal} signal
 */
export async function worthOf(plan, body, signal) {
  const asSet = narrowingWords(body);
  if (plan.reconfigurations > 0) return worthOfChanges(plan, body, asSet, signal);
  const delay = plan.fabric.reconfiguration_delay_s;
  if (!delay) return "";
  const start = `With a delay of ${shortTime(delay)}, changing circuits does not pay here:`;
  if (!asSet) return `${start} the best plan leaves them as they are.`;
  const free = await ask("/api/plan", without(body, NARROWING), { signal });
  const ratio = plan.total_s / free.total_s;
  if (ratio < PAYS) return `${start} no plan is a hundredth faster than this one with ${asSet}.`;
  const does = free.reconfigurations ? `changes them ${often(free)}` : "leaves them so too";
  const best = `the best plan of all ${does} and is ${times(ratio)} as fast: ${taking(free)}`;
  return `With ${asSet} circuits stay as they are; ${best}.`;
}

/**
 * @param {Plan} plan
 * @param {Body} body
 * @param {string} asSet
 * @param {AbortSignal} signal
 */
async function worthOfChanges(plan, body, asSet, signal) {
  const still = await planOfFixed(body, signal);
  // From a start that does not join all GPUs no plan leaves circuits as they are.
  if (!still) return "";
  const ratio = still.total_s / plan.total_s;
  const others = `circuits that never change, which take ${taking(still)}`;
  if (asSet && ratio < 1) {
    const takes = `with ${asSet} it takes ${times(1 / ratio)} as long as ${others}`;
    return `Changing circuits ${often(plan)} does not pay here: ${takes}.`;
  }
  if (ratio < PAYS) return `Changing circuits ${often(plan)} saves less than a hundredth here over ${others}.`;
  return `Changing circuits ${often(plan)} makes it ${times(ratio)} as fast as ${others}.`;
}

/**
 * The best plan of the problem whose circuits never change, over all algorithms; null if there is none.
 *
 * @param {Body} body
 * @param {AbortSignal} signal
 */
export async function planOfFixed(body, signal) {
  try {
    return await ask("/api/plan", { ...without(body, NARROWING), planner: NEVER_CHANGE }, { signal });
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

/**
 * `113.7 µs (composed)`.
 *
 * @param {Plan} plan
 */
const taking = (plan) => `${time(plan.total_s)} (${plan.algorithm})`;

/** @param {Plan} plan */
const often = ({ reconfigurations: count }) => (count === 1 ? "once" : count === 2 ? "twice" : counted(count, "time"));

/**
 * @param {Body} body
 * @param {string[]} names
 * @returns {Body}
 */
export const without = (body, names) =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)));
