// Runs before the first paint, so that a page in the chosen colours does not flash in others.
"use strict";
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem("lightloom-theme");
  } catch {
    // Storage may be refused; the system's colours are then taken.
  }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
