// Loads of the circuits of a plan's steps, asked for when they are shown, and a step ahead.

const KEPT = 400;

/** @import { Answers, Body, Loads, Path, Plan } from "./types.js" */

/**
 * Answers about a plan, by their path and the arguments that are asked in addition to the plan.
 *
 * @typedef {"/api/loads" | "/api/ports" | "/api/journey"} PathOfPlan
 * @typedef {<Path extends PathOfPlan>(
 *   path: Path, more: Body, signal: AbortSignal,
 * ) => Promise<Path extends keyof Answers ? Answers[Path] : unknown>} AnswersOfPlan
 */

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
 * Loads of a plan, from its answers.
 *
 * Returns `{of(step), ahead(step), also(path, more), leave()}`; of promises links by their ends, also another answer
 * about the plan; or null where they cannot be had.
 *
 * @param {Plan} plan
 * @param {AnswersOfPlan} answers
 */
export function loadsOf(plan, answers) {
  const controller = new AbortController();
  /** @type {Map<number, Promise<LoadsByLink | null>>} */
  const kept = new Map();
  /** @param {number} step */
  function of(step) {
    const known = kept.get(step);
    if (known) return known;
    const [oldest] = kept.keys();
    if (kept.size >= KEPT) kept.delete(oldest);
    const asked = answers("/api/loads", { step }, controller.signal)
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
     * @template {PathOfPlan} Path
     * @param {Path} path
     * @param {Body} [more]
     * @returns {Promise<(Path extends keyof Answers ? Answers[Path] : unknown) | null>}
     */
    also: (path, more = {}) => answers(path, more, controller.signal).catch(() => null),
    leave: () => controller.abort(),
  };
}
