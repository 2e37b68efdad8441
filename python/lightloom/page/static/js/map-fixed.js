// Circuits that never change: what the best plan takes on them.
//
// It is the best plan at a delay at which no change pays. What it takes does not depend on the delay, so that along an
// axis of delays one value does.

import { ask } from "./api.js";

// The longest that a fabric may have: what takes less can gain nothing from a change.
export const FOREVER = "1000000s";
const DELAY = "reconfiguration-delay";

/**
 * For the body of a map: `of`, a function from one of its cells to seconds, or null where no plan leaves circuits alone,
 * and `told`, an axis as the server tells it, `{x}` or `{y}`.
 */
export async function fixedTimes(body, signal) {
  const still = { ...body, options: { ...body.options, [DELAY]: FOREVER } };
  const varies = ["x", "y"].find((letter) => body[letter].option === DELAY);
  if (varies) still[varies] = { option: DELAY, values: [FOREVER] };
  const { cells, x, y } = await ask("/api/map", still, { signal });
  const seconds = new Map(cells.map((cell) => [`${cell.x_index},${cell.y_index}`, cell.reconfigurations === 0 ? cell.total_s : null]));
  const of = (cell) => seconds.get(`${varies === "x" ? 0 : cell.x_index},${varies === "y" ? 0 : cell.y_index}`) ?? null;
  return { of, told: varies === "x" ? { y } : { x } };
}
