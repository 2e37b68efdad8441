// Whether changing circuits is worth it: a plan beside the best one of circuits that never change.

import { ask } from "../api.js";
import { FOREVER } from "../map-fixed.js";
import { counted, shortTime, time, times } from "../quantities.js";

/** A sentence on a plan. body: the options that it was planned with. Empty where there is nothing to compare it with. */
export async function worthOf(plan, body, signal) {
  const delay = plan.fabric.reconfiguration_delay_s;
  if (plan.reconfigurations === 0) {
    return plan.steps.length > 1 && delay ? `With a delay of ${shortTime(delay)}, changing circuits does not pay here: the best plan leaves them as they are.` : "";
  }
  const still = await ask("/api/plan", { ...body, "reconfiguration-delay": FOREVER }, { signal });
  // A planner that always changes circuits has no plan without.
  if (still.reconfigurations > 0) return "";
  const changes = plan.reconfigurations === 1 ? "once" : plan.reconfigurations === 2 ? "twice" : counted(plan.reconfigurations, "time");
  return `Changing circuits ${changes} makes it ${times(still.total_s / plan.total_s)} as fast as circuits that never change, which take ${time(still.total_s)} (${still.algorithm}, planner ${still.planner}).`;
}
