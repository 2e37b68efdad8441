// The part of a plan's view that shows its circuits in time.

import { Player } from "../charts/player.js";
import { totalOf } from "../charts/terms.js";
import { h, replace } from "../dom.js";
import { counted, size, time, times } from "../quantities.js";
import { nameOf, stateAt } from "../steps.js";
import { cardWith } from "../tables.js";
import { FollowedChunk } from "./plan-chunk.js";
import { portsByLink } from "./plan-ports.js";
import { StepScene } from "./step-scene.js";

/** @import { AnswersOfPlan } from "../loads.js" */
/** @import { State } from "../steps.js" */
/** @import { Link, Path, Plan, Step } from "../types.js" */

const MOST_PATHS = 4;
/** @type {Record<string, number>} */
const UP_AND_DOWN = { ArrowUp: 1, ArrowDown: -1 };
const KEYS = "Circuits. Space plays and pauses, left and right go from step to step, up and down from GPU to GPU.";
const MOTION = "Dashes move with the bytes: fastest on the busiest circuit, at the rate of its port.";

/** Circuits of a plan with their player. */
export class PlanCircuits {
  #facts = h("div", {});
  #ports = h("ul", { class: "ports-list" });
  /** The GPU that is kept after the pointer has left it, and the one that is shown. @type {number | null} */
  #kept = null;
  /** @type {number | null} */
  #shown = null;

  /**
   * answers: about the plan. onTime: called with seconds and the step.
   *
   * @param {{plan: Plan, answers: AnswersOfPlan, onTime: (seconds: number, step: number) => void}} told
   */
  constructor({ plan, answers, onTime }) {
    this.plan = plan;
    this.onTime = onTime;
    this.scene = new StepScene({
      plan,
      answers,
      hasSwitch: true,
      onGpu: (gpu, how) => this.#pointed(gpu, how),
      onLoads: () => replace(this.#ports, this.#portWords()),
    });
    const { starts } = this.scene;
    this.input = h("input", { type: "number", id: "gpu", min: 0, max: plan.gpus - 1, placeholder: "none" });
    this.chunk = new FollowedChunk({
      plan,
      journeyOf: (chunk) => this.scene.asked.also("/api/journey", chunk ? { chunk } : {}),
      onChange: (steps) => this.scene.follow(steps),
      onStep: (step) => this.toStep(step),
    });
    this.play = new Player({
      total: plan.total_s,
      starts,
      onTime: (seconds) => this.#show(seconds),
      say: (seconds) => spoken(plan, stateAt(plan, starts, seconds), seconds),
    });
    this.group = h(
      "div",
      { class: "scene-of", tabindex: 0, role: "group", "aria-label": KEYS },
      this.scene.element,
      this.scene.drawing ? h("p", { class: "quiet" }, MOTION) : null,
    );
    this.element = this.#layout();
    this.#listen();
    this.#show(0);
  }

  #layout() {
    const pick = h("div", { class: "pick" }, h("label", { for: "gpu" }, "GPU"), this.input);
    const ports = h("div", {}, h("h3", {}, "Ports"), pick, this.#ports);
    const aside = h("div", { class: "aside" }, this.#facts, ports, this.scene.drawing ? this.chunk.element : null);
    return cardWith(
      "Circuits",
      this.scene.legend ? [this.scene.legend] : [],
      h("div", { class: "circuits" }, h("div", {}, this.play.element, this.group), aside),
    );
  }

  #listen() {
    const { gpus } = this.plan;
    this.input.addEventListener("input", () => {
      const { value } = this.input;
      this.#kept = value === "" ? null : Math.min(gpus - 1, Math.max(0, Math.round(Number(value))));
      this.#choose(this.#kept);
    });
    this.group.addEventListener("keydown", (event) => {
      const by = UP_AND_DOWN[event.key];
      if (!by) return;
      event.preventDefault();
      this.#kept = ((this.#kept ?? (by > 0 ? -1 : 0)) + by + gpus) % gpus;
      this.input.value = String(this.#kept);
      this.#choose(this.#kept);
    });
  }

  /**
   * @param {number | null} gpu
   * @param {{lasting: boolean}} how
   */
  #pointed(gpu, { lasting }) {
    if (lasting) {
      this.#kept = gpu === this.#kept ? null : gpu;
      this.input.value = this.#kept === null ? "" : String(this.#kept);
    }
    this.#choose(lasting ? this.#kept : (gpu ?? this.#kept));
  }

  /** @param {number | null} gpu */
  #choose(gpu) {
    this.#shown = gpu;
    this.scene.select(gpu);
    replace(this.#ports, this.#portWords());
  }

  #portWords() {
    const shown = this.#shown;
    if (shown === null)
      return h("li", { class: "quiet" }, "Point at a GPU, or give its number: its ports, and what is on them.");
    const topology = this.plan.topologies[this.plan.steps[this.scene.state?.step ?? 0].topology];
    const { ports } = this.scene;
    const joined = ports && portsByLink(ports, this.scene.state?.step ?? 0);
    return [`out of GPU ${shown}`, `into GPU ${shown}`].map((words, end) => {
      const own = (topology.links ?? []).filter((link) => link[end] === shown);
      const used = own.reduce((sum, [, , count]) => sum + count, 0);
      const head = `Circuits ${words}: ${used} of ${counted(this.plan.fabric.ports, "port")}`;
      return [h("li", { class: "head" }, head), own.map((link) => this.#portLine(link, joined))];
    });
  }

  /**
   * @param {Link} link
   * @param {Map<string, string[]> | null} joined
   */
  #portLine([source, target, count], joined) {
    const link = this.scene.loads?.get(`${source}>${target}`);
    const bytes = link?.bytes ? size(link.bytes, this.plan.size_bytes) : this.scene.loads ? "idle" : "";
    const paths = link?.paths ?? [];
    const shared = paths.length > 1 ? `, ${paths.length} transfers: ${pathWords(paths)}` : "";
    const at = joined?.get(`${source}>${target}`) ?? [];
    const places = at.length ? h("span", { class: "quiet" }, `, ports: ${at.join(", ")}`) : null;
    const circuit = `${source} → ${target}${count > 1 ? ` ×${count}` : ""}${shared}`;
    return h("li", {}, h("span", {}, circuit, places), h("span", {}, bytes));
  }

  /** @param {number} seconds */
  #show(seconds) {
    const { state, isNews } = this.scene.show(seconds);
    if (isNews) replace(this.#facts, factsOf(this.plan, this.plan.steps[state.step], state));
    this.chunk.show(state.step);
    this.onTime(seconds, state.step);
  }

  /**
   * Goes to a time, in seconds.
   *
   * @param {number} seconds
   */
  toTime(seconds) {
    this.play.set(seconds + this.plan.total_s * 5e-10);
  }

  /**
   * Goes to a step's beginning.
   *
   * @param {number} index
   */
  toStep(index) {
    this.toTime(this.scene.starts[index]);
  }

  /** Shows the same time once more. */
  again() {
    this.play.again();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    this.play.key(event);
  }

  /** Stops the player and cancels requests. */
  leave() {
    this.play.leave();
    this.scene.leave();
  }
}

/** @param {Path[]} paths */
function pathWords(paths) {
  const told = paths.slice(0, MOST_PATHS).map(({ source, destination }) => `${source} to ${destination}`);
  return told.join(", ") + (paths.length > told.length ? " …" : "");
}

const DOING = {
  barrier: "waiting for all",
  reconfiguration: "circuits change",
  startup: "starting up",
  sending: "sending",
};

/**
 * @param {Plan} plan
 * @param {State} state
 * @param {number} seconds
 */
const spoken = (plan, { step, term }, seconds) =>
  `${time(seconds)}, step ${step + 1} of ${plan.steps.length}, ${DOING[term]}`;

/**
 * @param {Plan} plan
 * @param {Step} step
 * @param {State} state
 */
function factsOf(plan, step, { term }) {
  /**
   * @param {string} name
   * @param {string} value
   */
  const line = (name, value) => [h("dt", {}, name), h("dd", {}, value)];
  return [
    h("h3", {}, `Step ${step.index + 1} of ${plan.steps.length}: ${DOING[term]}`),
    h(
      "dl",
      { class: "facts" },
      h("dt", {}, "Topology"),
      h("dd", { class: "name" }, nameOf(plan, step)),
      line("Circuits change before it", step.reconfigured ? "yes" : "no"),
      line("Largest transfer", size(step.transfer_bytes, plan.size_bytes)),
      line("Busiest circuit", size(step.transfer_bytes * step.load, plan.size_bytes)),
      line("Its load", times(step.load)),
      line("Longest path", counted(step.hops, "hop")),
      line("Takes", time(totalOf(step))),
    ),
  ];
}
