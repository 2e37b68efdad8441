// A map asked for in two halves, which two processes of the server work on at once.

import { follow } from "./api.js";

/** @import { Listeners } from "./api.js" */
/** @import { AskedAxis } from "./map-axes.js" */
/** @import { Axis, Body, Cell, CellMap, Letter } from "./types.js" */

/**
 * What is asked for: options of the plans, two axes, and a planner to compare with.
 *
 * @typedef {{options: Body, x: AskedAxis, y: AskedAxis, against: string | undefined}} AskedMap
 */

// Fewer cells are not worth two requests.
const LEAST_CELLS = 100;

/**
 * Asks for a map; `on.row` is given every cell, `on.progress` how many of how many are there. Returns the whole map.
 *
 * told: one axis as the server tells it, `{x}` or `{y}`; every other one of its values goes into either half. Without
 * it, or of few cells, there is one request.
 *
 * @param {AskedMap} body
 * @param {Partial<Record<Letter, Axis>>} told
 * @param {number} points
 * @param {Required<Listeners<"/api/map">>} on
 * @param {AbortSignal} signal
 * @returns {Promise<CellMap>}
 */
export async function mapOf(body, told, points, on, signal) {
  const [letter] = /** @type {Letter[]} */ (Object.keys(told));
  const axis = told[letter];
  if (!axis || axis.values.length < 2 || points < LEAST_CELLS) return follow("/api/map", body, on, { signal });
  const { values, per_pair: isPerPair } = axis;
  const index = /** @type {const} */ (`${letter}_index`);
  const asked = isPerPair ? values.map((bytes) => `${bytes}B/pair`) : values;
  const stop = new AbortController();
  const cancel = () => stop.abort();
  signal.addEventListener("abort", cancel);
  const done = [0, 0];
  /** @param {number} offset */
  const half = async (offset) => {
    /** @type {(cell: Cell) => Cell} */
    const place = (cell) => ({ ...cell, [index]: cell[index] * 2 + offset });
    const part = {
      ...body,
      [letter]: { option: body[letter].option, values: asked.filter((_, at) => at % 2 === offset) },
    };
    const answer = await follow(
      "/api/map",
      part,
      {
        row: (cell) => on.row(place(cell)),
        progress(told) {
          done[offset] = told.done;
          on.progress({ done: done[0] + done[1], of: points });
        },
      },
      { signal: stop.signal },
    );
    return { ...answer, cells: answer.cells.map(place) };
  };
  try {
    const [one, other] = await Promise.all([half(0), half(1)]);
    const cells = [...one.cells, ...other.cells].sort((a, b) => a.y_index - b.y_index || a.x_index - b.x_index);
    return { ...one, [letter]: axis, cells };
  } finally {
    signal.removeEventListener("abort", cancel);
    cancel();
  }
}
