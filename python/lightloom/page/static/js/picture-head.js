// The head of a drawing in a file of its own: its title, and the legend of its colours.

import { s } from "./dom.js";

const [SIDE, LINE, SWATCH, GAP] = [8, 18, 11, 16];
const SIZE = 12;

/**
 * What stands above a drawing. title: a sentence. legend: the page's list of colours.
 *
 * @typedef {{title: string, legend: Element | null}} Head
 */

/**
 * Lines above a drawing of that width: `{element, height}`, from y = 0 down. looks: computed looks of the page's texts.
 *
 * @param {Head} head
 * @param {number} width
 * @param {CSSStyleDeclaration} looks
 */
export function pictureHead({ title, legend }, width, looks) {
  const pen = document.createElement("canvas").getContext("2d");
  if (!pen) throw new Error("this browser cannot measure texts");
  pen.font = `${SIZE}px ${looks.fontFamily}`;
  /** @param {string} words */
  const wide = (words) => pen.measureText(words).width;
  const element = s("g", { "font-family": looks.fontFamily, "font-size": SIZE, fill: looks.color });
  let y = LINE;
  const rest = title.split(" ");
  while (rest.length) {
    const line = [rest.shift()];
    while (rest.length && wide([...line, rest[0]].join(" ")) < width - 2 * SIDE) line.push(rest.shift());
    element.append(s("text", { x: SIDE, y }, line.join(" ")));
    y += LINE;
  }
  let x = SIDE;
  for (const item of legend?.children ?? []) {
    const words = item.textContent ?? "";
    const room = SWATCH + 6 + wide(words) + GAP;
    if (x > SIDE && x + room > width) [x, y] = [SIDE, y + LINE];
    const swatch = item.querySelector(".swatch");
    const colour = swatch && getComputedStyle(swatch).backgroundColor;
    element.append(
      s("rect", { x, y: y - SWATCH + 1, width: SWATCH, height: SWATCH, rx: 2, fill: colour }),
      s("text", { x: x + SWATCH + 6, y }, words),
    );
    x += room;
  }
  return { element, height: y + 8 };
}
