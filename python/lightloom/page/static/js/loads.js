// Loads of the circuits of a plan's steps, asked for when they are shown, and a step ahead.

import { ask } from "./api.js";
import { isDemo } from "./site.js";

const KEPT = 400;
// Longest text of a plan that is sent along, so that it need not be planned again.
const LONGEST = 400_000;

/** @import { Body, Loads, Path, Plan } from "./types.js" */

/**
 * What the circuits from a GPU to another carry together; `paths` is empty where there are too many to be told.
 *
 * @typedef {{bytes: number, circuits: number, paths: Path[]}} LinkLoad
 */

/**
 * Loads by the ends of links, `source>target`.
 *
 * @typedef {Map<string, LinkLoad>} LoadsByLink
 */

/**
 * @param {Loads} told
 * @returns {LoadsByLink}
 */
function byLink({ links, paths }) {
  return new Map(
    links.map(({ source, target, bytes, circuits, flows }) => [
      `${source}>${target}`,
      { bytes, circuits, paths: paths && flows ? flows.map((place) => paths[place]) : [] },
    ]),
  );
}

/**
 * Loads of a plan. body: the options that it was planned with, by which the server is told of one that is long.
 *
 * Returns `{of(step), ahead(step), also(asking), leave()}`; of promises links by their ends, also what a request of the
 * same plan gives; or null where they cannot be had.
 *
 * @param {Plan} plan
 * @param {Body} body
 */
export function loadsOf(plan, body) {
  /** @type {Body} */
  const told = !isDemo && JSON.stringify(plan).length <= LONGEST ? { plan } : body;
  const controller = new AbortController();
  /** @type {Map<number, Promise<LoadsByLink | null>>} */
  const kept = new Map();
  /** @param {number} step */
  function of(step) {
    const known = kept.get(step);
    if (known) return known;
    const [oldest] = kept.keys();
    if (kept.size >= KEPT) kept.delete(oldest);
    const asked = ask("/api/loads", { ...told, step }, { signal: controller.signal })
      .then(byLink)
      .catch(() => {
        // Circuits are then shown without bytes; it is asked again when the step is shown again.
        kept.delete(step);
        return null;
      });
    kept.set(step, asked);
    return asked;
  }
  return {
    of,
    /** @param {number} step */
    ahead(step) {
      if (step + 1 < plan.steps.length) of(step + 1);
    },
    /**
     * @template Answer
     * @param {(told: Body, signal: AbortSignal) => Promise<Answer>} asking
     * @returns {Promise<Answer | null>}
     */
    also: (asking) => asking(told, controller.signal).catch(() => null),
    leave: () => controller.abort(),
  };
}
