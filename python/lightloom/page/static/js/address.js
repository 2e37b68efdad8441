// The address says all of a view: its path, and the options that differ from their defaults.

const VIEWS = ["plan", "compare", "when-it-pays", "training", "results"];

/** `{view, query}` of the address shown. */
export function here() {
  const name = location.pathname.replace(/^\/+|\/+$/g, "");
  return { view: VIEWS.includes(name) ? name : "plan", query: new Map(new URLSearchParams(location.search)) };
}

/** The address of a view with options. Slashes, colons and commas stay as people write them. */
export function addressOf(view, query) {
  const parts = [...query].map(([name, value]) => `${encodeURIComponent(name)}=${readable(value)}`);
  return `/${view}${parts.length ? `?${parts.join("&")}` : ""}`;
}

const readable = (value) =>
  encodeURIComponent(value).replace(/%(2F|3A|2C|5B|5D|20)/g, (code) => (code === "%20" ? "+" : decodeURIComponent(code)));

let isDraft = false;

/**
 * Shows an address without loading it.
 *
 * While a value is being typed one entry of the history is rewritten; what is committed stays in it.
 */
export function show(address, { draft = false } = {}) {
  if (address === location.pathname + location.search) {
    if (!draft) isDraft = false;
    return;
  }
  if (isDraft) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
  isDraft = draft;
}

/** Rewrites the present entry: an address that says the same in full. */
export function restate(address) {
  history.replaceState(null, "", address);
}

/** Says on the page that what it shows is the answer for its address, for who waits for it. */
export function isShown() {
  document.getElementById("view").dataset.shown = location.pathname + location.search;
}

/** Goes to another view, or calls for an entry of the history. */
export function onMove(listener) {
  addEventListener("popstate", () => {
    isDraft = false;
    listener();
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href]");
    if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const url = new URL(link.href);
    if (url.origin !== location.origin || link.hasAttribute("download") || link.target || url.hash) return;
    if (!VIEWS.includes(url.pathname.slice(1))) return;
    event.preventDefault();
    go(url.pathname + url.search);
  });
  onMove.listener = listener;
}

/** Goes to an address of the page. */
export function go(address) {
  isDraft = false;
  history.pushState(null, "", address);
  onMove.listener();
  scrollTo(0, 0);
}
