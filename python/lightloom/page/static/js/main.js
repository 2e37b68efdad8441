// The page: its views by their addresses, each the module of that name in `views/`.

import { here, onMove, viewHere } from "./address.js";
import { Refusal } from "./api.js";
import { h, part, replace, viewLinks } from "./dom.js";
import { limits, loadTable } from "./options.js";
import { isDemo } from "./site.js";
import { connectTheme } from "./theme.js";
import { notice } from "./work.js";

/** @import { Query } from "./address.js" */

/**
 * A view on the page. lost: names of values that the address was too short for; null where it is damaged.
 *
 * @typedef {{show: (query: Query, lost: string[] | null) => void, leave: () => void}} View
 */

const root = part("view");
// Most bytes packed in an address, if the server does not say what it takes.
const MOST_BYTES = 4 << 20;
/** @type {{name: string | null, view: View | null}} */
let shown = { name: null, view: null };
let moves = 0;

/**
 * The module of a view.
 *
 * @param {string} name
 * @returns {Promise<{mount: (root: HTMLElement) => View}>}
 */
const moduleOf = (name) => import(`./views/${name}.js`);

async function move() {
  moves += 1;
  const mine = moves;
  const { view: name, query, lost } = await here(limits().bytes ?? MOST_BYTES);
  if (mine !== moves) return;
  if (name !== shown.name) {
    shown.view?.leave();
    shown = { name, view: null };
    const { mount } = await moduleOf(name);
    if (mine !== moves) {
      if (shown.name === name) shown.name = null;
      return;
    }
    root.className = "view";
    replace(root);
    shown.view = mount(root);
    for (const link of viewLinks()) {
      if (link.dataset.view === name) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
  }
  shown.view?.show(query, lost);
  // The element that had the focus may be gone with the former view; before the first, tabs begin at the top.
  if (mine > 1 && document.activeElement === document.body) part("result").focus({ preventScroll: true });
}

async function start() {
  // The view's files come while the table does; where they do not, it is said when they are asked for again.
  moduleOf(viewHere()).catch(() => {});
  try {
    await loadTable();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const main = h("main", { id: "result" }, notice("bad", `${error.message} The page begins as soon as it does.`));
    root.className = "view wide";
    replace(root, main);
    setTimeout(start, 2000);
    return;
  }
  onMove(move);
  await move();
}

/** The link past the form does not change the address, whose fragment may hold what was pasted. */
function connectSkip() {
  document.querySelector(".skip")?.addEventListener("click", (event) => {
    event.preventDefault();
    const result = part("result");
    result.focus({ preventScroll: true });
    result.scrollIntoView();
  });
}

/** What a demo without a server shows. */
function sayDemo() {
  const words = "A demo without a server: the examples under “Start from”, which each view begins with, are prepared.";
  root.before(h("p", { class: "demo" }, words, " ", h("code", {}, "lightloom serve"), " computes anything."));
}

connectTheme();
if (isDemo) sayDemo();
connectSkip();
start();
