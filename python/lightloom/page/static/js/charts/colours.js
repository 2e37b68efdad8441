// Colours of ratios: blue where the first is faster, orange where the second is, for any colour vision.

import { h } from "../dom.js";
import { isDark } from "../theme.js";

const LIGHT = {
  over: ["#f1efea", "#a9cfe4", "#4a97c9", "#1764a0", "#08306b"],
  under: ["#f1efea", "#fdc28c", "#e8802f", "#b34e0a", "#6d2a02"],
};
const DARK = {
  over: ["#2b323a", "#22516f", "#2b7cae", "#62b5e8", "#c9e8ff"],
  under: ["#2b323a", "#6b3a12", "#b0601a", "#ee9445", "#ffd3a8"],
};
const ENDS = [1.1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100, 1000];

/** @param {string} hex */
const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

/**
 * @param {string[]} colours
 * @param {number} share
 */
function between(colours, share) {
  const at = Math.min(1, Math.max(0, share)) * (colours.length - 1);
  const low = Math.min(colours.length - 2, Math.floor(at));
  const [one, other] = [channels(colours[low]), channels(colours[low + 1])];
  return `rgb(${one.map((value, place) => Math.round(value + (other[place] - value) * (at - low))).join(" ")})`;
}

/**
 * The round ratio at the end of a scale of ratios.
 *
 * @param {number[]} ratios
 */
export function endOf(ratios) {
  const most = Math.max(1, ...ratios.map((ratio) => (ratio > 0 ? Math.max(ratio, 1 / ratio) : 1)));
  return ENDS.find((end) => end >= most) ?? ENDS[ENDS.length - 1];
}

/**
 * The colour of a ratio on a scale that ends at `end`, logarithmic.
 *
 * @param {number} ratio
 * @param {number} end
 */
export function ratioColour(ratio, end) {
  const sides = isDark() ? DARK : LIGHT;
  const share = Math.log(ratio) / Math.log(end);
  return share >= 0 ? between(sides.over, share) : between(sides.under, -share);
}

/**
 * A legend of ratios. hasLess: whether some are below one.
 *
 * @param {number} end
 * @param {boolean} hasLess
 */
export function ratioLegend(end, hasLess) {
  const steps = [-1, -0.5, 0, 0.25, 0.5, 0.75, 1].filter((share) => hasLess || share >= 0);
  return h(
    "ul",
    { class: "legend", "aria-label": "Colours: how much faster" },
    steps.map((share) => {
      const ratio = end ** share;
      const swatch = h("span", { class: "swatch" });
      swatch.style.background = ratioColour(ratio, end);
      return h("li", {}, swatch, share === 0 ? "equal" : `${Number(ratio.toPrecision(2))}×`);
    }),
  );
}
