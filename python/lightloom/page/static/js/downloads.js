// Files of a view's content.

import { askFile, Refusal } from "./api.js";
import { announce, h, replace } from "./dom.js";
import { pngOf, svgTextOf } from "./pictures.js";

/** @import { Body } from "./types.js" */
/** @import { Head } from "./picture-head.js" */

/**
 * A file that can be downloaded: the words of its button, its name, and what makes it.
 *
 * @typedef {{words: string, name: string, blob: () => Promise<Blob>}} Download
 */

/**
 * Gives a blob to the person as a file.
 *
 * @param {Blob} blob
 * @param {string} name
 */
export function save(blob, name) {
  const url = URL.createObjectURL(blob);
  const link = h("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/**
 * Buttons that download.
 *
 * @param {Download[]} files
 */
export function downloads(files) {
  const said = h("span", { class: "quiet", role: "status" });
  const buttons = files.map(({ words, name, blob }) => {
    const button = h("button", { type: "button", class: "small" }, words);
    button.addEventListener("click", async () => {
      button.disabled = true;
      replace(said);
      try {
        save(await blob(), name);
        announce(`${name} is saved.`);
      } catch (error) {
        replace(said, error instanceof Refusal ? error.message : `${name} cannot be made.`);
        if (!(error instanceof Refusal)) console.error(error);
      } finally {
        button.disabled = false;
      }
    });
    return button;
  });
  return h(
    "div",
    { class: "downloads", role: "group", "aria-label": "Downloads" },
    h("span", { class: "quiet" }, "Download"),
    buttons,
    said,
  );
}

/**
 * A file of JSON.
 *
 * @param {string} name
 * @param {() => unknown} get
 * @returns {Download}
 */
export const json = (name, get) => ({
  words: "JSON",
  name,
  blob: async () => new Blob([`${JSON.stringify(await get(), null, 1)}\n`], { type: "application/json" }),
});

/**
 * A file of a text.
 *
 * @param {string} words
 * @param {string} name
 * @param {string} type
 * @param {() => string} get
 * @returns {Download}
 */
export const text = (words, name, type, get) => ({ words, name, blob: async () => new Blob([get()], { type }) });

/**
 * A file that the server writes: its picture or its table.
 *
 * @param {string} words
 * @param {string} name
 * @param {string} path
 * @param {() => Body} body
 * @returns {Download}
 */
export const fromServer = (words, name, path, body) => ({ words, name, blob: () => askFile(path, body()) });

/**
 * A file of rows: names of columns, then a list each.
 *
 * @param {string} name
 * @param {() => unknown[][]} get
 * @returns {Download}
 */
export function csv(name, get) {
  /** @param {unknown} value */
  const cell = (value) =>
    /[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value ?? "");
  return {
    words: "CSV",
    name,
    blob: async () =>
      new Blob(
        [
          `${get()
            .map((row) => row.map(cell).join(","))
            .join("\n")}\n`,
        ],
        { type: "text/csv" },
      ),
  };
}

/**
 * The two files of a drawing of this page. head: makes what stands above it.
 *
 * @param {string} stem
 * @param {() => SVGSVGElement | null | undefined} get
 * @param {() => Head} head
 * @returns {Download[]}
 */
export const ofDrawing = (stem, get, head) => [
  {
    words: "SVG",
    name: `${stem}.svg`,
    blob: async () => new Blob([svgTextOf(there(get()), head())], { type: "image/svg+xml" }),
  },
  { words: "PNG", name: `${stem}.png`, blob: async () => pngOf(there(get()), head()) },
];

/**
 * The drawing. Throws where there is none yet.
 *
 * @param {SVGSVGElement | null | undefined} drawing
 */
function there(drawing) {
  if (!drawing) throw new Error("nothing is drawn");
  return drawing;
}
