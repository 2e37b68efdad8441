// Steps of a plan: runs of equal ones, and the spans of time that they are made of.

import { TERMS, termOf, totalOf } from "./charts/terms.js";

const MOST_GROUPS = 120;

class Group {
  constructor(steps, plan) {
    this.steps = steps;
    this.first = steps[0];
    this.topology = nameOf(plan, this.first);
    this.reconfigured = steps.filter((step) => step.reconfigured).length;
  }

  /** `3`, or `3–7`; the first step is 1. */
  get numbers() {
    const [first, last] = [this.first.index + 1, this.steps.at(-1).index + 1];
    return first === last ? String(first) : `${first}–${last}`;
  }

  get total() {
    return this.steps.reduce((sum, step) => sum + totalOf(step), 0);
  }

  /** Sum of a term over the steps. */
  term(term) {
    return this.steps.reduce((sum, step) => sum + termOf(step, term), 0);
  }

  holds(index) {
    return index >= this.first.index && index <= this.steps.at(-1).index;
  }
}

/** Name of the topology that a step is carried out on. */
export const nameOf = (plan, step) => plan.topologies[step.topology]?.name ?? "";

/** Runs of equal steps on one topology; equal neighbours on different ones where there would be too many. */
export function groupsOf(plan) {
  const look = (step) =>
    [
      step.reconfigured,
      step.hops,
      step.load.toPrecision(6),
      step.transfer_bytes.toPrecision(6),
      totalOf(step).toPrecision(6),
    ].join();
  const runs = (key) => {
    const found = [];
    for (const step of plan.steps) {
      if (found.length && key(found.at(-1)[0]) === key(step)) found.at(-1).push(step);
      else found.push([step]);
    }
    return found.map((steps) => new Group(steps, plan));
  };
  const exact = runs((step) => `${step.topology} ${look(step)}`);
  return exact.length <= MOST_GROUPS ? exact : runs(look);
}

/** Columns of a chart: a step each where there is room, else a run each. */
export const columnsOf = (plan, most) =>
  plan.steps.length <= most ? plan.steps.map((step) => new Group([step], plan)) : groupsOf(plan).slice(0, most);

/** Spans of the plan's time: `{step, term, from, to}`, reconfiguration before the step's other terms. */
export function spansOf(plan) {
  const spans = [];
  let at = 0;
  for (const step of plan.steps) {
    for (const term of ["reconfiguration", ...TERMS.filter((each) => each !== "reconfiguration")]) {
      const length = termOf(step, term);
      if (length > 0) spans.push({ step: step.index, term, from: at, to: at + length });
      at += length;
    }
  }
  return spans;
}

/** When every step begins, its reconfiguration included; seconds. */
export function startsOf(plan) {
  let at = 0;
  return plan.steps.map((step) => {
    const start = at;
    at += totalOf(step);
    return start;
  });
}

/** The state at a time: `{step, term, share}`, share of the sending that is done. */
export function stateAt(plan, starts, seconds) {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle] <= seconds) low = middle;
    else high = middle - 1;
  }
  const step = plan.steps[low];
  const within = seconds - starts[low];
  const dark = termOf(step, "reconfiguration");
  if (within < dark) return { step: low, term: "reconfiguration", share: 0 };
  if (within < dark + step.startup_s) return { step: low, term: "startup", share: 0 };
  const sending = step.propagation_s + step.transmission_s;
  return {
    step: low,
    term: "sending",
    share: sending > 0 ? Math.min(1, (within - dark - step.startup_s) / sending) : 1,
  };
}
