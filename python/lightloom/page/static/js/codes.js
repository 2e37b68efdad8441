// A view's answer as a command and as Python, to be copied.

import { ask } from "./api.js";
import { announce, h, replace } from "./dom.js";
import { save } from "./downloads.js";

/** @import { Child } from "./dom.js" */
/** @import { Body, Code } from "./types.js" */

// How far below the screen code is asked for at once, in CSS pixels; farther away when nothing changes for so long: a
// visitor who drags a slider far above it asks for none.
const NEAR = 300;
const REST_MS = 1000;

/**
 * The card of the same request outside the page. mark: whether what it shows is of an earlier request.
 */
function codeCard() {
  const [command, python] = [block("As a command", "command", optionsWhole), block("As Python", "python")];
  const files = h("div", {});
  const element = h(
    "section",
    { class: "card", "aria-labelledby": "as-code", hidden: true },
    h("header", {}, h("h2", { id: "as-code" }, "The same outside this page")),
    h("div", { class: "codes" }, command.element, python.element),
    files,
  );
  /** @param {boolean} isOutdated */
  function mark(isOutdated) {
    element.classList.toggle("outdated", isOutdated);
    for (const button of element.querySelectorAll("button")) button.disabled = isOutdated;
  }
  /** @param {Pick<Code, "command"> & Partial<Code>} said */
  function tell(said) {
    command.show(said.command);
    python.element.hidden = !said.python;
    python.show(said.python ?? "");
    const others = Object.entries(said.files ?? {});
    replace(files, others.length ? fileButtons(others) : null);
    element.hidden = false;
    mark(false);
  }
  return { element, mark, tell };
}

/**
 * `{element, outdate(), show(requests), tell({command, python, files}), hide()}`: the same request outside the page.
 */
export function codes() {
  const card = codeCard();
  const element = h("div", {}, card.element);
  /** @type {[verb: string, body: Body][] | null} */
  let wanted = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let resting;
  let asked = 0;
  let isNear = false;
  async function askWanted() {
    if (!wanted) return;
    const requests = wanted;
    wanted = null;
    asked += 1;
    const mine = asked;
    try {
      const said = await Promise.all(requests.map(([verb, body]) => ask("/api/as-code", { verb, options: body })));
      if (mine === asked) card.tell(joined(said));
    } catch {
      if (mine === asked) hide();
    }
  }
  const observer = new IntersectionObserver(
    (entries) => {
      isNear = entries[entries.length - 1].isIntersecting;
      if (isNear) askWanted();
    },
    { rootMargin: `0px 0px ${NEAR}px 0px` },
  );
  observer.observe(element);
  function hide() {
    card.element.hidden = true;
  }
  /** What is shown is of another request, until the new one is known. */
  function outdate() {
    asked += 1;
    wanted = null;
    clearTimeout(resting);
    card.mark(true);
  }
  /**
   * Shows requests, each a verb with its body, one after the other; nothing where there are none.
   *
   * @param {[verb: string, body: Body][]} requests
   */
  function show(requests) {
    outdate();
    if (!requests.length) {
      hide();
      return;
    }
    wanted = requests;
    if (isNear) askWanted();
    else resting = setTimeout(askWanted, REST_MS);
  }
  return { element, tell: card.tell, hide, outdate, show };
}

/**
 * Codes one below the other, in which names are imported once.
 *
 * @param {Code[]} codes
 * @returns {Code}
 */
function joined(codes) {
  const [first, ...others] = codes;
  const [imports] = first.python.split("\n", 1);
  return {
    command: codes.map(({ command }) => command).join("\n"),
    python: [first.python, ...others.map(({ python }) => python.replace(`${imports}\n`, "").trimStart())].join("\n"),
    files: Object.assign({}, ...codes.map(({ files }) => files)),
  };
}

/**
 * Files that both need, to be saved next to them.
 *
 * @param {[name: string, text: string][]} files
 */
function fileButtons(files) {
  const buttons = files.map(([name, text]) =>
    h(
      "button",
      { type: "button", class: "small", onclick: () => save(new Blob([text], { type: "text/plain" }), name) },
      name,
    ),
  );
  return h(
    "p",
    { class: "downloads" },
    h("span", { class: "quiet" }, "Both read this file, to be saved where they run:"),
    buttons,
  );
}

/**
 * Commands, a line each, which breaks between options rather than inside one.
 *
 * @param {string} words
 * @returns {Child}
 */
const optionsWhole = (words) =>
  words
    .split("\n")
    .map((line, at) => [
      at ? "\n" : "",
      line.split(/ (?=--)/).map((part, place) => [place ? " " : "", h("span", { class: "whole" }, part)]),
    ]);

/**
 * @param {string} title
 * @param {string} kind
 * @param {(words: string) => Child} look
 */
function block(title, kind, look = (words) => words) {
  const code = h("code", {});
  const copied = h("button", { type: "button", class: "small", "aria-label": `Copy: ${title.toLowerCase()}` }, "Copy");
  copied.addEventListener("click", async () => {
    const done = await copy(code.textContent);
    replace(copied, done ? "Copied" : "Select and copy");
    announce(done ? "Copied." : "The browser does not let this page copy.");
    setTimeout(() => replace(copied, "Copy"), 1600);
  });
  const text = h("pre", { tabindex: 0, role: "region", "aria-label": title }, code);
  return {
    element: h("div", { class: `code ${kind}` }, h("header", {}, h("h3", {}, title), copied), text),
    /** @param {string} words */
    show(words) {
      replace(code, look(words));
    },
  };
}

/** @param {string} words */
async function copy(words) {
  try {
    await navigator.clipboard.writeText(words);
    return true;
  } catch {
    return false;
  }
}
