// The choice of colours: the system's, light or dark; kept in this browser.

import { part } from "./dom.js";

const KEY = "lightloom-theme";

/** Makes the select of the header work. */
export function connectTheme() {
  const select = /** @type {HTMLSelectElement} */ (part("theme"));
  select.value = document.documentElement.dataset.theme ?? "auto";
  select.addEventListener("change", () => {
    if (select.value === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = select.value;
    try {
      if (select.value === "auto") localStorage.removeItem(KEY);
      else localStorage.setItem(KEY, select.value);
    } catch {
      // Without storage the choice holds until the page is left.
    }
    dispatchEvent(new Event("colours"));
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => dispatchEvent(new Event("colours")));
}

/** Whether dark colours are shown. */
export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}
