// Steps of a plan: runs of equal ones, and the spans of time that they are made of.

import { TERMS, termOf, totalOf } from "./charts/terms.js";

const MOST_GROUPS = 120;

/** @import { Plan, Step, Term } from "./types.js" */

/**
 * A span of a plan's time, seconds: a term of a step, by its index.
 *
 * @typedef {{step: number, term: Term, from: number, to: number}} Span
 */

/**
 * What happens at a time of a plan. share: of the sending that is done.
 *
 * @typedef {{step: number, term: "barrier" | "reconfiguration" | "startup" | "sending", share: number}} State
 */

/** Equal steps, one after the other. */
export class Group {
  /**
   * @param {Step[]} steps
   * @param {Plan} plan
   */
  constructor(steps, plan) {
    this.steps = steps;
    this.first = steps[0];
    this.last = steps[steps.length - 1];
    this.topology = nameOf(plan, this.first);
    this.reconfigured = steps.filter((step) => step.reconfigured).length;
  }

  /** `3`, or `3–7`; the first step is 1. */
  get numbers() {
    const [first, last] = [this.first.index + 1, this.last.index + 1];
    return first === last ? String(first) : `${first}–${last}`;
  }

  get total() {
    return this.steps.reduce((sum, step) => sum + totalOf(step), 0);
  }

  /**
   * Sum of a term over the steps.
   *
   * @param {Term} term
   */
  term(term) {
    return this.steps.reduce((sum, step) => sum + termOf(step, term), 0);
  }

  /** @param {number} index */
  holds(index) {
    return index >= this.first.index && index <= this.last.index;
  }
}

/**
 * Name of the topology that a step is carried out on.
 *
 * @param {Plan} plan
 * @param {Step} step
 */
export const nameOf = (plan, step) => plan.topologies[step.topology]?.name ?? "";

/** @param {Plan} plan */
export const usesElectrical = ({ steps }) => steps.some((step) => step.electrical_load);

/**
 * `electrical`, `optical`, or both, the one that takes longer first: what the data of a plan's steps goes through.
 *
 * @param {Step[]} steps
 * @param {Plan} plan
 */
export function tiersOf(steps, { fabric }) {
  /** @param {(step: Step) => number} load */
  const bytes = (load) => steps.reduce((sum, step) => sum + step.transfer_bytes * load(step), 0);
  const fastest = Math.max(...[fabric.bandwidth_bps].flat());
  return [
    { tier: "electrical", time: bytes((step) => step.electrical_load ?? 0) / (fabric.electrical?.bandwidth_bps ?? 1) },
    { tier: "optical", time: bytes((step) => step.load) / fastest },
  ]
    .filter(({ time }) => time > 0)
    .sort((one, other) => other.time - one.time)
    .map(({ tier }) => tier)
    .join(", ");
}

/**
 * Runs of equal steps on one topology; equal neighbours on different ones where there would be too many.
 *
 * @param {Plan} plan
 */
export function groupsOf(plan) {
  /** @param {Step} step */
  const look = (step) =>
    [
      step.reconfigured,
      step.hops,
      step.load.toPrecision(6),
      step.transfer_bytes.toPrecision(6),
      totalOf(step).toPrecision(6),
    ].join();
  /** @param {(step: Step) => string} key */
  const runs = (key) => {
    /** @type {Step[][]} */
    const found = [];
    for (const step of plan.steps) {
      const run = found.at(-1);
      if (run && key(run[0]) === key(step)) run.push(step);
      else found.push([step]);
    }
    return found.map((steps) => new Group(steps, plan));
  };
  const exact = runs((step) => `${step.topology} ${look(step)}`);
  return exact.length <= MOST_GROUPS ? exact : runs(look);
}

/**
 * Columns of a chart: a step each where there is room, else a run each.
 *
 * @param {Plan} plan
 * @param {number} most
 */
export const columnsOf = (plan, most) =>
  plan.steps.length <= most ? plan.steps.map((step) => new Group([step], plan)) : groupsOf(plan).slice(0, most);

/** @type {Term[]} */
const BEFORE = ["barrier", "reconfiguration"];
const IN_TIME = [...BEFORE, ...TERMS.filter((each) => !BEFORE.includes(each))];

/**
 * Spans of the plan's time, barrier and reconfiguration before the step's other terms.
 *
 * @param {Plan} plan
 */
export function spansOf(plan) {
  /** @type {Span[]} */
  const spans = [];
  let at = 0;
  for (const step of plan.steps) {
    for (const term of IN_TIME) {
      const length = termOf(step, term);
      if (length > 0) spans.push({ step: step.index, term, from: at, to: at + length });
      at += length;
    }
  }
  return spans;
}

/**
 * When every step begins, its reconfiguration included; seconds.
 *
 * @param {Plan} plan
 */
export function startsOf(plan) {
  let at = 0;
  return plan.steps.map((step) => {
    const start = at;
    at += totalOf(step);
    return start;
  });
}

/**
 * The state at a time. starts: when every step begins.
 *
 * @param {Plan} plan
 * @param {number[]} starts
 * @param {number} seconds
 * @returns {State}
 */
export function stateAt(plan, starts, seconds) {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle] <= seconds) low = middle;
    else high = middle - 1;
  }
  const step = plan.steps[low];
  const within = seconds - starts[low] - termOf(step, "barrier");
  if (within < 0) return { step: low, term: "barrier", share: 0 };
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
