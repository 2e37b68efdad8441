// A plan at a time: the circuits of its step, and the switch that makes them, with the data that move along.

import { CircuitDrawing, circuitLegend, hopsOf, MOST_GPUS, rateOf } from "../charts/circuits.js";
import { SwitchDrawing } from "../charts/switch.js";
import { h, replace } from "../dom.js";
import { loadsOf } from "../loads.js";
import { startsOf, stateAt } from "../steps.js";

/** @import { OnGpu } from "../charts/circuits.js" */
/** @import { AnswersOfPlan, LoadsByLink } from "../loads.js" */
/** @import { State } from "../steps.js" */
/** @import { Carrying, Path, Plan, Ports } from "../types.js" */

// How far data move on the busiest circuits in a whole plan, in units of a drawing that is 640 of them wide.
const DISTANCE = 900;

/** Drawings of a plan that follow its time. */
export class StepScene {
  #words = h("p", { class: "quiet" });
  #switchPlace = h("div", {});
  /** @type {SwitchDrawing | null} */
  #switch = null;
  /** @type {number | null} */
  #gpu = null;
  /** By step, where a chunk is followed. @type {Carrying[][] | null} */
  #journey = null;
  /** Paths that are known of the step that is shown. @type {Path[]} */
  #paths = [];
  /** @type {State | null} */
  state = null;
  /** @type {LoadsByLink | null} */
  loads = null;
  /** @type {Ports | null} */
  ports = null;

  /**
   * answers: about the plan. onGpu: called with a GPU that is pointed at. onLoads: called when the loads of the step
   * that is shown have changed, or the ports of the switches are known. hasSwitch: whether the switch is drawn too.
   *
   * @param {{plan: Plan, answers: AnswersOfPlan, onGpu?: OnGpu, onLoads?: () => void, hasSwitch?: boolean}} told
   */
  constructor({ plan, answers, onGpu = () => {}, onLoads = () => {}, hasSwitch = false }) {
    this.plan = plan;
    this.onLoads = onLoads;
    this.starts = startsOf(plan);
    this.asked = loadsOf(plan, answers);
    const isDrawn = plan.gpus <= MOST_GPUS && plan.topologies.every((topology) => Array.isArray(topology.links));
    this.drawing = isDrawn ? new CircuitDrawing({ plan, onGpu }) : null;
    this.sent = plan.steps.reduce((sum, step) => sum + step.transmission_s, 0);
    const tooMany = `Circuits of ${plan.gpus} GPUs are too many to be drawn. The table of steps has them all.`;
    this.legend = this.drawing ? circuitLegend() : null;
    this.element = h(
      "div",
      { class: hasSwitch && isDrawn ? "scene" : null },
      h("div", {}, this.drawing?.element ?? h("p", { class: "quiet" }, tooMany), this.#words),
      hasSwitch && isDrawn ? this.#switchPlace : null,
    );
    if (hasSwitch && isDrawn) this.#askPorts(onGpu);
  }

  /** @param {OnGpu} onGpu */
  async #askPorts(onGpu) {
    const ports = await this.asked.also("/api/ports");
    if (!ports) return;
    this.ports = ports;
    this.onLoads();
    this.#switch = new SwitchDrawing({ ports, onGpu });
    replace(this.#switchPlace, this.#switch.element);
    if (!this.state) return;
    this.#switch.step(this.state.step);
    this.#carry();
    this.#flow(this.state);
  }

  /**
   * Shows a time, in seconds; returns what happens then, and whether that is another step or term than before.
   *
   * @param {number} seconds
   */
  show(seconds) {
    const state = stateAt(this.plan, this.starts, seconds);
    const isOther = state.step !== this.state?.step;
    const isNews = isOther || state.term !== this.state?.term;
    this.state = state;
    if (isOther) this.#turnTo(state.step);
    this.#flow(state);
    return { state, isNews };
  }

  /** @param {State} state */
  #flow(state) {
    const { transmission_s: sending } = this.plan.steps[state.step];
    const distance = this.sent ? (DISTANCE * state.share * sending) / this.sent : 0;
    for (const each of [this.drawing, this.#switch]) {
      each?.phase(state);
      each?.flow(distance);
    }
  }

  /** @param {number} index */
  #turnTo(index) {
    const step = this.plan.steps[index];
    this.drawing?.circuits(this.plan.topologies[step.topology]);
    replace(this.#words, this.drawing?.words() ?? "");
    this.#switch?.step(index);
    this.loads = null;
    this.#paths = [];
    this.#carry();
    if (!this.drawing) return;
    this.asked.of(index).then((found) => {
      if (!found || this.state?.step !== index) return;
      this.loads = found;
      this.#paths = [...new Set([...found.values()].flatMap(({ paths }) => paths))];
      this.#carry();
      // Before a visitor has gone on from the first step, the next one's are not worth a request.
      if (index) this.asked.ahead(index);
    });
  }

  /** Shows what the circuits carry, as far as it is known. */
  #carry() {
    const index = this.state?.step ?? 0;
    const step = this.plan.steps[index];
    this.drawing?.loads(this.loads, step);
    this.#switch?.rates((link) => rateOf(this.loads?.get(link), step));
    this.#follow();
    this.onLoads();
  }

  #follow() {
    const paths = this.followed();
    this.drawing?.select(this.#gpu);
    this.drawing?.follow(paths);
    this.#switch?.select(this.#gpu, new Set(paths.flatMap(hopsOf)));
  }

  /** Paths that are followed in the step that is shown: of the chunk, else out of the GPU that is chosen. */
  followed() {
    const carrying = this.#journey?.[this.state?.step ?? 0];
    if (carrying) {
      const pairs = new Set(carrying.map(({ source, destination }) => `${source}>${destination}`));
      return this.#paths.filter(({ source, destination }) => pairs.has(`${source}>${destination}`));
    }
    return this.#paths.filter(({ source }) => source === this.#gpu);
  }

  /**
   * Marks a GPU with its circuits and the paths of its data; null for no GPU.
   *
   * @param {number | null} gpu
   */
  select(gpu) {
    this.#gpu = gpu;
    this.#follow();
  }

  /**
   * Marks the paths of a chunk, by step; null for no chunk.
   *
   * @param {Carrying[][] | null} journey
   */
  follow(journey) {
    this.#journey = journey;
    this.#follow();
  }

  /** Cancels requests. */
  leave() {
    this.asked.leave();
  }
}
