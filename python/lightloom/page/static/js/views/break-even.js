// Training: the policies of an iteration against the reconfiguration delay, computed when it is asked for.

import { ask, isAborted, wordsOf } from "../api.js";
import { widthOf } from "../charts/axes.js";
import { lineLegend, lines } from "../charts/lines.js";
import { announce, h, replace } from "../dom.js";
import { isKnown, shortTime, time, times } from "../quantities.js";
import { cardWith, table } from "../tables.js";
import { policyTitle } from "./training-policies.js";
import { neverPays } from "./training-verdict.js";

/** @import { Body, BreakEven } from "../types.js" */

// Policies whose circuits stay as they are, that of the best of all such circuits first.
const STILL = ["one-shot", "static"];

/**
 * Policies against the reconfiguration delay, computed when it is asked for.
 *
 * @param {Body} body
 */
export function breakEvenCard(body) {
  const place = h("div", {});
  const controller = new AbortController();
  /** @type {BreakEven | null} */
  let found = null;
  const button = h("button", { type: "button", onclick: start }, "Compute at delays from 1 µs to 10 ms");
  const element = cardWith("Up to which delay does changing circuits pay?", [], h("p", {}, button), place);

  async function start() {
    button.disabled = true;
    replace(button, "Computing…");
    try {
      const training = await ask("/api/train", { ...body, break_even: true }, { signal: controller.signal });
      found = training.break_even ?? null;
      button.parentElement?.remove();
      draw();
      if (found) announce(breakEvenWords(found));
    } catch (error) {
      if (isAborted(error)) return;
      replace(place, h("p", { class: "quiet", role: "alert" }, wordsOf(error)));
      replace(button, "Compute again");
      button.disabled = false;
    }
  }

  function draw() {
    if (!found) return;
    const series = Object.entries(found.policies_s)
      .filter(([, values]) => values.some(isKnown))
      .map(([name, values]) => ({ name: policyTitle(name), values }));
    const rows = found.delays_s.map((delay, at) => ({
      cells: [shortTime(delay), ...series.map(({ values }) => timeOrNone(values[at]))],
    }));
    replace(
      place,
      h("p", { class: "sentence" }, breakEvenWords(found)),
      lineLegend(series.map(({ name }) => name)),
      lines({
        xs: found.delays_s,
        series,
        width: widthOf(place),
        xTitle: "Reconfiguration delay",
        label: "Iteration time of every policy against the reconfiguration delay",
      }),
      h(
        "details",
        { class: "behind" },
        h("summary", {}, "As a table"),
        table({
          caption: "Iteration times by reconfiguration delay",
          columns: [{ head: "Delay" }, ...series.map(({ name }) => ({ head: name, right: true }))],
          rows,
        }),
      ),
    );
  }

  return { element, redraw: draw, leave: () => controller.abort() };
}

/** @param {number | null} seconds */
const timeOrNone = (seconds) => (isKnown(seconds) ? time(seconds) : "–");

/**
 * Up to which delay changing circuits pays, compared with the best circuits that stay as they are.
 *
 * @param {BreakEven} told
 */
function breakEvenWords({ delays_s: delays, policies_s: policies, lower_bounds_s: bounds }) {
  const other = STILL.find((name) => policies[name]?.some(isKnown));
  const [ours, still] = [policies.carry, policies[other ?? ""]];
  if (!ours || !other) return "Circuits that stay as they are cannot serve this iteration.";
  const served = delays.flatMap((delay, at) => {
    const [mine, theirs] = [ours[at], still[at]];
    return isKnown(mine) && isKnown(theirs) ? [{ delay, mine, theirs }] : [];
  });
  const last = served.findLast(({ mine, theirs }) => theirs > mine * 1.001)?.delay;
  const best = `the ${policyTitle(other)}`;
  const proof = isKnown(still[0]) && neverPays(still[0], bounds[0]);
  if (last === undefined && proof) return `No reconfiguration delay from ${shortTime(delays[0])} on pays: ${proof}.`;
  if (last === undefined) return `Changing circuits saves nothing over ${best} here, however fast they change.`;
  const gain = Math.max(...served.map(({ mine, theirs }) => theirs / mine));
  const until = last === delays.at(-1) ? `at all delays up to ${shortTime(last)}` : `up to ${shortTime(last)}`;
  const saved =
    gain < 1.1
      ? `it saves up to ${(100 * (1 - 1 / gain)).toPrecision(2)} % of the iteration over ${best}`
      : `the iteration is up to ${times(gain)} as fast as with ${best}`;
  return `Changing circuits pays ${until}: ${saved}.`;
}
