// Whether changing circuits is worth it: a plan beside the best one of circuits that never change.

import { ask } from "../api.js";
import { FOREVER } from "../map-fixed.js";
import { PAYS } from "../map-words.js";
import { counted, shortTime, time, times } from "../quantities.js";

// What leaves fewer plans to choose from than the problem does.
const NARROWING = ["planner", "algorithm", "topology", "candidates"];

/** `planner static, topology ring`: what these options leave out of plans; empty where they leave out none. */
export const narrowingWords = (body) => NARROWING.filter((name) => name in body).map((name) => `${name} ${body[name]}`).join(", ");

/** A sentence on a plan. body: the options that it was planned with. Empty where there is nothing to compare it with. */
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
  const best = `the best plan of all ${free.reconfigurations ? `changes them ${often(free)}` : "leaves them so too"} and is ${times(ratio)} as fast: ${taking(free)}`;
  return `With ${asSet} circuits stay as they are; ${best}.`;
}

async function worthOfChanges(plan, body, asSet, signal) {
  const still = await planOfFixed(body, signal);
  // A planner that always changes circuits has no plan without.
  if (!still) return "";
  const ratio = still.total_s / plan.total_s;
  const others = `circuits that never change, which take ${asSet ? `${time(still.total_s)} with ${asSet}` : taking(still)}`;
  if (ratio < PAYS) return `Changing circuits ${often(plan)} saves less than a hundredth here over ${others}.`;
  return `Changing circuits ${often(plan)} makes it ${times(ratio)} as fast as ${others}.`;
}

/** The plan of the options on circuits that never change; null where these options have none. */
export async function planOfFixed(body, signal) {
  const still = await ask("/api/plan", { ...body, "reconfiguration-delay": FOREVER }, { signal });
  return still.reconfigurations === 0 ? still : null;
}

/** `113.7 µs (composed, planner weave)`. */
export const taking = (plan) => `${time(plan.total_s)} (${plan.algorithm}, planner ${plan.planner})`;

const often = ({ reconfigurations: count }) => (count === 1 ? "once" : count === 2 ? "twice" : counted(count, "time"));

const without = (body, names) => Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)));
