// Training: an iteration in numbers, its policies, and its course in time.

import { widthOf } from "../charts/axes.js";
import { roleWords } from "../charts/roles.js";
import { Timeline } from "../charts/timeline.js";
import { h, replace } from "../dom.js";
import { aboveBound, fabricWords, shortTime, timeParts } from "../quantities.js";
import { cardWith, quantity } from "../tables.js";
import { communicationTable } from "./training-communications.js";
import { policyBars, policyLegend, policyTable, policyTitle } from "./training-policies.js";
import { verdictWords } from "./training-verdict.js";

/** @import { Child } from "../dom.js" */
/** @import { TimelineRow, Training } from "../types.js" */

/**
 * The elements of an iteration. measured: the element whose width drawings have, which `redraw` makes again.
 *
 * @param {Training} training
 */
export function iterationOf(training) {
  const policies = h("div", {});
  const timeline = training.timeline?.length ? timelineCard(training, training.timeline) : null;
  return {
    elements: [
      h("p", { class: "sentence" }, verdictWords(training)),
      headline(training),
      fabricLine(training),
      cardWith("Policies", [policyLegend()], policies, policyTable(training), h("div", { class: "names-of" })),
      timeline?.element,
    ],
    measured: policies,
    redraw() {
      replace(policies, policyBars(training, widthOf(policies)));
      timeline?.redraw();
    },
  };
}

/**
 * The activity of ranks, axes and ports.
 *
 * @param {Training} training
 * @param {TimelineRow[]} rows
 */
function timelineCard(training, rows) {
  const timeline = new Timeline({
    rows,
    end: training.total_s,
    label: "The iteration in time: ranks, axes and ports",
    describe: (row, box) => {
      const what = box.words || (box.role.startsWith("=") ? roleWords(box.role) : `${box.role} on ${row.name}`);
      return `${row.name}: ${what}, ${training.events[box.event].node}`;
    },
  });
  const parts = [timeline.element, communicationTable(training)];
  return { element: cardWith("The iteration in time", [timeline.legend], ...parts), redraw: () => timeline.redraw() };
}

/** @param {Training} training */
function headline(training) {
  /** @type {(name: string, value: Child, under: string, isFirst?: boolean) => Child} */
  const item = (name, value, under, isFirst = false) =>
    h(
      "div",
      { class: isFirst ? "first" : null },
      h("dt", {}, name),
      h("dd", {}, value),
      h("dd", { class: "under" }, under),
    );
  const { reconfiguration_hidden_s: hidden, reconfiguration_exposed_s: exposed } = training;
  return h(
    "dl",
    { class: "headline", "aria-label": "Result" },
    item(
      "An iteration",
      quantity(timeParts(training.total_s)),
      `${training.workload.name ?? "workload"} on ${training.workload.ranks} ranks, policy ${policyTitle(training.policy)}`,
      true,
    ),
    item(
      "Lower bound",
      quantity(timeParts(training.lower_bound_s)),
      aboveBound(training.total_s, training.lower_bound_s),
    ),
    item(
      "Computation",
      quantity(timeParts(training.compute_s)),
      `${Math.round((100 * training.compute_s) / training.total_s)} % of the iteration`,
    ),
    item(
      "Exposed communication",
      quantity(timeParts(training.exposed_communication_s)),
      "that computation does not hide",
    ),
    item(
      "Reconfigurations",
      (training.reconfigurations + changesWithin(training)).toLocaleString("en"),
      changesWords(training, hidden, exposed),
    ),
  );
}

/**
 * The number of changes within communications: before steps of their plans but the first.
 *
 * @param {Training} training
 */
export function changesWithin({ plans, events }) {
  const inside = plans.map((plan) => plan.steps.filter((step) => step.reconfigured && step.index > 0).length);
  return events.reduce((sum, event) => sum + (event.plan === null ? 0 : inside[event.plan]), 0);
}

/**
 * How many changes are between communications, hidden or waited for, and how many within them, in words.
 *
 * @param {Training} training
 * @param {number} hidden
 * @param {number} exposed
 */
function changesWords(training, hidden, exposed) {
  const { reconfigurations: between } = training;
  const within = changesWithin(training);
  if (!between) return within ? "all within communications" : "circuits stay as they are";
  const times = `${shortTime(hidden)} hidden, ${shortTime(exposed)} waited for`;
  return within
    ? `${between.toLocaleString("en")} between communications (${times}), ${within.toLocaleString("en")} within them`
    : times;
}

/** @param {Training} training */
function fabricLine(training) {
  const bound = `The bound holds for ${training.bound_class}.`;
  const ideal = "An ideal packet switch, which joins all pairs at once, is no plan of circuits and may take less.";
  return h("p", { class: "quiet" }, `${fabricWords(training.fabric)} ${bound} ${ideal}`);
}
