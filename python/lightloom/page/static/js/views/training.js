// Training: one iteration of a training job, its policies compared, its course in time.

import { ask } from "../api.js";
import { onRedraw, widthOf } from "../charts/axes.js";
import { roleWords } from "../charts/roles.js";
import { Timeline } from "../charts/timeline.js";
import { announce, h, replace } from "../dom.js";
import { downloads, fromServer, json } from "../downloads.js";
import { bodyOf, optionsOf, startOf } from "../options.js";
import { aboveBound, counted, fabricWords, shortTime, time, timeParts } from "../quantities.js";
import { cardWith, quantity } from "../tables.js";
import { breakEvenCard } from "./break-even.js";
import { Scaffold } from "./scaffold.js";
import { communicationTable } from "./training-communications.js";
import { policyBars, policyLegend, policyTable, policyTitle } from "./training-policies.js";
import { verdictWords } from "./training-verdict.js";
import { workloadFields } from "./training-workload.js";

/** @import { Query } from "../address.js" */
/** @import { Child } from "../dom.js" */
/** @import { Body, TimelineRow, Training } from "../types.js" */
/** @import { JobFields } from "./training-workload.js" */

const FIRST = ["ranks", "reconfiguration-delay", "ports", "bandwidth", "policy"];
/**
 * Makes the view.
 *
 * @param {HTMLElement} root
 */
export function mount(root) {
  let end = () => {};
  const extras = workloadFields((change) => {
    // Another job has ranks of its own.
    if (change.isOther) frame.form.set(new Map([...frame.query()].filter(([name]) => name !== "ranks")));
    frame.changed(change);
  });
  const frame = new Scaffold({
    root,
    view: "training",
    verb: "train",
    title: "Training",
    first: FIRST,
    presets: ["train"],
    extras,
    start: (given) => (given.has("model") ? new Map() : startOf("train")),
    options: optionsOf("train").filter((option) => !extras.names.includes(option.name)),
    lead: "One iteration of a training job: all its collectives planned together, and when its circuits change.",
    code: (query) => [["train", bodyFor(query, extras)]],
    async compute(query, signal) {
      const body = bodyFor(query, extras);
      const training = await ask("/api/train", { ...body, timeline: true }, { signal });
      end();
      extras.planned(training.workload, query.has("ranks"));
      end = draw(frame.result, training, body);
      announce(
        `An iteration takes ${time(training.total_s)}, with ${counted(training.reconfigurations, "reconfiguration")}.`,
      );
    },
  });
  return {
    /** @type {typeof frame.show} */
    show: (query, lost) => frame.show(query, lost),
    leave() {
      end();
      frame.leave();
    },
  };
}

/**
 * The request to the server: a model by its name, or the workload that was pasted.
 *
 * @param {Query} query
 * @param {JobFields} extras
 * @returns {Body}
 */
function bodyFor(query, extras) {
  const options = bodyOf("train", new Map([...query].filter(([name]) => !extras.names.includes(name))));
  return { ...extras.workload(), ...options };
}

/**
 * Shows an iteration; returns a function that cancels pending work.
 *
 * @param {HTMLElement} result
 * @param {Training} training
 * @param {Body} body
 */
function draw(result, training, body) {
  const policies = h("div", {});
  const timeline = training.timeline?.length ? timelineCard(training, training.timeline) : null;
  const breakEven = breakEvenCard(body);
  replace(
    result,
    h("p", { class: "sentence" }, verdictWords(training)),
    headline(training),
    fabricLine(training),
    cardWith("Policies", [policyLegend()], policies, policyTable(training)),
    timeline?.element,
    breakEven.element,
    h("div", { class: "card" }, files(training, body)),
  );
  const redraw = () => {
    replace(policies, policyBars(training, widthOf(policies)));
    timeline?.redraw();
    breakEven.redraw();
  };
  redraw();
  const still = onRedraw(policies, redraw);
  return () => {
    still();
    breakEven.leave();
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

/**
 * @param {Training} training
 * @param {Body} body
 */
function files(training, body) {
  const { timeline: _, ...told } = training;
  const of = { of: "train", ...body };
  return downloads([
    json("lightloom-training.json", () => told),
    fromServer("CSV", "lightloom-training.csv", "/api/table", () => ({ ...of, format: "csv" })),
    fromServer("SVG", "lightloom-training.svg", "/api/picture", () => ({ ...of, format: "svg" })),
    fromServer("PNG", "lightloom-training.png", "/api/picture", () => ({ ...of, format: "png" })),
  ]);
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
    item("Reconfigurations", String(training.reconfigurations), changesWords(training, hidden, exposed)),
  );
}

/**
 * The changes between collectives, hidden or waited for, and the number inside them, in words.
 *
 * @param {Training} training
 * @param {number} hidden
 * @param {number} exposed
 */
function changesWords(training, hidden, exposed) {
  const inside = training.plans.map((plan) => plan.steps.filter((step) => step.reconfigured && step.index > 0).length);
  const within = training.events.reduce((sum, event) => sum + (event.plan === null ? 0 : inside[event.plan]), 0);
  const inCommunications = `${within.toLocaleString("en")} more within communications`;
  if (!training.reconfigurations) return within ? inCommunications : "circuits stay as they are";
  return `${shortTime(hidden)} hidden, ${shortTime(exposed)} waited for${within ? `; ${inCommunications}` : ""}`;
}

/** @param {Training} training */
function fabricLine(training) {
  const bound = `The bound holds for ${training.bound_class}.`;
  const ideal = "An ideal packet switch, which joins all pairs at once, is no plan of circuits and may take less.";
  return h("p", { class: "quiet" }, `${fabricWords(training.fabric)} ${bound} ${ideal}`);
}
