// Plan: the answer for one problem, its steps, its circuits in motion.

import { addressOf } from "../address.js";
import { ask } from "../api.js";
import { announce, h, replace } from "../dom.js";
import { downloads, fromServer, json } from "../downloads.js";
import { bodyOf, kept } from "../options.js";
import { serverAnswers } from "../plan-answers.js";
import { counted, size, time } from "../quantities.js";
import { card } from "../tables.js";
import { PlanCourse } from "./plan-course.js";
import { exportsOf } from "./plan-exports.js";
import { headline, problemOf } from "./plan-headline.js";
import { explanationsOf, namesOf } from "./plan-names.js";
import { numberingWords } from "./plan-ports.js";
import { worthOf } from "./plan-worth.js";
import { Scaffold } from "./scaffold.js";

/** @import { Query } from "../address.js" */
/** @import { Child } from "../dom.js" */
/** @import { AnswersOfPlan } from "../loads.js" */
/** @import { Body, Plan } from "../types.js" */

const FIRST = ["collective", "size", "gpus", "reconfiguration-delay", "ports", "bandwidth"];

/**
 * Makes the view.
 *
 * @param {HTMLElement} root
 */
export function mount(root) {
  /** @type {PlanCourse | null} */
  let course = null;
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
      course?.leave();
      const answers = serverAnswers(plan, body);
      course = draw(frame.result, plan, body, query, answers);
      tell(frame.result.querySelector(".sentence"), worthOf(plan, body, signal));
      tell(frame.result.querySelector(".numbering"), answers("/api/ports", {}, signal).then(numberingWords));
      tell(
        frame.result.querySelector(".names-of"),
        explanationsOf(body, signal).then((words) => namesOf(plan, words)),
      );
      const problem = `${plan.collective} of ${size(plan.size_bytes)} on ${plan.gpus} GPUs`;
      announce(`${problem} takes ${time(plan.total_s)}, with ${counted(plan.reconfigurations, "reconfiguration")}.`);
    },
  });
  /** @param {KeyboardEvent} event */
  const keys = (event) => course?.key(event);
  document.addEventListener("keydown", keys);
  return {
    /** @type {typeof frame.show} */
    show: (query, lost) => frame.show(query, lost),
    leave() {
      document.removeEventListener("keydown", keys);
      course?.leave();
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
 * @param {AnswersOfPlan} answers
 */
function draw(result, plan, body, query, answers) {
  const stem = `lightloom-${plan.collective}-${plan.gpus}`;
  const course = new PlanCourse({ plan, answers });
  replace(
    result,
    headline(plan),
    h("p", { class: "sentence" }),
    problemLine(plan, query),
    course.inTime,
    course.circuits.element,
    course.costs,
    card(
      plan.steps.length === 1 ? "The step" : "Steps",
      course.steps,
      h("div", { class: "names-of" }, namesOf(plan, [])),
      downloads([
        json(`${stem}.json`, () => plan),
        fromServer("CSV", `${stem}.csv`, "/api/table", () => ({ of: "plan", ...body, format: "csv" })),
        fromServer("SVG", `${stem}.svg`, "/api/picture", () => ({ of: "plan", ...body, format: "svg" })),
        fromServer("PNG", `${stem}.png`, "/api/picture", () => ({ of: "plan", ...body, format: "png" })),
      ]),
    ),
    exportsOf(plan, body, stem),
  );
  course.connect();
  return course;
}

/**
 * Whether a map can be made of a plan's problem and has plans to compare it with: circuits are alone.
 *
 * @param {Plan} plan
 */
const hasMap = ({ fabric }) => !fabric.electrical;

/**
 * @param {Plan} plan
 * @param {Query} query
 */
function problemLine(plan, query) {
  return h(
    "p",
    { class: "quiet" },
    problemOf(plan),
    " The bound holds for ",
    plan.bound_class,
    ". ",
    h("a", { href: addressOf("compare", kept("compare", query)) }, "Compare all planners"),
    hasMap(plan)
      ? [" or see ", h("a", { href: addressOf("when-it-pays", kept("plan", query)) }, "when reconfiguring pays")]
      : null,
    ".",
  );
}
