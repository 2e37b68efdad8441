// Plan: the answer for one problem, its steps, its circuits in motion.

import { addressOf } from "../address.js";
import { ask } from "../api.js";
import { onResize, widthOf } from "../charts/axes.js";
import { headOf, legend, shownTerms, stepColumns, termOf, timeStrip } from "../charts/terms.js";
import { announce, h, replace } from "../dom.js";
import { downloads, fromServer, json } from "../downloads.js";
import { bodyOf, kept } from "../options.js";
import { counted, fabricWords, shortTime, size, time, times } from "../quantities.js";
import { columnsOf, groupsOf, spansOf, tiersOf, usesElectrical } from "../steps.js";
import { card, cardWith, table } from "../tables.js";
import { PlanCircuits } from "./plan-circuits.js";
import { exportsOf } from "./plan-exports.js";
import { headline } from "./plan-headline.js";
import { explanationsOf, namesOf } from "./plan-names.js";
import { worthOf } from "./plan-worth.js";
import { Scaffold } from "./scaffold.js";

/** @import { Query } from "../address.js" */
/** @import { Child } from "../dom.js" */
/** @import { Body, Plan } from "../types.js" */

/**
 * A part of the view, which may take keys.
 *
 * @typedef {{leave: () => void, key?: (event: KeyboardEvent) => void}} Shown
 */

const FIRST = ["collective", "size", "gpus", "reconfiguration-delay", "ports", "bandwidth"];

/**
 * Makes the view.
 *
 * @param {HTMLElement} root
 */
export function mount(root) {
  /** @type {Shown[]} */
  let parts = [];
  const ends = () => {
    for (const part of parts) part.leave();
  };
  const frame = new Scaffold({
    root,
    view: "plan",
    verb: "plan",
    title: "Plan",
    first: FIRST,
    lead:
      "One collective on one fabric: which algorithm, which circuits in every step, and when to pay for changing " +
      "them.",
    async compute(query, signal) {
      const body = bodyOf("plan", query);
      const plan = await ask("/api/plan", body, { signal });
      ends();
      parts = draw(frame.result, plan, body, query);
      tell(frame.result.querySelector(".sentence"), worthOf(plan, body, signal));
      tell(
        frame.result.querySelector(".names-of"),
        explanationsOf(body, signal).then((words) => namesOf(plan, words)),
      );
      const problem = `${plan.collective} of ${size(plan.size_bytes)} on ${plan.gpus} GPUs`;
      announce(`${problem} takes ${time(plan.total_s)}, with ${counted(plan.reconfigurations, "reconfiguration")}.`);
    },
  });
  /** @param {KeyboardEvent} event */
  const keys = (event) => parts.find((part) => part.key)?.key?.(event);
  document.addEventListener("keydown", keys);
  return {
    /** @type {typeof frame.show} */
    show: (query, lost) => frame.show(query, lost),
    leave() {
      document.removeEventListener("keydown", keys);
      ends();
      frame.leave();
    },
  };
}

/**
 * Adds facts that are known later, such as whether it is worth it; a plan is shown without them.
 *
 * @param {Element | null} place
 * @param {Promise<Child>} words
 */
async function tell(place, words) {
  try {
    const told = await words;
    if (place) replace(place, told);
  } catch {
    // The next change of the form asks anew.
  }
}

/**
 * @param {HTMLElement} result
 * @param {Plan} plan
 * @param {Body} body
 * @param {Query} query
 * @returns {Shown[]}
 */
function draw(result, plan, body, query) {
  const stem = `lightloom-${plan.collective}-${plan.gpus}`;
  const costs = h("div", {});
  const strips = h("div", {});
  /** @type {((seconds: number, step: number) => void)[]} */
  const marks = [];
  const circuits = new PlanCircuits({
    plan,
    body,
    onTime(seconds, step) {
      for (const mark of marks) mark(seconds, step);
    },
  });
  const rows = stepTable(plan);
  replace(
    result,
    headline(plan),
    h("p", { class: "sentence" }),
    problemLine(plan, query),
    cardWith("Time of the plan", [legend(shownTerms(plan.steps))], strips),
    circuits.element,
    cardWith("What each step takes", [legend(shownTerms(plan.steps))], costs),
    card(
      plan.steps.length === 1 ? "The step" : "Steps",
      rows.element,
      h("div", { class: "names-of" }, namesOf(plan, [])),
      downloads([
        json(`${stem}.json`, () => plan),
        fromServer("CSV", `${stem}.csv`, "/api/table", () => ({ of: "plan", ...body, format: "csv" })),
        fromServer("SVG", `${stem}.svg`, "/api/picture", () => ({ of: "plan", ...body, format: "svg" })),
        fromServer("PNG", `${stem}.png`, "/api/picture", () => ({ of: "plan", ...body, format: "png" })),
      ]),
    ),
    exportsOf(body, stem),
  );
  const redraw = () => {
    marks.length = 0;
    const columns = stepColumns({
      groups: columnsOf(plan, Math.max(12, Math.floor(widthOf(costs) / 14))),
      width: widthOf(costs),
      onChoice: (group) => circuits.toStep(group.first.index),
      label: `Time of each step in its terms. ${spoken(plan)}`,
    });
    const strip = timeStrip({
      spans: spansOf(plan),
      total: plan.total_s,
      bound: plan.lower_bound_s,
      width: widthOf(strips),
      onChoice: (seconds) => circuits.toTime(seconds),
      label: `The plan's ${plan.steps.length} steps in time, ${shortTime(plan.total_s)} in all.`,
    });
    replace(costs, columns.element);
    replace(strips, strip.element);
    marks.push(
      (_, step) => columns.mark(step),
      (seconds) => strip.mark(seconds),
      (_, step) => rows.mark(step),
    );
    circuits.again();
  };
  redraw();
  return [circuits, { leave: onResize(costs, redraw) }];
}

/** @param {Plan} plan */
const spoken = (plan) =>
  shownTerms(plan.steps)
    .map((term) => `${term} ${time(plan.steps.reduce((sum, step) => sum + termOf(step, term), 0))}`)
    .join(", ");

/**
 * @param {Plan} plan
 * @param {Query} query
 */
function problemLine(plan, query) {
  const words = `${plan.collective} of ${size(plan.size_bytes)} on ${plan.gpus} GPUs, ${fabricWords(plan.fabric)}`;
  return h(
    "p",
    { class: "quiet" },
    words,
    " The bound holds for ",
    plan.bound_class,
    ". ",
    h("a", { href: addressOf("compare", kept("compare", query)) }, "Compare all planners"),
    " or see ",
    h("a", { href: addressOf("when-it-pays", kept("plan", query)) }, "when reconfiguring pays"),
    ".",
  );
}

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
