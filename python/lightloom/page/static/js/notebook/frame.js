// The place of a widget in a notebook: a tree of its own, which styles and keys of the notebook do not reach.

import { append, h } from "../dom.js";

/** @import { Child } from "../dom.js" */

/**
 * The frame of a widget in an element of a notebook, light or dark as its surroundings.
 *
 * style: the widget's style sheet. onKey: called with keys that are pressed within.
 *
 * Returns `{show(children), leave()}`.
 *
 * @param {{el: HTMLElement, style: string, onKey?: (event: KeyboardEvent) => void}} told
 */
export function frameOf({ el, style, onKey = () => {} }) {
  const content = h("div", { class: "result" });
  // Letters that are typed here are not for JupyterLab's shortcuts, such as two d, which delete a cell.
  const host = h("div", { "data-lm-suppress-shortcuts": "true" });
  append(host.attachShadow({ mode: "open" }), [h("style", {}, style), content]);
  content.addEventListener("keydown", (event) => {
    onKey(event);
    event.stopPropagation();
  });
  el.append(host);
  const follow = () => {
    const theme = isDarkAround(host) ? "dark" : "light";
    if (host.dataset.theme === theme) return;
    host.dataset.theme = theme;
    dispatchEvent(new Event("colours"));
  };
  const ends = onThemes(follow);
  return {
    /** @param {...Child} children */
    show(...children) {
      append(content, children);
      follow();
    },
    leave: ends,
  };
}

/**
 * Calls `follow` when the colours of the system or of the notebook may have changed; returns a function that ends that.
 *
 * @param {() => void} follow
 */
function onThemes(follow) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", follow);
  // Notebooks say their theme by attributes of these two, and style sheets come in the same moment.
  const watch = new MutationObserver(() => requestAnimationFrame(follow));
  for (const each of [document.documentElement, document.body]) watch.observe(each, { attributes: true });
  return () => {
    system.removeEventListener("change", follow);
    watch.disconnect();
  };
}

/**
 * Whether the colour that is seen behind an element is dark, whichever way the notebook sets it.
 *
 * @param {HTMLElement} element
 */
function isDarkAround(element) {
  const pen = document.createElement("canvas").getContext("2d");
  if (!pen) return false;
  for (const colour of behind(element)) {
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
  }
  const [red, green, blue] = pen.getImageData(0, 0, 1, 1).data;
  return 0.299 * red + 0.587 * green + 0.114 * blue < 128;
}

/**
 * The backgrounds of an element's ancestors, the outermost first; before them that of an empty page.
 *
 * @param {HTMLElement} element
 */
function behind(element) {
  const probe = h("span", { style: "background: Canvas" });
  document.documentElement.append(probe);
  const colours = [getComputedStyle(probe).backgroundColor];
  probe.remove();
  /** @type {string[]} */
  const inwards = [];
  for (let at = above(element); at; at = above(at)) inwards.unshift(getComputedStyle(at).backgroundColor);
  return [...colours, ...inwards];
}

/**
 * @param {Element} element
 * @returns {Element | null}
 */
function above(element) {
  const root = element.getRootNode();
  return element.parentElement ?? (root instanceof ShadowRoot ? root.host : null);
}
