// The address says all of a view: its path, the options that differ from their defaults, and long values, packed.

import { part, viewLinks } from "./dom.js";
import { MOST_PACKED, pack, split, unpack } from "./packed.js";
import { base, isDemo } from "./site.js";

/**
 * Texts of options, and of what else a view's address says, by name.
 *
 * @typedef {Map<string, string>} Query
 */

/**
 * Names of values that do not fit into an address, and the characters that they would take.
 *
 * @typedef {{names: string[], characters: number}} Held
 */

// Names of the views, as the links of the header have them.
const VIEWS = viewLinks().map((link) => link.dataset.view);
const [PACKED, LACKS] = ["packed", "lacks"];

/**
 * The name of a view in the path of its address.
 *
 * @param {string} path
 */
const nameIn = (path) => (path.startsWith(base) ? path.slice(base.length).replace(/^\/+|\/+$/g, "") : "");

/** The name of the view that is at the address shown. */
export function viewHere() {
  const name = nameIn(location.pathname);
  return VIEWS.includes(name) ? name : "plan";
}

/**
 * `{view, query, lost}` of the address shown.
 *
 * most: bytes that may be packed in it. lost: names of values that it was too short for, or null where what is packed
 * in it is damaged.
 *
 * @param {number} most
 * @returns {Promise<{view: string, query: Query, lost: string[] | null}>}
 */
export async function here(most) {
  const view = viewHere();
  const query = new Map(new URLSearchParams(location.search));
  const fragment = new URLSearchParams(location.hash.slice(1));
  /** @type {string[] | null} */
  let lost = (fragment.get(LACKS) ?? "").split(",").filter(Boolean);
  if (fragment.has(PACKED)) {
    try {
      for (const [key, value] of await unpack(fragment.get(PACKED) ?? "", most)) query.set(key, value);
    } catch {
      lost = null;
    }
  }
  return { view, query, lost };
}

/**
 * The address of a view with options, all of them readable. Slashes, colons and commas stay as people write them.
 *
 * @param {string} view
 * @param {Query} query
 */
export function addressOf(view, query) {
  const parts = [...query].map(([name, value]) => `${encodeURIComponent(name)}=${readable(value)}`);
  return `${base}${view}${isDemo ? "/" : ""}${parts.length ? `?${parts.join("&")}` : ""}`;
}

/**
 * The address of a link to a view: one that would be too long says which of its long values it lacks.
 *
 * @param {string} view
 * @param {Query} query
 */
export function linkOf(view, query) {
  const address = addressOf(view, query);
  const [short, long] = split(query);
  return address.length <= MOST_PACKED ? address : `${addressOf(view, short)}#${LACKS}=${[...long.keys()].join(",")}`;
}

/** @param {string} value */
const readable = (value) =>
  encodeURIComponent(value).replace(/%(2F|3A|2C|5B|5D|20)/g, (code) =>
    code === "%20" ? "+" : decodeURIComponent(code),
  );

let isDraft = false;
// What is packed in the address, as a text; and how often it was packed, so that the newest counts.
let held = "[]";
let turn = 0;

/**
 * Shows the address of a view with options without loading it.
 *
 * While a value is being typed one entry of the history is rewritten; a committed value stays in it.
 *
 * Returns a promise of the values that do not fit; null where another was shown since.
 *
 * @param {string} view
 * @param {Query} query
 * @param {{draft?: boolean}} [how]
 * @returns {Promise<Held | null>}
 */
export function show(view, query, { draft = false } = {}) {
  const [short, long] = split(query);
  const address = addressOf(view, short);
  if (address === location.pathname + location.search && held === textOf(long)) {
    if (!draft) isDraft = false;
    return Promise.resolve(null);
  }
  if (isDraft) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
  isDraft = draft;
  return hold(long);
}

/**
 * Rewrites the present entry: an address that says the same in full. Returns what `show` returns.
 *
 * @param {string} view
 * @param {Query} query
 */
export function restate(view, query) {
  const [short, long] = split(query);
  history.replaceState(null, "", addressOf(view, short));
  return hold(long);
}

/** @param {Query} long */
const textOf = (long) => JSON.stringify([...long]);

/**
 * @param {Query} long
 * @returns {Promise<Held | null>}
 */
async function hold(long) {
  turn += 1;
  const mine = turn;
  held = textOf(long);
  if (!long.size) return { names: [], characters: 0 };
  const packed = await pack(long);
  if (mine !== turn) return null;
  const isTooLong = packed.length > MOST_PACKED;
  const names = isTooLong ? [...long.keys()] : [];
  const fragment = isTooLong ? `${LACKS}=${names.join(",")}` : `${PACKED}=${packed}`;
  history.replaceState(null, "", `${location.pathname}${location.search}#${fragment}`);
  return { names, characters: packed.length };
}

/** Marks on the page that it shows the answer for its address, for those who wait for it. */
export function isShown() {
  part("view").dataset.shown = location.pathname + location.search;
}

/** @type {() => void} */
let moved = () => {};

/**
 * Goes to another view, or calls for an entry of the history.
 *
 * @param {() => void} listener
 */
export function onMove(listener) {
  addEventListener("popstate", () => {
    leave();
    listener();
  });
  document.addEventListener("click", (event) => {
    const link = /** @type {HTMLElement} */ (event.target).closest?.("a[href]");
    if (!(link instanceof HTMLAnchorElement)) return;
    if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const url = new URL(link.href);
    if (url.origin !== location.origin || link.hasAttribute("download") || link.target) return;
    if (!VIEWS.includes(nameIn(url.pathname)) || (url.hash && !url.hash.startsWith(`#${LACKS}=`))) return;
    event.preventDefault();
    go(url.pathname + url.search + url.hash);
  });
  moved = listener;
}

/**
 * Goes to an address of the page.
 *
 * @param {string} address
 */
export function go(address) {
  leave();
  history.pushState(null, "", address);
  moved();
  scrollTo(0, 0);
}

/** The typed address stays in the history, and nothing is packed into another address. */
function leave() {
  isDraft = false;
  turn += 1;
}
