// Registries: the names that options take, with their meanings, as the server or a notebook's Python tells them.

/** @import { Entry } from "./types.js" */

/** @type {Record<string, Entry[]>} */
let known = {};

/**
 * Takes the entries of registries, by kind, before any view is made.
 *
 * @param {Record<string, Entry[]>} told
 */
export function tellRegistries(told) {
  known = told;
}

/**
 * Entries of a kind that has names.
 *
 * @param {string} kind
 */
export const registry = (kind) => known[kind] ?? [];
