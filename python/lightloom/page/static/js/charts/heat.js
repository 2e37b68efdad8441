// A map of ratios over two axes, which fills as its cells are computed.

import { s } from "../dom.js";
import { endOf, ratioColour } from "./colours.js";

/**
 * A map of `columns` × `rows` cells, the first row at the bottom.
 *
 * xWords, yWords: of a place on an axis. onShow: called with a cell's places that is pointed at or focused; onOpen: with
 * those of a cell that is clicked or entered. pays: whether a cell lies within the frontier.
 *
 * Returns `{element, put(x, y, cell), settle(), here(x, y)}`.
 */
export function heatMap({ columns, rows, width, xTitle, yTitle, xWords, yWords, describe, onShow, onOpen, pays }) {
  const [left, right, top] = [74, 10, 8];
  const wide = (width - left - right) / columns;
  const high = Math.max(10, Math.min(34, Math.min(560, (width - left) * 0.66) / rows));
  const bottom = top + rows * high;
  const svg = s("svg", { viewBox: `0 0 ${width} ${bottom + 44}`, class: "chart heat", role: "grid", "aria-label": `${yTitle} over ${xTitle}. Arrows move, Enter opens the plan of a cell.` });
  const cells = new Map();
  const rects = new Map();
  let focus = [0, 0];
  for (let y = rows - 1; y >= 0; y -= 1) {
    const line = s("g", { role: "row" });
    for (let x = 0; x < columns; x += 1) {
      const rect = s("rect", {
        class: "cell empty", role: "gridcell", tabindex: x === 0 && y === 0 ? 0 : -1, "aria-label": "not computed yet", "data-x": x, "data-y": y,
        x: left + x * wide + 0.5, y: top + (rows - 1 - y) * high + 0.5, width: Math.max(1, wide - 1), height: Math.max(1, high - 1), rx: 1.5,
      });
      rects.set(`${x},${y}`, rect);
      line.append(rect);
    }
    svg.append(line);
  }
  const frontier = s("path", { class: "frontier" });
  const own = s("g", {});
  const labels = s("g", { "aria-hidden": "true" });
  svg.append(frontier, own, labels);
  const placeOf = (target) => (target?.dataset?.x === undefined ? null : [Number(target.dataset.x), Number(target.dataset.y)]);
  svg.addEventListener("pointerover", (event) => {
    const place = placeOf(event.target);
    if (place) onShow(...place);
  });
  svg.addEventListener("focusin", (event) => {
    const place = placeOf(event.target);
    if (place) onShow(...place);
  });
  svg.addEventListener("click", (event) => {
    const place = placeOf(event.target);
    if (place) onOpen(...place);
  });
  svg.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1], Home: [-columns, 0], End: [columns, 0], PageUp: [0, rows], PageDown: [0, -rows] }[event.key];
    if (event.key === "Enter" || event.key === " ") onOpen(...focus);
    else if (move) go(focus[0] + move[0], focus[1] + move[1]);
    else return;
    event.preventDefault();
  });

  function go(x, y) {
    rects.get(focus.join()).setAttribute("tabindex", -1);
    focus = [Math.min(columns - 1, Math.max(0, x)), Math.min(rows - 1, Math.max(0, y))];
    const rect = rects.get(focus.join());
    rect.setAttribute("tabindex", 0);
    rect.focus();
  }

  function colour() {
    const known = [...cells].filter(([, cell]) => cell.speedup > 0);
    const end = endOf(known.map(([, cell]) => cell.speedup));
    for (const [key, cell] of known) rects.get(key).style.fill = ratioColour(cell.speedup, end);
    if (cells.size < columns * rows) likeNeighbours(known.map(([key]) => key));
    return end;
  }

  /** What is not computed yet looks, paler, like the nearest cell that is: maps are told coarse first. */
  function likeNeighbours(from) {
    const reached = new Set(from);
    for (let wave = from; wave.length; ) {
      const next = [];
      for (const key of wave) {
        const [x, y] = key.split(",").map(Number);
        for (const other of [`${x - 1},${y}`, `${x + 1},${y}`, `${x},${y - 1}`, `${x},${y + 1}`]) {
          if (reached.has(other) || cells.has(other) || !rects.has(other)) continue;
          reached.add(other);
          rects.get(other).style.fill = rects.get(key).style.fill;
          next.push(other);
        }
      }
      wave = next;
    }
  }

  function drawFrontier() {
    const inside = (x, y) => cells.has(`${x},${y}`) && pays(cells.get(`${x},${y}`));
    const known = (x, y) => cells.has(`${x},${y}`);
    let d = "";
    for (let x = 0; x < columns; x += 1) {
      for (let y = 0; y < rows; y += 1) {
        const [x0, y0] = [left + x * wide, top + (rows - 1 - y) * high];
        if (known(x, y) && known(x + 1, y) && inside(x, y) !== inside(x + 1, y)) d += `M${(x0 + wide).toFixed(1)} ${y0.toFixed(1)}v${high.toFixed(1)}`;
        if (known(x, y) && known(x, y + 1) && inside(x, y) !== inside(x, y + 1)) d += `M${x0.toFixed(1)} ${y0.toFixed(1)}h${wide.toFixed(1)}`;
      }
    }
    frontier.setAttribute("d", d);
  }

  function drawLabels() {
    const across = strideOf(columns, Math.max(2, Math.floor((width - left) / 74)));
    const up = strideOf(rows, Math.max(2, Math.floor((bottom - top) / 30)));
    labels.replaceChildren();
    for (let x = 0; x < columns; x += across) {
      labels.append(s("text", { x: left + (x + 0.5) * wide, y: bottom + 15, "text-anchor": "middle" }, xWords(x)));
    }
    for (let y = 0; y < rows; y += up) {
      labels.append(s("text", { x: left - 7, y: top + (rows - 0.5 - y) * high + 4, "text-anchor": "end" }, yWords(y)));
    }
    labels.append(s("text", { class: "strong", x: left + (width - left) / 2, y: bottom + 36, "text-anchor": "middle" }, xTitle));
    labels.append(s("text", { class: "strong", transform: `translate(12 ${(top + bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, yTitle));
  }

  return {
    element: svg,
    put(x, y, cell) {
      const rect = rects.get(`${x},${y}`);
      if (!rect) return;
      cells.set(`${x},${y}`, cell);
      rect.classList.toggle("empty", !(cell.speedup > 0));
      rect.setAttribute("aria-label", describe(cell));
    },
    /** Colours, frontier and labels of what is there by now; returns the end of the colours' scale. */
    settle() {
      drawFrontier();
      drawLabels();
      return colour();
    },
    /** Marks the cell that the problem of the form is nearest to. */
    here(x, y) {
      own.replaceChildren();
      if (x === null || y === null) return;
      const at = { x: left + x * wide, y: top + (rows - 1 - y) * high, width: wide, height: high, rx: 2 };
      own.append(s("rect", { class: "here-under", ...at }), s("rect", { class: "here", ...at }));
    },
  };
}

/** Every how many places there is a label, so that both ends have one where that can be. */
function strideOf(count, most) {
  for (let stride = 1; stride < count; stride += 1) {
    if ((count - 1) % stride === 0 && (count - 1) / stride < most && stride <= count / 2) return stride;
  }
  return Math.max(1, Math.ceil(count / most));
}
