// Answers of a demo, which has no server: files, found by what is asked.

import { base } from "./site.js";

/**
 * The files of answers by what is asked, and their status.
 *
 * @typedef {Record<string, {file: string, status: number}>} Prepared
 */

/** @type {Promise<Prepared> | null} */
let known = null;

/**
 * A request as a text that is the same however its numbers and names are written.
 *
 * @param {unknown} value
 * @returns {unknown}
 */
export function plain(value) {
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== "object") return String(value);
  const told = Object.entries(value).filter(([, one]) => one !== null && one !== undefined);
  const named = told.map(([name, one]) => /** @type {const} */ ([name.replaceAll("_", "-"), plain(one)]));
  return Object.fromEntries(named.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

async function load() {
  const answer = await fetch(`${base}prepared.json`);
  if (!answer.ok) throw new Error(`${answer.status}`);
  return /** @type {Prepared} */ (await answer.json());
}

/**
 * The prepared answer to a request; null if there is none.
 *
 * @param {string} path
 * @param {unknown} body
 * @param {AbortSignal} [signal]
 */
export async function preparedAnswer(path, body, signal) {
  known ??= load();
  try {
    const entry = (await known)[`${path} ${JSON.stringify(plain(body ?? {}))}`];
    if (!entry) return null;
    const answer = await fetch(base + entry.file, { signal });
    return new Response(await answer.blob(), { status: answer.ok ? entry.status : answer.status });
  } catch (error) {
    // Asked again, its list may be there.
    known = null;
    throw error;
  }
}
