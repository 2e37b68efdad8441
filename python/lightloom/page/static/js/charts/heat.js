// A map over two axes, which fills as its cells are computed.

import { s } from "../dom.js";

/** @import { Attributes } from "../dom.js" */
/** @import { Cell } from "../types.js" */

/**
 * Words of a place on an axis.
 *
 * @typedef {(place: number) => string} PlaceWords
 */

/**
 * Called with a cell's places.
 *
 * @typedef {(x: number, y: number) => void} OnPlace
 */

/** @type {Record<string, [number, number]>} */
const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const [LEFT, RIGHT, TOP] = [74, 10, 8];

/**
 * @param {number} x
 * @param {number} y
 */
const keyOf = (x, y) => `${x},${y}`;
/** @param {string} key */
const placesOf = (key) => key.split(",").map(Number);

/** A map of `columns` × `rows` cells, the first row at the bottom. */
export class HeatMap {
  /** By place `x,y`: the data of the cell, and its rectangle. @type {Map<string, Cell>} */
  #cells = new Map();
  /** @type {Map<string, SVGRectElement>} */
  #rects = new Map();
  #focus = { x: 0, y: 0 };
  #frontier = s("path", { class: "frontier" });
  #own = s("g", {});
  #labels = s("g", { "aria-hidden": "true" });

  /**
   * xWords, yWords: of a place on an axis. onShow: called with a cell's places that is pointed at or focused; onOpen:
   * with those of a cell that is clicked or entered. pays: whether a cell lies within the frontier.
   *
   * @param {{
   *   columns: number, rows: number, width: number, xTitle: string, yTitle: string, xWords: PlaceWords,
   *   yWords: PlaceWords, describe: (cell: Cell) => string, onShow: OnPlace, onOpen: OnPlace,
   *   pays: (cell: Cell) => boolean,
   * }} told
   */
  constructor({ columns, rows, width, xTitle, yTitle, xWords, yWords, describe, onShow, onOpen, pays }) {
    this.columns = columns;
    this.rows = rows;
    this.width = width;
    this.wide = (width - LEFT - RIGHT) / columns;
    this.high = Math.max(10, Math.min(34, Math.min(560, (width - LEFT) * 0.66) / rows));
    this.bottom = TOP + rows * this.high;
    this.words = { xTitle, yTitle, xWords, yWords, describe };
    this.pays = pays;
    this.element = s("svg", {
      viewBox: `0 0 ${width} ${this.bottom + 44}`,
      class: "chart heat",
      role: "grid",
      "aria-label": `${yTitle} over ${xTitle}. Arrows move, Enter opens the plan of a cell.`,
    });
    for (let y = rows - 1; y >= 0; y -= 1) this.element.append(this.#row(y));
    this.element.append(this.#frontier, this.#own, this.#labels);
    this.#listen(onShow, onOpen);
  }

  /**
   * Sets the data of a cell.
   *
   * @param {number} x
   * @param {number} y
   * @param {Cell} cell
   */
  put(x, y, cell) {
    const rect = this.#rects.get(keyOf(x, y));
    if (!rect) return;
    this.#cells.set(keyOf(x, y), cell);
    rect.setAttribute("aria-label", this.words.describe(cell));
  }

  /**
   * Colours, frontier and labels of the cells so far. colour: of a cell, null where it has nothing to show.
   *
   * @param {(cell: Cell) => string | null} colour
   */
  settle(colour) {
    this.#drawFrontier();
    this.#drawLabels();
    /** @type {string[]} */
    const known = [];
    for (const [key, cell] of this.#cells) {
      const own = colour(cell);
      this.#rects.get(key)?.classList.toggle("empty", own === null);
      this.#fill(key, own ?? "");
      if (own !== null) known.push(key);
    }
    if (this.#cells.size < this.columns * this.rows) this.#likeNeighbours(known);
  }

  /**
   * Marks the cell that the problem of the form is nearest to.
   *
   * @param {number | null} x
   * @param {number | null} y
   */
  here(x, y) {
    this.#own.replaceChildren();
    if (x === null || y === null) return;
    const at = { ...this.#cornerOf(x, y), width: this.wide, height: this.high, rx: 2 };
    this.#own.append(s("rect", { class: "here-under", ...at }), s("rect", { class: "here", ...at }));
  }

  /**
   * @param {number} x
   * @param {number} y
   */
  #cornerOf(x, y) {
    return { x: LEFT + x * this.wide, y: TOP + (this.rows - 1 - y) * this.high };
  }

  /** @param {number} y */
  #row(y) {
    const line = s("g", { role: "row" });
    for (let x = 0; x < this.columns; x += 1) {
      const corner = this.#cornerOf(x, y);
      const rect = s("rect", {
        class: "cell empty",
        role: "gridcell",
        tabindex: x === 0 && y === 0 ? 0 : -1,
        "aria-label": "not computed yet",
        "data-x": x,
        "data-y": y,
        x: corner.x + 0.5,
        y: corner.y + 0.5,
        width: Math.max(1, this.wide - 1),
        height: Math.max(1, this.high - 1),
        rx: 1.5,
      });
      this.#rects.set(keyOf(x, y), rect);
      line.append(rect);
    }
    return line;
  }

  /**
   * @param {OnPlace} onShow
   * @param {OnPlace} onOpen
   */
  #listen(onShow, onOpen) {
    /** @type {(call: OnPlace) => (event: Event) => void} */
    const at = (call) => (event) => {
      const place = event.target instanceof SVGElement ? event.target.dataset : null;
      if (place?.x !== undefined) call(Number(place.x), Number(place.y));
    };
    this.element.addEventListener("pointerover", at(onShow));
    this.element.addEventListener("focusin", at(onShow));
    this.element.addEventListener("click", at(onOpen));
    const { columns, rows } = this;
    /** @type {Record<string, [number, number]>} */
    const moves = { ...MOVES, Home: [-columns, 0], End: [columns, 0], PageUp: [0, rows], PageDown: [0, -rows] };
    this.element.addEventListener("keydown", (event) => {
      const move = moves[event.key];
      const { x, y } = this.#focus;
      if (event.key === "Enter" || event.key === " ") onOpen(x, y);
      else if (move) this.#go(x + move[0], y + move[1]);
      else return;
      event.preventDefault();
    });
  }

  /**
   * @param {number} x
   * @param {number} y
   */
  #go(x, y) {
    this.#rectOfFocus()?.setAttribute("tabindex", "-1");
    this.#focus = { x: Math.min(this.columns - 1, Math.max(0, x)), y: Math.min(this.rows - 1, Math.max(0, y)) };
    const rect = this.#rectOfFocus();
    rect?.setAttribute("tabindex", "0");
    rect?.focus();
  }

  #rectOfFocus() {
    return this.#rects.get(keyOf(this.#focus.x, this.#focus.y));
  }

  /**
   * @param {string} key
   * @param {string} colour
   */
  #fill(key, colour) {
    const rect = this.#rects.get(key);
    if (rect) rect.style.fill = colour;
  }

  /**
   * What is not computed yet looks, paler, like the nearest cell that is: maps are told coarse first.
   *
   * @param {string[]} from
   */
  #likeNeighbours(from) {
    const reached = new Set(from);
    for (let wave = from; wave.length; ) {
      /** @type {string[]} */
      const next = [];
      for (const key of wave) {
        const [x, y] = placesOf(key);
        for (const other of [keyOf(x - 1, y), keyOf(x + 1, y), keyOf(x, y - 1), keyOf(x, y + 1)]) {
          if (reached.has(other) || this.#cells.has(other) || !this.#rects.has(other)) continue;
          reached.add(other);
          this.#fill(other, this.#rects.get(key)?.style.fill ?? "");
          next.push(other);
        }
      }
      wave = next;
    }
  }

  #drawFrontier() {
    const { wide, high } = this;
    /** @type {(one: Cell | undefined, other: Cell | undefined) => boolean} */
    const differ = (one, other) =>
      one !== undefined && other !== undefined && Boolean(this.pays(one)) !== Boolean(this.pays(other));
    let d = "";
    for (let x = 0; x < this.columns; x += 1) {
      for (let y = 0; y < this.rows; y += 1) {
        const corner = this.#cornerOf(x, y);
        const cell = this.#cells.get(keyOf(x, y));
        if (differ(cell, this.#cells.get(keyOf(x + 1, y))))
          d += `M${(corner.x + wide).toFixed(1)} ${corner.y.toFixed(1)}v${high.toFixed(1)}`;
        if (differ(cell, this.#cells.get(keyOf(x, y + 1))))
          d += `M${corner.x.toFixed(1)} ${corner.y.toFixed(1)}h${wide.toFixed(1)}`;
      }
    }
    this.#frontier.setAttribute("d", d);
  }

  #drawLabels() {
    const { columns, rows, width, wide, high, bottom } = this;
    const { xTitle, yTitle, xWords, yWords } = this.words;
    const across = strideOf(columns, Math.max(2, Math.floor((width - LEFT) / 74)));
    const up = strideOf(rows, Math.max(2, Math.floor((bottom - TOP) / 30)));
    this.#labels.replaceChildren();
    /** @type {(words: string, at: Attributes) => void} */
    const say = (words, at) => this.#labels.append(s("text", { "text-anchor": "middle", ...at }, words));
    for (let x = 0; x < columns; x += across) say(xWords(x), { x: LEFT + (x + 0.5) * wide, y: bottom + 15 });
    for (let y = 0; y < rows; y += up) {
      say(yWords(y), { x: LEFT - 7, y: TOP + (rows - 0.5 - y) * high + 4, "text-anchor": "end" });
    }
    say(xTitle, { class: "strong", x: LEFT + (width - LEFT) / 2, y: bottom + 36 });
    say(yTitle, { class: "strong", transform: `translate(12 ${(TOP + bottom) / 2}) rotate(-90)` });
  }
}

/**
 * Every how many places there is a label, so that both ends have one where that can be.
 *
 * @param {number} count
 * @param {number} most
 */
function strideOf(count, most) {
  for (let stride = 1; stride < count; stride += 1) {
    if ((count - 1) % stride === 0 && (count - 1) / stride < most && stride <= count / 2) return stride;
  }
  return Math.max(1, Math.ceil(count / most));
}
