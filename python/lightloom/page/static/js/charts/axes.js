// Axes and frames of drawings.

import { s } from "../dom.js";

/** @import { Attributes } from "../dom.js" */

/**
 * What an axis shows: values, their places, and their words.
 *
 * @typedef {{values: number[], place: (value: number) => number, words: (value: number) => string}} Axis
 */

/**
 * An SVG of a width and height in units of its own, with a title and a description for screen readers.
 *
 * @param {number} width
 * @param {number} height
 * @param {string} label
 * @param {Attributes} attributes
 */
export function drawing(width, height, label, attributes = {}) {
  return s("svg", {
    viewBox: `0 0 ${width} ${height}`,
    class: "chart",
    role: "img",
    "aria-label": label,
    ...attributes,
  });
}

/**
 * Gridlines and labels of a horizontal axis at the bottom. place: from value to x.
 *
 * @param {Axis & {top: number, bottom: number, title?: string, middle?: number}} told
 */
export function bottomAxis({ values, place, words, top, bottom, title = "", middle = 0 }) {
  return s(
    "g",
    { "aria-hidden": "true" },
    values.map((value) => [
      s("line", { class: "gridline", x1: place(value), x2: place(value), y1: top, y2: bottom }),
      s("text", { x: place(value), y: bottom + 15, "text-anchor": "middle" }, words(value)),
    ]),
    title ? s("text", { x: middle, y: bottom + 32, "text-anchor": "middle", class: "strong" }, title) : null,
  );
}

/**
 * Gridlines and labels of a vertical axis at the left. place: from value to y.
 *
 * @param {Axis & {left: number, right: number}} told
 */
export function leftAxis({ values, place, words, left, right }) {
  return s(
    "g",
    { "aria-hidden": "true" },
    values.map((value) => [
      s("line", { class: "gridline", x1: left, x2: right, y1: place(value), y2: place(value) }),
      s("text", { x: left - 7, y: place(value) + 4, "text-anchor": "end" }, words(value)),
    ]),
  );
}

/**
 * How wide a drawing may be, in its own units: those of the element that holds it, within bounds.
 *
 * @param {Element} element
 */
export function widthOf(element, least = 300, most = 1600) {
  return Math.round(Math.min(most, Math.max(least, element.clientWidth || least)));
}

/**
 * Draws again when the width of an element has changed. Returns a function that ends that.
 *
 * @param {Element} element
 * @param {() => void} draw
 */
export function onResize(element, draw) {
  let width = element.clientWidth;
  const observer = new ResizeObserver(() => {
    if (Math.abs(element.clientWidth - width) < 2) return;
    width = element.clientWidth;
    draw();
  });
  observer.observe(element);
  return () => observer.disconnect();
}

/**
 * Draws again when the width of an element or the colours have changed: for what has colours of its own, such as a
 * canvas. Returns a function that ends that.
 *
 * @param {Element} element
 * @param {() => void} draw
 */
export function onRedraw(element, draw) {
  const end = onResize(element, draw);
  addEventListener("colours", draw);
  return () => {
    end();
    removeEventListener("colours", draw);
  };
}
