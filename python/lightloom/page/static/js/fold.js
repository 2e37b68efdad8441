// A part of the page that is folded to a line where the screen is narrow, so that the result is at hand.

import { freshId, h, replace } from "./dom.js";

/**
 * Folds `part` behind a button; where the screen is wide it is shown, and the buttons are not.
 *
 * holder: the element around it, whose class says to style sheets whether it is folded. words: the label of the button
 * while it is, such as `Change`. done: words of the button below it, which folds it and goes on to the element of
 * `next`.
 *
 * Returns `{button, end, say(words), fold(), unfold()}`: buttons above and below the part, and the upper one's label.
 *
 * @param {{holder: HTMLElement, part: HTMLElement, words: string, done: string, next: () => HTMLElement}} told
 */
export function foldOf({ holder, part, words, done, next }) {
  const [said, act] = [h("span", { class: "said" }), h("span", { class: "act" })];
  const button = h("button", { type: "button", class: "fold" }, said, " ", act);
  const end = h("button", { type: "button", class: "main fold-end" }, done);
  part.id ||= freshId("folded");
  button.setAttribute("aria-controls", part.id);

  /** @param {boolean} isFolded */
  function set(isFolded) {
    holder.classList.toggle("folded", isFolded);
    button.setAttribute("aria-expanded", String(!isFolded));
    replace(act, isFolded ? words : "Fold");
  }

  button.addEventListener("click", () => set(!holder.classList.contains("folded")));
  end.addEventListener("click", () => {
    set(true);
    next().focus({ preventScroll: true });
    scrollTo(0, 0);
  });
  set(true);
  /** @param {string} told */
  const say = (told) => replace(said, told);
  return { button, end, say, fold: () => set(true), unfold: () => set(false) };
}
