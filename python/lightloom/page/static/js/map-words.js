// The result of a map in a sentence.

import { manner, varied } from "./map-axes.js";
import { labelOf, NEVER_CHANGE } from "./options.js";
import { counted, times } from "./quantities.js";

// Below this, a difference is not worth a switch.
export const PAYS = 1.01;
const PAYING = "pays ";

/** Whether changing circuits is what makes a cell at least a hundredth faster. */
export const pays = (cell) => cell.reconfigurations > 0 && cell.speedup >= PAYS;

/** Place of the value that is nearest to a number by ratio; null where that lies outside. */
export function nearest(values, number) {
  if (!(number > 0) || !values.length) return null;
  const apart = values.map((value) => Math.abs(Math.log(value / number)));
  const place = apart.indexOf(Math.min(...apart));
  const room = values.length > 1 ? Math.abs(Math.log(values.at(-1) / values[0])) / (values.length - 1) : 0.01;
  return apart[place] <= room * 0.75 + 1e-9 ? place : null;
}

/** Where along a line of cells it pays: words such as `from 2 MiB on`. */
function where(line, words) {
  const inside = line.map(({ cell }) => pays(cell));
  const count = inside.filter(Boolean).length;
  const at = (place) => words(line[place].value);
  if (count === 0) return { none: true };
  const [first, last] = [inside.indexOf(true), inside.lastIndexOf(true)];
  if (count === inside.length) return { words: `at every value from ${at(0)} to ${at(inside.length - 1)}` };
  if (count !== last - first + 1)
    return { words: `at ${count} of ${inside.length} values between ${at(first)} and ${at(last)}` };
  if (first === 0) return { words: `up to ${at(last)}` };
  if (last === inside.length - 1) return { words: `from ${at(first)} on` };
  return first === last ? { words: `at ${at(first)}` } : { words: `from ${at(first)} to ${at(last)}` };
}

/**
 * Sentences on a map: for the form's problem, along either axis.
 *
 * map: `{x, y, cell(x, y)}`, an axis `{option, values}`. own: the form's values of the two options, numbers.
 */
export function sentenceOf({ map, own, problem, against }) {
  const cells = map.x.values.flatMap((_, x) => map.y.values.map((__, y) => map.cell(x, y))).filter(Boolean);
  if (!cells.length) return "";
  const paying = cells.filter(pays).length;
  const best = Math.max(...cells.map((cell) => cell.speedup ?? 0));
  const start = `For ${problem}, changing circuits`;
  if (!paying) {
    const nowhere = `nowhere does a plan that changes them save a hundredth over ${against}`;
    return `${start} does not pay anywhere on this map: ${nowhere}.`;
  }
  const said = [along(map, own, "x"), along(map, own, "y")].filter(Boolean);
  const share =
    paying === cells.length
      ? "everywhere on this map"
      : `on ${Math.round((100 * paying) / cells.length)} % of this map`;
  if (!said.length) return `${start} pays ${share}; it is up to ${times(best)} as fast as ${against}.`;
  return `${start} ${joined(said)}. It pays ${share} and is up to ${times(best)} as fast as ${against}.`;
}

/** `pays up to 256 MiB at 10 µs, and up to 31.6 µs at 1 MiB`. */
function joined(said) {
  const [first, second] = said;
  if (!second) return first;
  const both = [first, second].every((words) => words.startsWith(PAYING));
  return both ? `${first}, and ${second.slice(PAYING.length)}` : `${first}; it ${second}`;
}

/** Along one axis, at the form's value of the other. */
function along(map, own, letter) {
  const other = letter === "x" ? "y" : "x";
  const place = nearest(map[other].values, own[other]);
  if (place === null) return "";
  const line = map[letter].values
    .map((value, at) => ({ value, cell: letter === "x" ? map.cell(at, place) : map.cell(place, at) }))
    .filter(({ cell, value }) => cell && value !== undefined);
  if (line.length < 2) return "";
  const found = where(line, inWords(map[letter]));
  const at = inWords(map[other])(map[other].values[place]);
  return found.none ? `does not pay at ${at}` : `${PAYING}${found.words} at ${at}`;
}

/** Values of an axis `{option, isPerPair}` with their names, if their units do not say them. */
export function inWords({ option, isPerPair = false }) {
  const { words } = manner(option);
  if (option === "gpus") return (value) => counted(value, "GPU");
  if (option === "ports") return (value) => counted(value, "port");
  const after = { startup: " startup", "hop-delay": " hop delay", size: isPerPair ? " a pair" : "" }[option] ?? "";
  return (value) => words(value) + after;
}

/** What is compared with, in words. */
export const againstWords = (against) =>
  against === NEVER_CHANGE ? "circuits that never change" : `planner ${against}`;

export const titleOf = (name) => labelOf(varied().find((option) => option.name === name));
