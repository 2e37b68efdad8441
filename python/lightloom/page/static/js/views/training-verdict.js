// Training: whether circuits that change pay for an iteration, in a sentence.

import { isKnown, time, times } from "../quantities.js";
import { policyTitle } from "./training-policies.js";

/** @import { Training } from "../types.js" */

// The policy whose circuits are the best of those that never change.
export const FIXED = "one-shot";
// Gains below this are none.
const LEAST_GAIN = 1.001;

/**
 * The iteration's time next to that with the best circuits that never change, and what ranks wait for circuits.
 *
 * @param {Training} training
 */
export function verdictWords(training) {
  const { total_s: total, lower_bound_s: bound, policies, policy, reconfiguration_exposed_s: exposed } = training;
  const fixed = policies[FIXED];
  const waits = exposed > 0 ? ` Waiting for circuits takes ${time(exposed)} of it.` : "";
  if (!isKnown(fixed))
    return `Circuits that never change cannot serve this job; with circuits that change an iteration takes ${time(total)}.${waits}`;
  const best = `the ${policyTitle(FIXED)}`;
  // A plan takes as long or longer where circuits change more slowly, so the bound holds there, too.
  const proof = neverPays(fixed, bound);
  const never = proof && ` No reconfiguration delay pays that is this long or longer: ${proof}.`;
  if (policy === FIXED) return `An iteration takes ${time(total)} with ${best}, which never change.${never}`;
  const gain = fixed / total;
  if (gain >= LEAST_GAIN)
    return `Changing circuits pays: an iteration takes ${time(total)}, ${times(gain)} as fast as with ${best}, which never change (${time(fixed)}).${waits}`;
  return gain > 1 / LEAST_GAIN
    ? `Changing circuits saves nothing here: ${best}, which never change, take ${time(fixed)} for an iteration, too.${never}`
    : `An iteration takes ${time(total)} by policy ${policyTitle(policy)}, longer than the ${time(fixed)} with ${best}, which never change.`;
}

/**
 * Why no circuits that change pay, where the bound proves it; else an empty text.
 *
 * @param {number} fixed seconds with circuits that never change
 * @param {number} bound seconds
 */
export const neverPays = (fixed, bound) =>
  fixed < bound * LEAST_GAIN ? `circuits that never change are within ${shareOf(fixed / bound - 1)} of the bound` : "";

/**
 * `0.0021 %`, rounded up.
 *
 * @param {number} share
 */
function shareOf(share) {
  const percent = 100 * Math.max(share, 1e-6);
  const unit = 10 ** (Math.floor(Math.log10(percent)) - 1);
  return `${Number((Math.ceil(percent / unit) * unit).toPrecision(2))} %`;
}
