// Loads of the circuits of a plan's steps, asked for when they are shown, and a step ahead.

import { ask } from "./api.js";

const KEPT = 400;
// Longest text of a plan that is sent along, so that it need not be planned again.
const LONGEST = 400_000;

/** Links by their ends, `{bytes, circuits, paths}`; `paths` is empty where there are too many to be told. */
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
 * Returns `{of(step), ahead(step), leave()}`; of promises links by their ends, or null where they cannot be had.
 */
export function loadsOf(plan, body) {
  const told = JSON.stringify(plan).length <= LONGEST ? { plan } : body;
  const controller = new AbortController();
  const kept = new Map();
  function of(step) {
    if (!kept.has(step)) {
      if (kept.size >= KEPT) kept.delete(kept.keys().next().value);
      kept.set(
        step,
        ask("/api/loads", { ...told, step }, { signal: controller.signal })
          .then(byLink)
          .catch(() => {
            // Circuits are then shown without bytes; it is asked again when the step is shown again.
            kept.delete(step);
            return null;
          }),
      );
    }
    return kept.get(step);
  }
  return {
    of,
    ahead(step) {
      if (step + 1 < plan.steps.length) of(step + 1);
    },
    leave: () => controller.abort(),
  };
}
