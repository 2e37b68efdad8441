// The result of a map in a sentence.

import { manner, variedOf } from "./map-axes.js";
import { labelOf, NEVER_CHANGE } from "./options.js";
import { counted, isKnown, times } from "./quantities.js";

/** @import { Cell, Letter } from "./types.js" */

/**
 * An axis with its values so far. isPerPair: whether sizes are those of blocks between pairs.
 *
 * @typedef {{option: string, isPerPair?: boolean}} NamedAxis
 * @typedef {NamedAxis & {values: number[]}} DrawnAxis
 */

/**
 * A map with its cells so far, by their places on its axes.
 *
 * @typedef {{x: DrawnAxis, y: DrawnAxis, cell: (x: number, y: number) => Cell | undefined}} DrawnMap
 */

// Below this, a difference is not worth a switch.
export const PAYS = 1.01;
const PAYING = "pays ";

/**
 * Whether changing circuits is what makes a cell at least a hundredth faster.
 *
 * @param {Cell} cell
 */
export const pays = ({ reconfigurations, speedup }) => (reconfigurations ?? 0) > 0 && (speedup ?? 0) >= PAYS;

/** @param {Cell} cell */
export const hasPlan = ({ total_s: total }) => isKnown(total);

/**
 * Place of the value that is nearest to a number by ratio; null where that lies outside.
 *
 * @param {number[]} values
 * @param {number} number
 */
export function nearest(values, number) {
  if (!(number > 0) || !values.length) return null;
  const apart = values.map((value) => Math.abs(Math.log(value / number)));
  const place = apart.indexOf(Math.min(...apart));
  const room =
    values.length > 1 ? Math.abs(Math.log(values[values.length - 1] / values[0])) / (values.length - 1) : 0.01;
  return apart[place] <= room * 0.75 + 1e-9 ? place : null;
}

/**
 * Where along a line of cells it pays: words such as `from 2 MiB on`; null where it does nowhere.
 *
 * @param {{value: number, cell: Cell}[]} line
 * @param {(value: number) => string} words
 */
function where(line, words) {
  const inside = line.map(({ cell }) => pays(cell));
  const count = inside.filter(Boolean).length;
  /** @param {number} place */
  const at = (place) => words(line[place].value);
  if (count === 0) return null;
  const [first, last] = [inside.indexOf(true), inside.lastIndexOf(true)];
  if (count === inside.length) return `at every value from ${at(0)} to ${at(inside.length - 1)}`;
  if (count !== last - first + 1) return `at ${count} of ${inside.length} values between ${at(first)} and ${at(last)}`;
  if (first === 0) return `up to ${at(last)}`;
  if (last === inside.length - 1) return `from ${at(first)} on`;
  return first === last ? `at ${at(first)}` : `from ${at(first)} to ${at(last)}`;
}

/**
 * Sentences on a map: for the form's problem, along either axis.
 *
 * own: the form's values of the two options. against: what is compared with, in words. of: how many cells
 * the whole map has.
 *
 * @param {{map: DrawnMap, own: Record<Letter, number>, problem: string, against: string, of: number}} told
 */
export function sentenceOf({ map, own, problem, against, of }) {
  const cells = map.x.values.flatMap((_, x) => map.y.values.flatMap((__, y) => map.cell(x, y) ?? []));
  if (!cells.length) return "";
  const isPart = cells.length < of;
  const compared = cells.filter(isCompared);
  if (!compared.length) return withoutRatio(cells, `${isPart ? "So far, for" : "For"} ${problem}`, against, of);
  const paying = compared.filter(pays).length;
  const best = Math.max(...compared.map((cell) => cell.speedup ?? 0));
  const isAll = compared.length === of;
  const rests = `${isPart ? "So far, on" : "On"} ${compared.length} of ${of} cells${othersLack(cells)}: for`;
  const start = `${isAll ? "For" : rests} ${problem}, changing circuits`;
  const here = isAll ? "this map" : "these cells";
  if (!paying) {
    const nowhere = `nowhere does a plan that changes them save a hundredth over ${against}`;
    return `${start} does not pay anywhere on ${here}: ${nowhere}.`;
  }
  const said = [along(map, own, "x"), along(map, own, "y")].filter(Boolean);
  const share =
    paying === compared.length
      ? `everywhere on ${here}`
      : `on ${Math.round((100 * paying) / compared.length)} % of ${here}`;
  if (!said.length) return `${start} pays ${share}; it is up to ${times(best)} as fast as ${against}.`;
  return `${start} ${joined(said)}. It pays ${share} and is up to ${times(best)} as fast as ${against}.`;
}

/**
 * Whether a cell has a plan, and one that it is compared with.
 *
 * @param {Cell} cell
 */
const isCompared = ({ speedup }) => isKnown(speedup);

/**
 * The parts that computed cells lack which a sentence does not count; empty where all are counted.
 *
 * @param {Cell[]} cells
 */
function othersLack(cells) {
  const [planned, compared] = [cells.filter(hasPlan).length, cells.filter(isCompared).length];
  const lacks = [
    planned < cells.length && `${cells.length - planned} without a plan`,
    compared < planned && `${planned - compared} with nothing to compare with`,
  ].filter(Boolean);
  return lacks.length ? ` (${lacks.join(", ")})` : "";
}

/**
 * A sentence on cells without a comparison: why no cell has a plan, or that no cell has a plan to compare with.
 *
 * @param {Cell[]} cells
 * @param {string} start
 * @param {string} against
 * @param {number} of
 */
function withoutRatio(cells, start, against, of) {
  const none = `${start}, none of ${cells.length < of ? `${cells.length} computed cells` : `the ${of} cells`} has`;
  if (cells.some(hasPlan)) return `${none} a plan of ${against} to compare with.`;
  const [reason, ...others] = new Set(cells.flatMap(({ reason }) => reason || []));
  return `${none} a plan${reason ? ` – ${reason}` : ""}${others.length ? ", or another reason" : ""}.`;
}

/**
 * `pays up to 256 MiB at 10 µs, and up to 31.6 µs at 1 MiB`.
 *
 * @param {string[]} said
 */
function joined(said) {
  const [first, second] = said;
  if (!second) return first;
  const both = [first, second].every((words) => words.startsWith(PAYING));
  return both ? `${first}, and ${second.slice(PAYING.length)}` : `${first}; it ${second}`;
}

/**
 * Along one axis, at the form's value of the other.
 *
 * @param {DrawnMap} map
 * @param {Record<Letter, number>} own
 * @param {Letter} letter
 */
function along(map, own, letter) {
  const other = letter === "x" ? "y" : "x";
  const place = nearest(map[other].values, own[other]);
  if (place === null) return "";
  const line = map[letter].values.flatMap((value, at) => {
    const cell = letter === "x" ? map.cell(at, place) : map.cell(place, at);
    return cell && value !== undefined && isCompared(cell) ? [{ value, cell }] : [];
  });
  if (line.length < 2) return "";
  const found = where(line, inWords(map[letter]));
  const at = inWords(map[other])(map[other].values[place]);
  return found === null ? `does not pay at ${at}` : `${PAYING}${found} at ${at}`;
}

/**
 * Values of an axis with their names, if their units do not say them.
 *
 * @param {NamedAxis} axis
 * @returns {(value: number) => string}
 */
export function inWords({ option, isPerPair = false }) {
  const { words } = manner(option);
  if (option === "gpus") return (value) => counted(value, "GPU");
  if (option === "ports") return (value) => counted(value, "port");
  /** @type {Record<string, string>} */
  const nouns = { startup: " startup", "hop-delay": " hop delay", size: isPerPair ? " a pair" : "" };
  const after = nouns[option] ?? "";
  return (value) => words(value) + after;
}

/**
 * What is compared with, in words.
 *
 * @param {string} against
 */
export const againstWords = (against) =>
  against === NEVER_CHANGE ? "circuits that never change" : `planner ${against}`;

/** @param {string} name */
export const titleOf = (name) => labelOf(variedOf(name));
