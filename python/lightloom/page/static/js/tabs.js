// The links of the header: what a view shares with another goes along, and what each had of its own stays with it.

import { linkOf } from "./address.js";
import { viewLinks } from "./dom.js";
import { kept, optionsOf } from "./options.js";

/** @import { Query } from "./address.js" */

/**
 * What a view shows. names: of its fields that are no options.
 *
 * @typedef {{view: string, verb: string, names: string[], query: Query}} Shown
 */

/** What each view showed last. @type {Map<string, Query>} */
const last = new Map();

/**
 * The kinds of the options that a view shares with others: those of its verb without its own.
 *
 * @param {string} view
 * @param {string} verb
 */
function kindsOf(view, verb) {
  const own =
    viewLinks()
      .find(({ dataset }) => dataset.view === view)
      ?.dataset.own?.split(" ") ?? [];
  return new Map(optionsOf(verb).flatMap(({ name, kind }) => (own.includes(name) ? [] : [[name, kind]])));
}

/**
 * Links of the header take the problem with them, where the views have a verb's options.
 *
 * @param {Shown} shown
 */
export function carry(shown) {
  last.set(shown.view, kept(shown.verb, shown.query, shown.names));
  const here = kindsOf(shown.view, shown.verb);
  for (const link of viewLinks()) {
    const { view = "", verb } = link.dataset;
    if (!verb) continue;
    const query = view === shown.view ? last.get(view) : joined(shown, here, kindsOf(view, verb), view, verb);
    link.setAttribute("href", linkOf(view, query ?? new Map()));
  }
}

/**
 * The query of another view. An option means the same there where it is of the same kind; a number of ranks is there
 * one of GPUs.
 *
 * @param {Shown} shown
 * @param {Map<string, string>} here
 * @param {Map<string, string>} there
 * @param {string} view
 * @param {string} verb
 * @returns {Query}
 */
function joined({ query }, here, there, view, verb) {
  /** @param {string} name */
  const isShared = (name) => here.has(name) && here.get(name) === there.get(name);
  const shared = new Map([...query].filter(([name]) => isShared(name)));
  const ranks = here.get("ranks") === "count" && !here.has("gpus") ? query.get("ranks") : undefined;
  if (ranks && there.has("gpus")) shared.set("gpus", ranks);
  const own = [...(last.get(view) ?? [])].filter(([name]) => !isShared(name) && !(shared.has("gpus") && isCount(name)));
  return new Map([...kept(verb, shared), ...own]);
}

/**
 * Whether an option says how many GPUs there are.
 *
 * @param {string} name
 */
const isCount = (name) => name === "gpus" || name === "dims";
