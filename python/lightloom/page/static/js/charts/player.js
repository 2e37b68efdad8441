// Plays a plan: a time that is dragged, stepped through or runs.

import { h, reducedMotion, replace } from "../dom.js";
import { time } from "../quantities.js";

const PLAYS_S = [5, 12, 30];
const RANGE = 2000;
// Without motion the time goes from step to step.
const STILL_MS = 900;

/**
 * A player of a plan.
 *
 * total: seconds of the plan. starts: when each step begins. onTime: called with seconds. say: words for a time.
 * Returns `{element, set(seconds), again(), toggle(), step(by), leave()}`.
 */
export function player({ total, starts, onTime, say }) {
  let now = 0;
  let frame = null;
  let pace = PLAYS_S[1];
  const play = h("button", { type: "button", class: "main", "aria-label": "Play", title: "Play or pause (space)", onclick: () => toggle() }, "▶");
  const back = h("button", { type: "button", "aria-label": "Step back", title: "Step back (left)", onclick: () => step(-1) }, "◂");
  const on = h("button", { type: "button", "aria-label": "Step on", title: "Step on (right)", onclick: () => step(1) }, "▸");
  const range = h("input", { type: "range", min: 0, max: RANGE, value: 0, "aria-label": "Time in the plan" });
  const shown = h("output", { "aria-hidden": "true" });
  const speed = h(
    "label", {}, h("span", { class: "unseen" }, "Play it in"),
    h("select", { onchange: (event) => { pace = Number(event.target.value); } }, PLAYS_S.map((each) => h("option", { value: each, selected: each === pace }, `in ${each} s`))),
  );
  const element = h("div", { class: "player", role: "group", "aria-label": "Player" }, back, play, on, range, shown, speed);
  range.addEventListener("input", () => {
    pause();
    show((Number(range.value) / RANGE) * total);
  });
  range.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    step(by);
  });

  function show(seconds) {
    now = Math.min(total, Math.max(0, seconds));
    range.value = String(Math.round((now / total) * RANGE));
    range.setAttribute("aria-valuetext", say(now));
    replace(shown, time(now));
    onTime(now);
  }

  /** To the beginning of a step; half a millionth into it, so that rounding does not fall into the one before. */
  function step(by) {
    pause();
    const edge = total * 1e-9;
    const at = starts.findLastIndex((start) => start <= now + edge);
    const next = Math.min(starts.length - 1, Math.max(0, at + by));
    show(starts[next] + edge / 2);
  }

  function toggle() {
    if (frame !== null) {
      pause();
      return;
    }
    if (now >= total * (1 - 1e-6)) show(0);
    replace(play, "❚❚");
    play.setAttribute("aria-label", "Pause");
    if (reducedMotion()) frame = { still: setInterval(stepOrEnd, STILL_MS) };
    else run();
  }

  function stepOrEnd() {
    const next = starts.findIndex((start) => start > now + total * 1e-9);
    if (next < 0) {
      pause();
      show(total);
    } else show(starts[next] + total * 5e-10);
  }

  function run() {
    let last = performance.now();
    const tick = (moment) => {
      show(now + ((moment - last) / 1000 / pace) * total);
      last = moment;
      if (now >= total) pause();
      else frame = { id: requestAnimationFrame(tick) };
    };
    frame = { id: requestAnimationFrame(tick) };
  }

  function pause() {
    if (frame?.id) cancelAnimationFrame(frame.id);
    if (frame?.still) clearInterval(frame.still);
    frame = null;
    replace(play, "▶");
    play.setAttribute("aria-label", "Play");
  }

  return { element, set: show, again: () => show(now), toggle, step, leave: pause };
}
