// Plays a plan: a time that is dragged, stepped through or runs.

import { h, reducedMotion, replace } from "../dom.js";
import { time } from "../quantities.js";

const PLAYS_S = [5, 12, 30];
const RANGE = 2000;
// Without motion the time goes from step to step.
const STILL_MS = 900;

/** @type {Record<string, number>} */
const ARROWS = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 };

// Elements that have a use of their own for the space bar or for arrows.
const PRESSED = "input, select, textarea, button, summary, a";
const MOVED = "input, select, textarea, .scroll, pre";
/** @type {Record<string, number>} */
const LEFT_AND_RIGHT = { ArrowLeft: -1, ArrowRight: 1 };

/** A player of a plan: its time runs, goes from step to step, or is dragged. */
export class Player {
  #now = 0;
  /** @type {{id?: number, still?: number} | null} */
  #frame = null;
  #pace = PLAYS_S[1];
  #play = button("▶", "Play", "Play or pause (space)", () => this.toggle());
  #range = h("input", { type: "range", min: 0, max: RANGE, value: 0, "aria-label": "Time in the plan" });
  #shown = h("output", { "aria-hidden": "true" });

  /**
   * total: seconds of the plan. starts: when each step begins. onTime: called with seconds. say: words for a time.
   *
   * @param {{
   *   total: number, starts: number[], onTime: (seconds: number) => void, say: (seconds: number) => string,
   * }} told
   */
  constructor({ total, starts, onTime, say }) {
    this.total = total;
    this.starts = starts;
    this.onTime = onTime;
    this.say = say;
    this.#play.className = "main";
    this.element = h(
      "div",
      { class: "player", role: "group", "aria-label": "Player" },
      button("◂", "Step back", "Step back (left)", () => this.step(-1)),
      this.#play,
      button("▸", "Step on", "Step on (right)", () => this.step(1)),
      this.#range,
      this.#shown,
      this.#speed(),
    );
    this.#listen();
  }

  #speed() {
    const options = PLAYS_S.map((each) => h("option", { value: each, selected: each === this.#pace }, `in ${each} s`));
    const select = h("select", {}, options);
    select.addEventListener("change", () => {
      this.#pace = Number(select.value);
    });
    return h("label", {}, h("span", { class: "unseen" }, "Play it in"), select);
  }

  #listen() {
    this.#range.addEventListener("input", () => {
      this.leave();
      this.set((Number(this.#range.value) / RANGE) * this.total);
    });
    this.#range.addEventListener("keydown", (event) => {
      const by = ARROWS[event.key];
      if (!by) return;
      event.preventDefault();
      event.stopPropagation();
      this.step(by);
    });
  }

  /**
   * Goes to a time, in seconds.
   *
   * @param {number} seconds
   */
  set(seconds) {
    this.#now = Math.min(this.total, Math.max(0, seconds));
    this.#range.value = String(Math.round((this.#now / this.total) * RANGE));
    this.#range.setAttribute("aria-valuetext", this.say(this.#now));
    replace(this.#shown, time(this.#now));
    this.onTime(this.#now);
  }

  /** Shows the same time once more. */
  again() {
    this.set(this.#now);
  }

  /**
   * To the beginning of a step; half a millionth into it, so that rounding does not fall into the one before.
   *
   * @param {number} by
   */
  step(by) {
    this.leave();
    const edge = this.total * 1e-9;
    const at = this.starts.findLastIndex((start) => start <= this.#now + edge);
    const next = Math.min(this.starts.length - 1, Math.max(0, at + by));
    this.set(this.starts[next] + edge / 2);
  }

  /** Plays, or pauses. */
  toggle() {
    if (this.#frame !== null) {
      this.leave();
      return;
    }
    if (this.#now >= this.total * (1 - 1e-6)) this.set(0);
    replace(this.#play, "❚❚");
    this.#play.setAttribute("aria-label", "Pause");
    if (reducedMotion()) this.#frame = { still: setInterval(() => this.#stepOrEnd(), STILL_MS) };
    else this.#run();
  }

  #stepOrEnd() {
    const next = this.starts.findIndex((start) => start > this.#now + this.total * 1e-9);
    if (next < 0) {
      this.leave();
      this.set(this.total);
    } else this.set(this.starts[next] + this.total * 5e-10);
  }

  #run() {
    let last = performance.now();
    /** @param {number} moment */
    const tick = (moment) => {
      this.set(this.#now + ((moment - last) / 1000 / this.#pace) * this.total);
      last = moment;
      if (this.#now >= this.total) this.leave();
      else this.#frame = { id: requestAnimationFrame(tick) };
    };
    this.#frame = { id: requestAnimationFrame(tick) };
  }

  /**
   * Takes a key that nothing else on the page has a use for.
   *
   * @param {KeyboardEvent} event
   */
  key(event) {
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.defaultPrevented;
    const by = LEFT_AND_RIGHT[event.key];
    if (!isPlain || (event.key !== " " && !by)) return;
    if (event.target instanceof Element && event.target.closest(by ? MOVED : PRESSED)) return;
    if (by) this.step(by);
    else this.toggle();
    event.preventDefault();
  }

  /** Pauses. */
  leave() {
    if (this.#frame?.id) cancelAnimationFrame(this.#frame.id);
    if (this.#frame?.still) clearInterval(this.#frame.still);
    this.#frame = null;
    replace(this.#play, "▶");
    this.#play.setAttribute("aria-label", "Play");
  }
}

/**
 * @param {string} sign
 * @param {string} label
 * @param {string} title
 * @param {() => void} onclick
 */
const button = (sign, label, title, onclick) =>
  h("button", { type: "button", "aria-label": label, title, onclick }, sign);
