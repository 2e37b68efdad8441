// Drawings of the page as files: SVG with its looks written into it, PNG at twice its size.

import { pictureHead } from "./picture-head.js";

/** @import { Head } from "./picture-head.js" */

const LOOKS = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-linecap",
  "stroke-linejoin",
  "paint-order",
  "opacity",
  "font-family",
  "font-size",
  "font-weight",
  "text-anchor",
  "dominant-baseline",
  "display",
  "visibility",
];

/**
 * An SVG of its own that looks as the drawing does now, under a head of a title and a legend.
 *
 * @param {SVGSVGElement} drawing
 * @param {Head} head
 */
function standing(drawing, head) {
  const copy = /** @type {SVGSVGElement} */ (drawing.cloneNode(true));
  const [sources, targets] = [drawing, copy].map((top) => [top, ...top.querySelectorAll("*")]);
  sources.forEach((source, place) => {
    const looks = getComputedStyle(source);
    for (const name of LOOKS) {
      const value = looks.getPropertyValue(name);
      if (value) targets[place].setAttribute(name, value);
    }
    for (const name of ["class", "style", "tabindex", "role"]) targets[place].removeAttribute(name);
  });
  const { x, y, width, height } = drawing.viewBox.baseVal;
  const above = pictureHead(head, width, getComputedStyle(document.body));
  above.element.setAttribute("transform", `translate(${x} ${y - above.height})`);
  copy.prepend(above.element);
  const box = { x, y: y - above.height, width, height: height + above.height };
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("viewBox", Object.values(box).join(" "));
  copy.setAttribute("width", String(box.width));
  copy.setAttribute("height", String(box.height));
  const page = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of Object.entries(box)) page.setAttribute(name, String(value));
  page.setAttribute("fill", getComputedStyle(document.querySelector(".card") ?? document.body).backgroundColor);
  copy.prepend(page);
  return { text: new XMLSerializer().serializeToString(copy), width: box.width, height: box.height };
}

/**
 * Text of an SVG file of a drawing.
 *
 * @param {SVGSVGElement} drawing
 * @param {Head} head
 */
export const svgTextOf = (drawing, head) => standing(drawing, head).text;

/**
 * A PNG of a drawing.
 *
 * @param {SVGSVGElement} drawing
 * @param {Head} head
 * @returns {Promise<Blob>}
 */
export async function pngOf(drawing, head) {
  const { text, width, height } = standing(drawing, head);
  const url = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(width * 2);
    canvas.height = Math.round(height * 2);
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) => {
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture"))), "image/png");
    });
  } finally {
    URL.revokeObjectURL(url);
  }
}
