// How long the roles of a timeline's rows take within any span: exact at every zoom, from sums that are made once.

/** @import { Box, TimelineRow } from "../types.js" */

/** Spans of one role in a lane, which do not overlap, and the seconds of all before each. */
class Spans {
  /** @param {[first: number, last: number][]} spans in the order of time */
  constructor(spans) {
    this.firsts = Float64Array.from(spans, ([first]) => first);
    this.lasts = Float64Array.from(spans, ([, last]) => last);
    this.before = new Float64Array(spans.length);
    for (let at = 1; at < spans.length; at += 1)
      this.before[at] = this.before[at - 1] + this.lasts[at - 1] - this.firsts[at - 1];
  }

  /**
   * Seconds of the role before a moment.
   *
   * @param {number} moment
   */
  until(moment) {
    const at = lastUpTo(this.firsts, moment);
    return at < 0 ? 0 : this.before[at] + Math.min(moment, this.lasts[at]) - this.firsts[at];
  }
}

/**
 * The place of the last of rising values that is not above one; -1 if all are.
 *
 * @param {Float64Array} values
 * @param {number} value
 */
function lastUpTo(values, value) {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/**
 * Seconds by role.
 *
 * @typedef {Map<string, number>} Seconds
 */

/** Boxes of a row at one height: of boxes at the same time, the one that is drawn last is seen. */
export class Lane {
  /** @param {Box[]} boxes in the order of drawing */
  constructor(boxes) {
    const seen = uncovered(boxes);
    this.boxes = seen.map(({ box }) => box);
    this.firsts = Float64Array.from(seen, ({ first }) => first);
    this.lasts = Float64Array.from(seen, ({ last }) => last);
    /** @type {Map<string, [number, number][]>} */
    const spans = new Map();
    for (const { box, first, last } of seen) {
      const own = spans.get(box.role) ?? [];
      own.push([first, last]);
      spans.set(box.role, own);
    }
    this.roles = new Map([...spans].map(([role, own]) => [role, new Spans(own)]));
  }

  /**
   * The box that is seen at a moment, or null.
   *
   * @param {number} moment
   */
  at(moment) {
    const at = lastUpTo(this.firsts, moment);
    return at >= 0 && moment < this.lasts[at] ? this.boxes[at] : null;
  }

  /**
   * Seconds that each role is seen between two moments.
   *
   * @param {number} first
   * @param {number} last
   * @returns {Seconds}
   */
  seconds(first, last) {
    return new Map([...this.roles].map(([role, spans]) => [role, spans.until(last) - spans.until(first)]));
  }
}

/**
 * The lanes of a row.
 *
 * @param {TimelineRow} row
 */
export function lanesOf(row) {
  /** @type {Box[][]} */
  const boxes = Array.from({ length: row.lanes }, () => []);
  for (const box of row.boxes) boxes[box.lane].push(box);
  return boxes.map((own) => new Lane(own));
}

/**
 * Seconds by role of several lanes between two moments.
 *
 * @param {Lane[]} lanes
 * @param {number} first
 * @param {number} last
 * @returns {Seconds}
 */
export function secondsOf(lanes, first, last) {
  /** @type {Seconds} */
  const sums = new Map();
  for (const lane of lanes)
    for (const [role, seconds] of lane.seconds(first, last)) sums.set(role, (sums.get(role) ?? 0) + seconds);
  return sums;
}

/**
 * Parts of boxes over which no later one is drawn, in the order of time.
 *
 * @param {Box[]} boxes
 */
function uncovered(boxes) {
  const starting = boxes
    .map((box, order) => ({ box, order }))
    .sort((one, other) => one.box.first_s - other.box.first_s);
  const moments = Float64Array.from(new Set(boxes.flatMap(({ first_s, last_s }) => [first_s, last_s]))).sort();
  /** @type {{box: Box, first: number, last: number}[]} */
  const seen = [];
  /** @type {{box: Box, order: number}[]} */
  let open = [];
  let next = 0;
  for (let at = 0; at + 1 < moments.length; at += 1) {
    const [first, last] = [moments[at], moments[at + 1]];
    open = open.filter(({ box }) => box.last_s > first);
    while (next < starting.length && starting[next].box.first_s <= first) {
      if (starting[next].box.last_s > first) open.push(starting[next]);
      next += 1;
    }
    if (!open.length) continue;
    const { box } = open.reduce((top, one) => (one.order > top.order ? one : top));
    const before = seen.at(-1);
    if (before?.box === box && before.last === first) before.last = last;
    else seen.push({ box, first, last });
  }
  return seen;
}
