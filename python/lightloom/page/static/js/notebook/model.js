// The part of a widget that Python has: its values and its answers.

/** @import { AnswersOfPlan } from "../loads.js" */

/**
 * A widget's values, which Python shares, and messages, as notebooks give them.
 *
 * @typedef {{
 *   get: (name: string) => any, set: (name: string, value: unknown) => void, save_changes: () => void,
 *   on: (name: string, heard: (said: any) => void) => void, off: (name: string, heard: (said: any) => void) => void,
 *   send: (message: unknown) => void,
 * }} Model
 */

/**
 * Answers about a plan: those that the widget brings along, which need no Python; others are asked for.
 *
 * Returns `{answers, leave()}`.
 *
 * @param {Model} model
 */
export function modelAnswers(model) {
  const { places, answers: known } = JSON.parse(model.get("_prepared"));
  /** @type {Map<string, {resolve: (answer: any) => void, reject: (error: Error) => void}>} */
  const waiting = new Map();
  /** @param {{id: string, answer?: unknown, refused?: string}} said */
  const hear = ({ id, answer, refused }) => {
    const asked = waiting.get(id);
    waiting.delete(id);
    if (refused === undefined) asked?.resolve(answer);
    else asked?.reject(new Error(refused));
  };
  model.on("msg:custom", hear);
  /** @type {AnswersOfPlan} */
  const answers = (path, more) => {
    const place = places[`${path} ${JSON.stringify(more)}`];
    if (place !== undefined) return Promise.resolve(known[place]);
    // Answers are heard by every view of the widget.
    const id = String(Math.random());
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      model.send({ id, path, more });
    });
  };
  return { answers, leave: () => model.off("msg:custom", hear) };
}
