// Training: whether circuits that change pay for an iteration, in a sentence.

import { isKnown, time, times } from "../quantities.js";
import { policyTitle } from "./training-policies.js";

/** @import { Training } from "../types.js" */

// The policy whose circuits are the best of those that never change.
const FIXED = "one-shot";
// Gains below this are none.
const LEAST_GAIN = 1.001;

/**
 * The iteration's time next to that with the best circuits that never change, and what ranks wait for circuits.
 *
 * @param {Training} training
 */
export function verdictWords(training) {
  const { total_s: total, policies, policy, reconfiguration_exposed_s: exposed } = training;
  const fixed = policies[FIXED];
  const waits = exposed > 0 ? ` Waiting for circuits takes ${time(exposed)} of it.` : "";
  if (!isKnown(fixed))
    return `Circuits that never change cannot serve this job; with circuits that change an iteration takes ${time(total)}.${waits}`;
  const best = `the ${policyTitle(FIXED)}`;
  if (policy === FIXED) return `An iteration takes ${time(total)} with ${best}, which never change.`;
  const gain = fixed / total;
  if (gain >= LEAST_GAIN)
    return `Changing circuits pays: an iteration takes ${time(total)}, ${times(gain)} as fast as with ${best}, which never change (${time(fixed)}).${waits}`;
  return gain > 1 / LEAST_GAIN
    ? `Changing circuits saves nothing here: ${best}, which never change, take ${time(fixed)} for an iteration, too.`
    : `An iteration takes ${time(total)} by policy ${policyTitle(policy)}, longer than the ${time(fixed)} with ${best}, which never change.`;
}
