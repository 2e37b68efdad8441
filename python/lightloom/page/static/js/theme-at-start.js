// Runs before the first paint, so that a page in the chosen colours does not flash in others.
// biome-ignore lint/suspicious/noRedundantUseStrict: it is loaded as a script, not as a module
"use strict";
(() => {
  /** @type {string | null} */
  let chosen = null;
  try {
    chosen = localStorage.getItem("lightloom-theme");
  } catch {
    // Storage may be refused; the system's colours are then taken.
  }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
