// Answers of the server about a plan: it is told the plan, or where that is long the options that gave it.

import { ask } from "./api.js";
import { isDemo } from "./site.js";

/** @import { AnswersOfPlan } from "./loads.js" */
/** @import { Body, Plan } from "./types.js" */

// Longest text of a plan that is sent along, so that it need not be planned again.
const LONGEST = 400_000;

/**
 * The server's answers about a plan. body: the options that it was planned with.
 *
 * @param {Plan} plan
 * @param {Body} body
 * @returns {AnswersOfPlan}
 */
export function serverAnswers(plan, body) {
  /** @type {Body} */
  const told = !isDemo && JSON.stringify(plan).length <= LONGEST ? { plan } : body;
  /** @type {Map<string, Promise<unknown>>} */
  const kept = new Map();
  return (path, more, signal) => {
    const asked = () => ask(path, { ...told, ...more }, { signal });
    // The ports of switches are shown in several places.
    if (path !== "/api/ports") return asked();
    const known = kept.get(path) ?? asked();
    kept.set(path, known);
    return /** @type {ReturnType<typeof asked>} */ (known);
  };
}
