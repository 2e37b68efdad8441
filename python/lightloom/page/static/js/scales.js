// Scales of sliders and axes: powers of two for sizes and counts, 1-2-5 for times and rates.

import { parseRate, parseSize, parseTime } from "./quantities.js";

const SIZE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];
/** @type {[number, string][]} */
const TIME_UNITS = [
  [1e-9, "ns"],
  [1e-6, "us"],
  [1e-3, "ms"],
  [1, "s"],
];

/** @import { Widget } from "./options.js" */

/**
 * The values of a slider in their order, and how a person types them.
 *
 * @typedef {{values: number[], parse: (text: string) => number, write: (value: number) => string}} Slider
 */

/**
 * Bytes as a person types them: `64MiB`; all digits where a few do not say it.
 *
 * @param {number} bytes
 */
export function writtenSize(bytes) {
  const power = Math.min(4, Math.max(0, Math.floor(Math.log2(bytes) / 10 + 1e-9)));
  const short = Number((bytes / 1024 ** power).toPrecision(6));
  return short * 1024 ** power === bytes ? `${short}${SIZE_UNITS[power]}` : `${bytes}B`;
}

/**
 * Seconds as a person types them: `10us`; all digits where a few do not say it.
 *
 * @param {number} seconds
 */
export function writtenTime(seconds) {
  const [one, unit] = TIME_UNITS.findLast(([least]) => seconds >= least * 0.999999) ?? TIME_UNITS[0];
  const short = Number((seconds / one).toPrecision(6));
  return Math.abs(short * one - seconds) <= 1e-15 * seconds
    ? `${short}${unit}`
    : `${seconds < 1e-3 ? seconds.toExponential() : seconds}s`;
}

/** @param {number} bps */
const writtenRate = (bps) =>
  bps >= 1e12 ? `${Number((bps / 1e12).toPrecision(6))}Tbps` : `${Number((bps / 1e9).toPrecision(6))}Gbps`;

/**
 * @param {number} from
 * @param {number} to
 */
function oneTwoFive(from, to) {
  const values = [];
  for (let exponent = from; exponent <= to; exponent += 1) {
    for (const digit of [1, 2, 5]) values.push(Number(`${digit}e${exponent}`));
  }
  return values.slice(0, values.length - 2);
}

/**
 * @param {number} from
 * @param {number} to
 */
const powersOfTwo = (from, to) => Array.from({ length: to - from + 1 }, (_, place) => 2 ** (from + place));

/** @type {Partial<Record<Widget, Slider>>} */
const SLIDERS = {
  size: { values: powersOfTwo(10, 34), parse: parseSize, write: writtenSize },
  time: { values: oneTwoFive(-9, -1), parse: parseTime, write: writtenTime },
  rate: {
    values: oneTwoFive(9, 13)
      .concat(4e11, 8e11, 1.6e12)
      .sort((a, b) => a - b),
    parse: parseRate,
    write: writtenRate,
  },
  whole: { values: powersOfTwo(0, 10), parse: Number, write: String },
};

/**
 * The slider of a widget: `{count, placeOf(text), textAt(place, text)}`; null if it has no slider.
 *
 * @param {Widget} widget
 */
export function sliderOf(widget, least = 0, most = Infinity) {
  const slider = SLIDERS[widget];
  if (!slider) return null;
  const values = slider.values.filter((value) => widget !== "whole" || (value >= least && value <= most));
  return {
    count: values.length,
    /** @param {string} text */
    placeOf(text) {
      const value = slider.parse(text);
      if (!(value > 0)) return 0;
      const apart = values.map((each) => Math.abs(Math.log(each / value)));
      return apart.indexOf(Math.min(...apart));
    },
    /**
     * @param {number} place
     * @param {string} text
     */
    textAt(place, text) {
      return slider.write(values[place]) + (/\/pair\s*$/.test(text) ? "/pair" : "");
    },
  };
}

/**
 * Round values of a linear axis: about `count` of them.
 *
 * @param {number} from
 * @param {number} to
 */
export function ticks(from, to, count = 5) {
  if (!(to > from)) return [from];
  const rough = (to - from) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5].map((digit) => digit * power).find((each) => each >= rough * 0.999) ?? 10 * power;
  const first = Math.ceil(from / step - 1e-9);
  return Array.from({ length: Math.floor(to / step + 1e-9) - first + 1 }, (_, place) => (first + place) * step);
}

/**
 * Powers of ten, and 2 and 5 where there is room, of a logarithmic axis.
 *
 * @param {number} from
 * @param {number} to
 */
export function logTicks(from, to, most = 7) {
  const decades = [];
  for (let power = Math.ceil(Math.log10(from) - 1e-9); power <= Math.log10(to) + 1e-9; power += 1)
    decades.push(10 ** power);
  if (decades.length > most) return decades.filter((_, place) => place % Math.ceil(decades.length / most) === 0);
  if (decades.length * 3 > most) return decades;
  return oneTwoFive(Math.floor(Math.log10(from)), Math.ceil(Math.log10(to)) + 1).filter(
    (value) => value >= from * 0.999 && value <= to * 1.001,
  );
}

/**
 * A scale: places, from start to end, of values between two.
 *
 * @typedef {(from: number, to: number, start: number, end: number) => (value: number) => number} Scale
 */

/** @type {Scale} */
export const linear = (from, to, start, end) => (value) => start + ((value - from) / (to - from || 1)) * (end - start);
/** @type {Scale} */
export const logarithmic = (from, to, start, end) => {
  const place = linear(Math.log(from), Math.log(to), start, end);
  return (value) => place(Math.log(value));
};
