// Training: one iteration of a training job, its policies compared, its course in time.

import { ask, isAborted, wordsOf } from "../api.js";
import { onResize, widthOf } from "../charts/axes.js";
import { boxWords, gantt, ganttLegend } from "../charts/gantt.js";
import { lineLegend, lines } from "../charts/lines.js";
import { announce, h, replace } from "../dom.js";
import { downloads, fromServer, json } from "../downloads.js";
import { bodyOf, optionsOf } from "../options.js";
import { aboveBound, counted, fabricWords, isKnown, shortTime, time, timeParts, times } from "../quantities.js";
import { cardWith, quantity, table } from "../tables.js";
import { Scaffold } from "./scaffold.js";
import { policyBars, policyLegend, policyTable, policyTitle } from "./training-policies.js";
import { workloadFields } from "./training-workload.js";

/** @import { Query } from "../address.js" */
/** @import { Child } from "../dom.js" */
/** @import { Body, BreakEven, Plan, TimelineRow, Training } from "../types.js" */
/** @import { JobFields } from "./training-workload.js" */

const FIRST = ["ranks", "reconfiguration-delay", "ports", "bandwidth", "policy"];
/** @type {[string, string][]} */
const START = [
  ["model", "bert-pccl"],
  ["ranks", "8"],
];
const ZOOMS = [1, 4, 16, 64, 256];

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
    start: (given) => new Map(given.has("model") ? [] : START),
    options: optionsOf("train").filter((option) => !extras.names.includes(option.name)),
    lead: "One iteration of a training job: all its collectives planned together, and when its circuits change.",
    code: (query) => ["train", bodyFor(query, extras)],
    async compute(query, signal) {
      const body = bodyFor(query, extras);
      const training = await ask("/api/train", { ...body, timeline: true }, { signal });
      end();
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
  const still = onResize(policies, redraw);
  return () => {
    still();
    breakEven.leave();
  };
}

/**
 * The activity of ranks, axes and ports, in the whole iteration or a part of it.
 *
 * @param {Training} training
 * @param {TimelineRow[]} rows
 */
function timelineCard(training, rows) {
  const timeline = h("div", {});
  const zooms = ZOOMS.map((each) => h("option", { value: each }, each === 1 ? "all" : `1/${each}`));
  const zoom = h("select", { id: "zoom" }, zooms);
  const range = { type: "range", min: 0, max: 1000, value: 0 };
  const place = h("input", { ...range, "aria-label": "Part of the iteration that is shown" });
  const readout = h("p", { class: "readout quiet" }, "Point at a box to see what it is.");
  const redraw = () => {
    const span = training.total_s / Number(zoom.value);
    place.disabled = zoom.value === "1";
    const first = (Number(place.value) / 1000) * (training.total_s - span);
    const last = first + span;
    const label = `Ranks, axes and ports from ${time(first)} to ${time(last)}`;
    const drawn = gantt({
      rows,
      first,
      last,
      width: widthOf(timeline),
      label,
      onShow: (row, box) => replace(readout, boxWords(row, box)),
    });
    replace(timeline, drawn);
    place.setAttribute("aria-valuetext", `from ${time(first)}`);
  };
  zoom.addEventListener("change", redraw);
  place.addEventListener("input", redraw);
  const part = h("div", { class: "part" }, h("label", { for: "zoom" }, "Show"), zoom, place);
  const parts = [timeline, part, readout, communicationTable(training)];
  return { element: cardWith("The iteration in time", [ganttLegend(rows)], ...parts), redraw };
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

/** @param {Training} training */
function communicationTable(training) {
  /** @type {Map<number, {plan: Plan, count: number, total: number, exposed: number}>} */
  const kinds = new Map();
  for (const event of training.events) {
    if (event.plan === null) continue;
    const plan = training.plans[event.plan];
    const kind = kinds.get(event.plan) ?? { plan, count: 0, total: 0, exposed: 0 };
    kind.count += 1;
    kind.total += event.end_s - event.start_s;
    kind.exposed += event.reconfiguration_exposed_s;
    kinds.set(event.plan, kind);
  }
  const rows = [...kinds.values()].map(({ plan, count, total, exposed }) => ({
    cells: [
      plan.collective,
      String(plan.gpus),
      plan.algorithm,
      String(count),
      time(plan.total_s),
      time(total),
      exposed ? time(exposed) : "–",
    ],
  }));
  /** @param {string} head */
  const right = (head) => ({ head, right: true });
  return h(
    "details",
    { class: "behind" },
    h("summary", {}, `${counted(rows.length, "kind")} of communication, as a table`),
    table({
      caption: "Kinds of communication",
      tall: true,
      rows,
      columns: [
        { head: "Collective" },
        right("Ranks"),
        { head: "Algorithm" },
        right("Times"),
        right("Each"),
        right("In all"),
        right("Waited for circuits"),
      ],
    }),
  );
}

/**
 * Policies against the reconfiguration delay, computed when it is asked for.
 *
 * @param {Body} body
 */
function breakEvenCard(body) {
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
      .map(([name, values]) => ({ name, values }));
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
    announce(breakEvenWords(found));
  }

  return { element, redraw: draw, leave: () => controller.abort() };
}

/** @param {number | null} seconds */
const timeOrNone = (seconds) => (isKnown(seconds) ? time(seconds) : "–");

/**
 * From which delay on the fastest policy that changes no circuits takes as long as that which plans all together.
 *
 * @param {BreakEven} told
 */
function breakEvenWords({ delays_s: delays, policies_s: policies }) {
  const [ours, still] = [policies.carry, policies.static ?? policies["one-shot"]];
  if (!ours || !still?.some(isKnown)) return "Circuits that stay as they are cannot serve this iteration.";
  const served = delays.flatMap((delay, at) => {
    const [mine, other] = [ours[at], still[at]];
    return isKnown(mine) && isKnown(other) ? [{ delay, mine, other }] : [];
  });
  const last = served.findLast(({ mine, other }) => other > mine * 1.001)?.delay;
  if (last === undefined) return "Changing circuits saves nothing here, however fast they change.";
  const gain = Math.max(...served.map(({ mine, other }) => other / mine));
  const until = last === delays.at(-1) ? `at all delays up to ${shortTime(last)}` : `up to ${shortTime(last)}`;
  const saved =
    gain < 1.1
      ? `it saves up to ${(100 * (1 - 1 / gain)).toPrecision(2)} % of the iteration`
      : `the iteration is up to ${times(gain)} as fast`;
  return `Changing circuits pays ${until}: ${saved}.`;
}
