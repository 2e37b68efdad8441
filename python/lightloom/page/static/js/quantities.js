// Numbers as the command line writes them: four digits of a time, sizes in the units of who wrote them.

/** @type {[number, number, string][]} */
const TIMES = [
  [1e-6, 1e9, "ns"],
  [1e-3, 1e6, "µs"],
  [1, 1e3, "ms"],
  [Infinity, 1, "s"],
];

/** @import { Fabric } from "./types.js" */

/**
 * Whether a value is a number that can be shown; where there is none, the server says null.
 *
 * @param {unknown} value
 * @returns {value is number}
 */
export const isKnown = (value) => Number.isFinite(value);

/**
 * A number with so many decimals, halves to even as the command line rounds them; `toFixed` rounds them up.
 *
 * @param {number} value
 * @param {number} decimals
 */
function fixed(value, decimals) {
  const scaled = value * 10 ** decimals;
  // Only such numbers can be halfway between two.
  const isHalf = Number.isInteger(value * 2 ** (decimals + 1)) && Math.abs(scaled % 1) === 0.5;
  return isHalf ? ((2 * Math.round(scaled / 2)) / 10 ** decimals).toFixed(decimals) : value.toFixed(decimals);
}

/**
 * Factor and unit of seconds.
 *
 * @param {number} seconds
 */
function unitOf(seconds) {
  const [, factor, unit] = TIMES.find(([end]) => Math.abs(seconds) < end * 0.99995) ?? TIMES[TIMES.length - 1];
  return /** @type {const} */ ([factor, unit]);
}

/**
 * Number and unit of seconds, four significant digits.
 *
 * @param {number} seconds
 * @returns {[number: string, unit: string]}
 */
export function timeParts(seconds) {
  if (!Number.isFinite(seconds)) return ["–", ""];
  if (seconds === 0) return ["0", "s"];
  const [factor, unit] = unitOf(seconds);
  const value = seconds * factor;
  const decimals = Math.min(3, Math.max(0, 3 - Math.floor(Math.log10(Math.abs(value)))));
  return [fixed(value, decimals), unit];
}

/**
 * `66.28 µs`.
 *
 * @param {number} seconds
 */
export const time = (seconds) => timeParts(seconds).join("\u00a0").trim();

/**
 * A time as short as it can be written: `10 µs`, for axes and choices.
 *
 * @param {number} seconds
 */
export function shortTime(seconds, most = 3) {
  if (seconds === 0) return "0";
  const [factor, unit] = unitOf(seconds);
  return `${Number((seconds * factor).toPrecision(most))}\u00a0${unit}`;
}

const BINARY = ["B", "KiB", "MiB", "GiB", "TiB"];
const DECIMAL = ["B", "KB", "MB", "GB", "TB"];

/**
 * @param {number} bytes
 * @param {number} base
 * @param {string[]} units
 */
function sizeIn(bytes, base, units) {
  let scale = 1;
  let index = 0;
  while (bytes / scale >= base && index + 1 < units.length) {
    scale *= base;
    index += 1;
  }
  const number = bytes / scale;
  const text = fixed(number, 3).replace(/\.?0+$/, "");
  return { number, text, unit: units[index], exact: Number(text) * scale === bytes };
}

/** @param {{number: number}} shown */
const isPower = (shown) => Number.isInteger(Math.log2(shown.number));

/** @param {number} bytes */
function isDecimal(bytes) {
  const [binary, decimal] = [sizeIn(bytes, 1024, BINARY), sizeIn(bytes, 1000, DECIMAL)];
  const short = decimal.exact && decimal.text.replace(/\D/g, "").length <= 4;
  if (!short || !binary.exact) return short;
  if (isPower(binary)) return false;
  return isPower(decimal) || decimal.text.length < binary.text.length;
}

/**
 * Number and unit of bytes, binary or decimal as `like` is written.
 *
 * @param {number} bytes
 * @returns {[number: string, unit: string]}
 */
export function sizeParts(bytes, like = bytes) {
  const shown = isDecimal(like) ? sizeIn(bytes, 1000, DECIMAL) : sizeIn(bytes, 1024, BINARY);
  return [shown.text, shown.unit];
}

/**
 * `64 MiB`.
 *
 * @param {number} bytes
 */
export const size = (bytes, like = bytes) => sizeParts(bytes, like).join("\u00a0");

/**
 * A size as short as it can be written, three digits: for axes and sentences.
 *
 * @param {number} bytes
 */
export function shortSize(bytes) {
  const [number, unit] = sizeParts(bytes);
  return `${Number(Number(number).toPrecision(3))}\u00a0${unit}`;
}

/**
 * `800 Gbit/s`.
 *
 * @param {number} bitsPerSecond
 */
export function rate(bitsPerSecond) {
  const [factor, unit] =
    bitsPerSecond >= 1e12 ? [1e12, "Tbit/s"] : bitsPerSecond >= 1e9 ? [1e9, "Gbit/s"] : [1e6, "Mbit/s"];
  return `${Number((bitsPerSecond / factor).toPrecision(4))}\u00a0${unit}`;
}

/**
 * Four digits of a number, without an exponent.
 *
 * @param {number} number
 */
export const digits = (number) => (Number.isFinite(number) ? String(Number(number.toPrecision(4))) : "–");

/**
 * `1.53×`.
 *
 * @param {number} ratio
 */
export const times = (ratio) =>
  Number.isFinite(ratio) ? `${ratio < 9.995 ? ratio.toFixed(2) : Number(ratio.toPrecision(3))}×` : "–";

/**
 * `1 step`, `2 steps`.
 *
 * @param {number} count
 * @param {string} noun
 */
export const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : noun.endsWith("y") ? "" : "s"}`;

/**
 * How far a time is above a bound, of `what` takes it: `the plan is 1.8 % above it`.
 *
 * @param {number} total
 * @param {number} bound
 */
export function aboveBound(total, bound, what = "the plan") {
  const ratio = total / bound;
  if (ratio < 1 + 1e-6) return "no schedule can be faster";
  return ratio < 1.1
    ? `${what} is ${((ratio - 1) * 100).toPrecision(2)} % above it`
    : `${what} takes ${times(ratio)} as long`;
}

// Units as the core reads them (model/src/units/spelling.rs): `b` is a bit and `B` a byte, prefixes are capitals or
// not, and times have no capitals.
const NUMBER = String.raw`^\s*([\d.]+(?:[eE][+-]?\d+)?)\s*`;
const SECOND = new RegExp(`${NUMBER}([pnuµμm]?)s\\s*$`);
const BYTE = new RegExp(`${NUMBER}(?:([kKmMgGtT])([iI]?))?B(?:/pair)?\\s*$`);
const PER_SECOND = new RegExp(`${NUMBER}(?:([kKmMgGtT])([iI]?))?(bps|b/s|[bB][iI][tT]/[sS]|Bps|B/s)\\s*$`);
// How many of a unit are a second: a quotient is rounded once, a product with the unit in seconds twice.
/** @type {Record<string, number>} */
const IN_A_SECOND = { "": 1, p: 1e12, n: 1e9, u: 1e6, µ: 1e6, μ: 1e6, m: 1e3 };

/**
 * @param {string | undefined} prefix
 * @param {string | undefined} binary
 */
const factorOf = (prefix, binary) => (binary ? 1024 : 1000) ** " KMGT".indexOf((prefix ?? " ").toUpperCase());

/**
 * Seconds of `10us`; NaN of anything else.
 *
 * @param {string} text
 */
export function parseTime(text) {
  const found = SECOND.exec(text);
  return found ? Number(found[1]) / IN_A_SECOND[found[2]] : NaN;
}

/**
 * Bytes of `64MiB` or `64MiB/pair`; NaN of anything else.
 *
 * @param {string} text
 */
export function parseSize(text) {
  const found = BYTE.exec(text);
  return found ? Number(found[1]) * factorOf(found[2], found[3]) : NaN;
}

/**
 * Bits per second of `800Gbps` or `100GB/s`; NaN of anything else.
 *
 * @param {string} text
 */
export function parseRate(text) {
  const found = PER_SECOND.exec(text);
  return found ? Number(found[1]) * factorOf(found[2], found[3]) * (/^B(ps|\/s)$/.test(found[4]) ? 8 : 1) : NaN;
}

/**
 * NCCL's factor from algorithm bandwidth to bus bandwidth (performance notes of nccl-tests).
 *
 * @param {string} collective
 * @param {number} gpus
 */
export function busFactor(collective, gpus) {
  if (collective === "all-reduce") return (2 * (gpus - 1)) / gpus;
  return collective === "broadcast" || collective === "reduce" ? 1 : (gpus - 1) / gpus;
}

/**
 * A fabric as plans have it: `1 port of 800 Gbit/s, startup 500 ns, …`, a sentence's end.
 *
 * @param {Fabric} fabric
 */
export function fabricWords(fabric) {
  const barrier = fabric.barrier_s ? `barrier ${shortTime(fabric.barrier_s)}, ` : "";
  const fibres = fabric.positions ? " and the light in fibres" : "";
  return (
    `${counted(fabric.ports, "port")} of ${rates(fabric)}, startup ${shortTime(fabric.startup_s)}, ` +
    `${barrier}hop delay ${shortTime(fabric.hop_delay_s)}${fibres}, reconfiguration delay ${delayOf(fabric)}` +
    `${fabric.pair_rates ? ", other rates and hop delays by pair of GPUs" : ""}` +
    `${fabric.optics ? `, optical layer ${fabric.optics}` : ""}` +
    `${fabric.electrical ? `, islands of ${islandsOf(fabric)}` : ""}.`
  );
}

/**
 * The rate of all ports, or that of each: `800, 800, 400, 400 Gbit/s`.
 *
 * @param {Fabric} fabric
 */
export function rates({ bandwidth_bps: told }) {
  if (!Array.isArray(told)) return rate(told);
  return `${told.map((bps) => Number((bps / 1e9).toPrecision(6))).join(", ")}\u00a0Gbit/s`;
}

/**
 * `72 GPUs round electrical switches of 7.2 Tbit/s, hop delay 500 ns`; `none` where there are no islands.
 *
 * @param {Fabric} fabric
 */
export function islandsOf({ electrical }) {
  if (!electrical) return "none";
  const { gpus, bandwidth_bps: bandwidth, hop_delay_s: delay } = electrical;
  return `${gpus} GPUs round electrical switches of ${rate(bandwidth)}, hop delay ${shortTime(delay)}`;
}

/** @param {Fabric} fabric */
export function delayOf(fabric) {
  const each = fabric.reconfiguration_delay_per_port_s;
  const parts = [
    fabric.reconfiguration_delay_s || !each ? shortTime(fabric.reconfiguration_delay_s ?? 0) : "",
    each ? `${shortTime(each)} a port` : "",
  ];
  return fabric.reconfiguration_delays_by_port_s ? "by port" : parts.filter(Boolean).join(" and ");
}
