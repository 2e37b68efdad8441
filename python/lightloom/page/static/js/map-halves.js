// A map asked for in two halves, which two processes of the server work on at once.

import { follow } from "./api.js";

// Fewer cells are not worth two requests.
const LEAST_CELLS = 100;

/**
 * Asks for a map; `on.row` is given every cell, `on.progress` how many of how many are there. Returns the whole map.
 *
 * values: those of one axis as the server tells them, `{x: […]}` or `{y: […]}`; every other one of them goes into
 * either half. Without them, or of few cells, there is one request.
 */
export async function mapOf(body, values, points, on, signal) {
  const [letter] = Object.keys(values);
  if (!letter || values[letter].length < 2 || points < LEAST_CELLS) return follow("/api/map", body, on, { signal });
  const stop = new AbortController();
  const cancel = () => stop.abort();
  signal.addEventListener("abort", cancel);
  const done = [0, 0];
  const half = async (offset) => {
    const place = (cell) => ({ ...cell, [`${letter}_index`]: cell[`${letter}_index`] * 2 + offset });
    const part = { ...body, [letter]: { option: body[letter].option, values: values[letter].filter((_, at) => at % 2 === offset) } };
    const answer = await follow("/api/map", part, {
      row: (cell) => on.row(place(cell)),
      progress(told) {
        done[offset] = told.done;
        on.progress({ done: done[0] + done[1], of: points });
      },
    }, { signal: stop.signal });
    return { ...answer, cells: answer.cells.map(place) };
  };
  try {
    const [one, other] = await Promise.all([half(0), half(1)]);
    const cells = [...one.cells, ...other.cells].sort((a, b) => a.y_index - b.y_index || a.x_index - b.x_index);
    return { ...one, [letter]: { ...one[letter], values: values[letter] }, cells };
  } finally {
    signal.removeEventListener("abort", cancel);
    cancel();
  }
}
