// The course of a plan: its time, its circuits, the costs of its steps and their table, which all show one moment.

import { onResize, widthOf } from "../charts/axes.js";
import { headOf, legend, shownTerms, stepColumns, termOf, timeStrip } from "../charts/terms.js";
import { h, replace } from "../dom.js";
import { shortTime, size, time, times } from "../quantities.js";
import { columnsOf, groupsOf, spansOf, tiersOf, usesElectrical } from "../steps.js";
import { cardWith, table } from "../tables.js";
import { PlanCircuits } from "./plan-circuits.js";

/** @import { AnswersOfPlan } from "../loads.js" */
/** @import { Plan } from "../types.js" */

/** Elements `inTime`, `costs` and `steps`, and those of `circuits`: drawn once `connect` is called. */
export class PlanCourse {
  #strips = h("div", {});
  #columns = h("div", {});
  /** @type {((seconds: number) => void) | null} */
  #markTime = null;
  /** @type {((step: number) => void) | null} */
  #markColumns = null;
  /** @type {(() => void)[]} */
  #ends = [];

  /**
   * answers: about the plan. onTime: called with seconds and the step.
   *
   * @param {{plan: Plan, answers: AnswersOfPlan, onTime?: (seconds: number, step: number) => void}} told
   */
  constructor({ plan, answers, onTime = () => {} }) {
    this.plan = plan;
    const { element, mark } = stepTable(plan);
    this.steps = element;
    this.markSteps = mark;
    this.circuits = new PlanCircuits({
      plan,
      answers,
      onTime: (seconds, step) => {
        this.#markTime?.(seconds);
        this.#markColumns?.(step);
        this.markSteps(step);
        onTime(seconds, step);
      },
    });
    const terms = shownTerms(plan.steps);
    this.inTime = cardWith("Time of the plan", [legend(terms)], this.#strips);
    this.costs = cardWith("What each step takes", [legend(terms)], this.#columns);
  }

  /** Draws in the widths that the elements have on the page, and again when they change. */
  connect() {
    this.#drawTime();
    this.#drawColumns();
    this.#ends = [onResize(this.#strips, () => this.#drawTime()), onResize(this.#columns, () => this.#drawColumns())];
  }

  #drawColumns() {
    const { plan, circuits } = this;
    const columns = stepColumns({
      groups: columnsOf(plan, Math.max(12, Math.floor(widthOf(this.#columns) / 14))),
      width: widthOf(this.#columns),
      onChoice: (group) => circuits.toStep(group.first.index),
      label: `Time of each step in its terms. ${spoken(plan)}`,
    });
    replace(this.#columns, columns.element);
    this.#markColumns = columns.mark;
    circuits.again();
  }

  #drawTime() {
    const { plan, circuits } = this;
    const strip = timeStrip({
      spans: spansOf(plan),
      total: plan.total_s,
      bound: plan.lower_bound_s,
      width: widthOf(this.#strips),
      onChoice: (seconds) => circuits.toTime(seconds),
      label: `The plan's ${plan.steps.length} steps in time, ${shortTime(plan.total_s)} in all.`,
    });
    replace(this.#strips, strip.element);
    this.#markTime = strip.mark;
    circuits.again();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    this.circuits.key(event);
  }

  /** Stops the player and cancels requests. */
  leave() {
    for (const end of this.#ends) end();
    this.circuits.leave();
  }
}

/** @param {Plan} plan */
const spoken = (plan) =>
  shownTerms(plan.steps)
    .map((term) => `${term} ${time(plan.steps.reduce((sum, step) => sum + termOf(step, term), 0))}`)
    .join(", ");

/** @param {Plan} plan */
function stepTable(plan) {
  const groups = groupsOf(plan);
  const terms = shownTerms(plan.steps);
  const hasTiers = usesElectrical(plan);
  /** @param {string} head */
  const right = (head) => ({ head, right: true });
  /** @param {number} value */
  const seconds = (value) => (value ? time(value) : "–");
  const rows = groups.map((group) => {
    const { first, steps } = group;
    const name = steps.length > 1 ? `${group.topology} ×${steps.length}` : group.topology;
    const change = group.reconfigured ? (group.reconfigured === steps.length ? "yes" : `${group.reconfigured}`) : "–";
    return {
      cells: [
        group.numbers,
        name,
        ...(hasTiers ? [tiersOf(steps, plan)] : []),
        change,
        size(first.transfer_bytes, plan.size_bytes),
        String(first.hops),
        times(first.load),
        ...terms.map((term) => seconds(group.term(term))),
        seconds(group.total),
      ],
    };
  });
  const sums = terms.map((term) => seconds(groups.reduce((sum, group) => sum + group.term(term), 0)));
  const element = table({
    caption: "Steps of the plan, equal neighbours in one row",
    columns: [
      right("Step"),
      { head: "Topology" },
      ...(hasTiers ? [{ head: "Tiers" }] : []),
      { head: "Circuits change" },
      ...["Transfer", "Hops", "Load", ...terms.map(headOf), "Total"].map(right),
    ],
    rows,
    foot: [
      "",
      "Sum",
      ...(hasTiers ? [""] : []),
      String(plan.reconfigurations),
      "",
      "",
      "",
      ...sums,
      time(plan.total_s),
    ],
    tall: true,
  });
  const lines = [...element.querySelectorAll("tbody tr")];
  return {
    element,
    /** @param {number} step */
    mark(step) {
      for (const [place, group] of groups.entries()) lines[place].classList.toggle("now", group.holds(step));
    },
  };
}
