// A chunk of a plan's data that is followed: where it goes in the step that is shown, and where it goes next.

import { h, replace } from "../dom.js";
import { counted, size } from "../quantities.js";

/** @import { Child } from "../dom.js" */
/** @import { Carrying, Journey, Plan } from "../types.js" */

const MOST_TRANSFERS = 8;

/** The choice of a chunk, and words on where it goes. */
export class FollowedChunk {
  #input = h("input", { type: "number", id: "chunk", min: 0, step: 1, placeholder: "none" });
  #words = h("div", { class: "quiet" });
  /** @type {Journey | null} */
  #journey = null;
  #step = 0;
  #asked = 0;

  /**
   * journeyOf: asks where a chunk goes; null where that cannot be had. onChange: called with the transfers of the chunk
   * by step, or null. onStep: called with a step that is chosen.
   *
   * @param {{
   *   plan: Plan, journeyOf: (chunk: number) => Promise<Journey | null>,
   *   onChange: (steps: Carrying[][] | null) => void, onStep: (step: number) => void,
   * }} told
   */
  constructor({ plan, journeyOf, onChange, onStep }) {
    this.plan = plan;
    this.journeyOf = journeyOf;
    this.onChange = onChange;
    this.onStep = onStep;
    this.#input.addEventListener("input", () => this.#choose(this.#input.value));
    const pick = h("div", { class: "pick" }, h("label", { for: "chunk" }, "Chunk"), this.#input);
    this.element = h("div", {}, h("h3", {}, "Follow data"), pick, this.#words);
    this.#say();
  }

  /** @param {string} value */
  async #choose(value) {
    this.#asked += 1;
    const mine = this.#asked;
    const most = this.#journey ? this.#journey.chunks - 1 : Infinity;
    const chunk = value === "" ? null : Math.min(most, Math.max(0, Math.round(Number(value))));
    const found = chunk === null ? null : await this.journeyOf(chunk);
    if (mine !== this.#asked) return;
    this.#journey = found;
    if (found) this.#input.max = String(found.chunks - 1);
    this.onChange(found?.steps ?? null);
    if (chunk === null || found) this.#say();
    else replace(this.#words, `There is no chunk ${chunk}.`);
  }

  /** @param {number} step */
  show(step) {
    if (step === this.#step) return;
    this.#step = step;
    if (this.#journey) this.#say();
  }

  #say() {
    replace(this.#words, this.#journey ? this.#told(this.#journey) : "Give a chunk's number, and see where it goes.");
  }

  /** @param {Journey} journey */
  #told({ chunk, chunks, source, destination, bytes, steps }) {
    const own = source === null ? "a part at every GPU" : `from GPU ${source}`;
    const goal = destination === null ? "every GPU" : `GPU ${destination}`;
    const here = steps[this.#step] ?? [];
    const next = steps.findIndex((each, step) => step > this.#step && each.length > 0);
    const told = here
      .slice(0, MOST_TRANSFERS)
      .map(
        ({ source: from, destination: to, operation }) => `${from} → ${to}${operation === "reduce" ? ", added" : ""}`,
      );
    const more = here.length - told.length;
    /** @type {Child[]} */
    const parts = [
      h("p", {}, `Chunk ${chunk} of 0 to ${chunks - 1}, ${size(bytes, this.plan.size_bytes)}: ${own}, to ${goal}.`),
      h(
        "p",
        {},
        here.length
          ? `In this step ${told.join("; ")}${more ? `; ${more} more` : ""}.`
          : "It does not move in this step.",
      ),
    ];
    if (next >= 0) {
      const words = `Next in step ${next + 1}`;
      parts.push(h("button", { type: "button", class: "small", onclick: () => this.onStep(next) }, words));
    } else if (!here.length) parts.push(h("p", {}, `It has moved ${counted(steps.flat().length, "time")}.`));
    return parts;
  }
}
