// One calculation at a time: the newest request counts, outdated ones are cancelled, failures are shown.

import { isShown } from "./address.js";
import { isAborted, Refusal, wordsOf } from "./api.js";
import { announce, h, replace } from "./dom.js";

/** @import { Child } from "./dom.js" */

/**
 * A calculation, which rejects where it fails or is cancelled.
 *
 * @typedef {(signal: AbortSignal) => Promise<unknown>} Task
 */

const SEEN_BUSY_MS = 160;
const OFFLINE_RETRY_S = 3;

/**
 * Runs calculations for a view.
 *
 * notices: element for messages of failures. busy: element for the message while something is computed. result:
 * element that is dimmed while its content is outdated. wrong: called with a field and words where an option is
 * refused; returns whether the field is shown. right: called before every calculation that is not a repetition.
 *
 * `hasFailed`: whether the newest calculation ended without a result, so far.
 */
export class Work {
  /**
   * @param {{
   *   notices: HTMLElement, busy: HTMLElement, result: HTMLElement, right: () => void,
   *   wrong: (field: string, words: string) => boolean,
   * }} told
   */
  constructor({ notices, busy, result, wrong, right }) {
    this.notices = notices;
    this.busy = busy;
    this.result = result;
    this.wrong = wrong;
    this.right = right;
    /** @type {AbortController | null} */
    this.controller = null;
    /** @type {Set<ReturnType<typeof setTimeout>>} */
    this.timers = new Set();
    this.hasFailed = false;
  }

  /**
   * Runs a task. The task that ran before is cancelled.
   *
   * @param {Task} task
   */
  run(task, { delay = 0, words = "Computing…" } = {}) {
    this.stop();
    const controller = new AbortController();
    this.controller = controller;
    this.hasFailed = false;
    this.result.setAttribute("aria-busy", "true");
    this.later(delay, () => this.attempt(task, controller, words));
  }

  /** Cancels what runs. */
  stop() {
    this.controller?.abort();
    this.controller = null;
    for (const timer of this.timers) clearTimeout(timer);
    this.timers.clear();
    replace(this.busy);
  }

  /**
   * @param {number} milliseconds
   * @param {() => void} call
   */
  later(milliseconds, call) {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      call();
    }, milliseconds);
    this.timers.add(timer);
  }

  /**
   * @param {Task} task
   * @param {AbortController} controller
   * @param {string} words
   */
  async attempt(task, controller, words) {
    this.later(SEEN_BUSY_MS, () => {
      replace(this.busy, words);
      this.result.classList.add("outdated");
    });
    try {
      await task(controller.signal);
      if (this.controller !== controller) return;
      this.settle();
      this.hasFailed = false;
      this.right();
      replace(this.notices);
      this.result.classList.remove("outdated");
      isShown();
    } catch (error) {
      if (isAborted(error) || this.controller !== controller) return;
      this.settle();
      this.hasFailed = true;
      this.result.classList.add("outdated");
      this.say(error, () => this.attempt(task, controller, words));
    }
  }

  settle() {
    for (const timer of this.timers) clearTimeout(timer);
    this.timers.clear();
    replace(this.busy);
    this.result.removeAttribute("aria-busy");
  }

  /**
   * @param {unknown} error
   * @param {() => void} again
   */
  say(error, again) {
    const refusal = error instanceof Refusal ? error : null;
    const message = wordsOf(error);
    if (!refusal) console.error(error);
    this.right();
    if (refusal?.field && this.wrong(refusal.field, message)) {
      // The former result stays; if there is none, the reason is shown in its place.
      replace(this.notices, this.result.childElementCount ? null : notice("bad", message));
      announce(message);
      return;
    }
    const wait = refusal?.isOffline
      ? OFFLINE_RETRY_S
      : refusal?.isBusy
        ? Math.max(1, Math.ceil(refusal.retryAfter ?? 2))
        : null;
    if (wait === null) {
      replace(this.notices, notice("bad", message || "Something went wrong in this page."));
      announce(message);
      return;
    }
    const words = refusal?.isOffline
      ? "The server does not answer: it has ended, or cannot be reached. The page asks again every few seconds."
      : `The server has too much to do (${message.replace(/\.$/, "")}). The page asks again in ${wait} s.`;
    const now = h("button", { type: "button", class: "small", onclick: again }, "Ask again now");
    replace(this.notices, notice("", words, now));
    announce(words);
    this.later(wait * 1000, again);
  }
}

/**
 * That a result is a part of what was asked for, which took longer than a request may.
 *
 * more: words on how to go on, elements.
 *
 * @param {Refusal} refusal
 * @param {Child[]} more
 */
export const partNotice = (refusal, ...more) =>
  notice("", `${refusal.message.replace(/\.$/, "")}. What was found until then is shown.`, ...more);

/**
 * A notice; kind: `bad` where something is wrong.
 *
 * @param {string} kind
 * @param {string} words
 * @param {Child[]} more
 */
export function notice(kind, words, ...more) {
  return h("div", { class: `notice ${kind}`, role: kind === "bad" ? "alert" : null }, h("span", {}, words), more);
}
