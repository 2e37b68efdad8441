// The widget of a plan: its course, at a time that Python shares.

import { h } from "../dom.js";
import { stateAt } from "../steps.js";
import { PlanCourse } from "../views/plan-course.js";
import { headline, problemOf } from "../views/plan-headline.js";
import { frameOf } from "./frame.js";
import { modelAnswers } from "./model.js";

/** @import { Plan } from "../types.js" */
/** @import { Model } from "./model.js" */

// While it plays, Python is told the time so often.
const TELL_MS = 100;

/**
 * Shows the widget; returns a function that ends it.
 *
 * @param {{model: Model, el: HTMLElement, style: string}} told
 */
export function render({ model, el, style }) {
  /** @type {Plan} */
  const plan = JSON.parse(model.get("_plan"));
  const asked = modelAnswers(model);
  const sharing = new SharedTime(model);
  const course = new PlanCourse({
    plan,
    answers: asked.answers,
    onTime: (seconds, step) => sharing.tell(seconds, step),
  });
  const frame = frameOf({ el, style, onKey: (event) => course.key(event) });
  frame.show(
    headline(plan),
    h("p", { class: "quiet" }, problemOf(plan)),
    course.inTime,
    course.circuits.element,
    h(
      "details",
      { class: "behind" },
      h("summary", {}, "Steps"),
      h("div", { class: "column" }, course.costs, h("div", { class: "card" }, course.steps)),
    ),
  );
  course.connect();
  sharing.follow(plan, course);
  return () => {
    sharing.leave();
    course.leave();
    asked.leave();
    frame.leave();
  };
}

/** The time that is shown, and its step, which both sides set. */
class SharedTime {
  /** The time that both sides know. */
  #known = NaN;
  #isFollowing = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #telling;
  /** @type {[name: string, heard: () => void][]} */
  #heard = [];

  /** @param {Model} model */
  constructor(model) {
    this.model = model;
  }

  /**
   * Tells Python the time that is shown, and its step.
   *
   * @param {number} seconds
   * @param {number} step
   */
  tell(seconds, step) {
    if (!this.#isFollowing || seconds === this.#known) return;
    this.#known = seconds;
    this.model.set("time_s", seconds);
    this.model.set("step", step);
    this.#telling ??= setTimeout(() => {
      this.#telling = undefined;
      this.model.save_changes();
    }, TELL_MS);
  }

  /**
   * Shows what Python has set, now and from now on.
   *
   * @param {Plan} plan
   * @param {PlanCourse} course
   */
  follow(plan, { circuits }) {
    const { model } = this;
    const toTime = () => {
      const seconds = model.get("time_s");
      if (seconds === this.#known) return;
      circuits.play.leave();
      circuits.play.set(seconds);
    };
    const toStep = () => {
      const step = model.get("step");
      if (stateAt(plan, circuits.scene.starts, model.get("time_s")).step === step) return;
      circuits.play.leave();
      circuits.toStep(step);
    };
    this.#heard = [
      ["change:time_s", toTime],
      ["change:step", toStep],
    ];
    for (const [name, heard] of this.#heard) model.on(name, heard);
    this.#isFollowing = true;
    toTime();
  }

  /** Ends it; what was not told yet is told. */
  leave() {
    for (const [name, heard] of this.#heard) this.model.off(name, heard);
    if (this.#telling === undefined) return;
    clearTimeout(this.#telling);
    this.model.save_changes();
  }
}
