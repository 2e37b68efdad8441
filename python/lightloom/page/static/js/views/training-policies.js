// Training: the policies of an iteration, compared by their times.

import { bars } from "../charts/bars.js";
import { h } from "../dom.js";
import { isKnown, time } from "../quantities.js";
import { registry } from "../registries.js";
import { table } from "../tables.js";

/** @import { Bar } from "../charts/bars.js" */
/** @import { Part } from "../charts/terms.js" */
/** @import { Child } from "../dom.js" */
/** @import { Training } from "../types.js" */

// In addition to the policies of circuits: a packet switch that joins all pairs at once, which is no plan of circuits.
const IDEAL = "packet-switch";

/**
 * Policies that can serve the iteration, with its time; the fastest first.
 *
 * @param {Training} training
 */
function served(training) {
  const known = Object.entries(training.policies).filter(([, seconds]) => isKnown(seconds));
  return /** @type {[name: string, seconds: number][]} */ (known).sort((one, other) => one[1] - other[1]);
}

/** @param {Training} training */
const bestOf = (training) => served(training).find(([name]) => name !== IDEAL)?.[1] ?? NaN;

export function policyLegend() {
  /** @type {(term: Part, words: string) => Child} */
  const item = (term, words) => h("li", {}, h("span", { class: `swatch term-${term}` }), words);
  return h(
    "ul",
    { class: "legend" },
    item("compute", "computation"),
    item("transmission", "communication that it does not hide"),
  );
}

/**
 * @param {Training} training
 * @param {number} width
 */
export function policyBars(training, width) {
  /** @type {Bar[]} */
  const rows = served(training).map(([name, seconds]) => {
    const compute = Math.min(seconds, training.compute_s);
    return {
      name: policyTitle(name),
      total_s: seconds,
      compute_s: compute,
      transmission_s: seconds - compute,
      chosen: name === training.policy,
    };
  });
  return bars({
    rows,
    width,
    bound: training.lower_bound_s,
    best: bestOf(training),
    terms: ["compute", "transmission"],
    label: `Iteration times: ${rows.map((row) => `${row.name} ${time(row.total_s)}`).join(", ")}`,
  });
}

/** @param {Training} training */
export function policyTable(training) {
  const best = bestOf(training);
  const rows = Object.entries(training.policies).map(([name, seconds]) => ({
    chosen: name === training.policy,
    cells: [
      policyTitle(name),
      isKnown(seconds) ? time(seconds) : "cannot serve it",
      isKnown(seconds) ? `${(seconds / best).toFixed(3)}×` : "–",
      whatItDoes(training, name),
    ],
  }));
  return table({
    caption: "Iteration time by policy",
    columns: [
      { head: "Policy" },
      { head: "Iteration", right: true },
      { head: "Over the best", right: true },
      { head: "What it does", words: true },
    ],
    rows,
  });
}

/**
 * What people call a policy.
 *
 * @param {string} name
 */
export const policyTitle = (name) =>
  name === IDEAL ? "ideal packet switch" : (registry("policies").find((policy) => policy.name === name)?.title ?? name);

/**
 * The outcome of a policy; for one that cannot serve the iteration, its meaning.
 *
 * @param {Training} training
 * @param {string} name
 */
function whatItDoes(training, name) {
  const said =
    training.policy_notes[name] ?? registry("policies").find((policy) => policy.name === name)?.summary ?? "";
  return name === IDEAL ? `for reference: ${said}` : said;
}
