// The circuits that are live during a step, with the bytes on each.

import { h, replace, s } from "../dom.js";
import { counted, size, times } from "../quantities.js";
import { arc, placesOf, radiusOf } from "./places.js";

// More circuits than this are not told apart; of more GPUs not even dots are.
const MOST_CIRCUITS = 640;
export const MOST_GPUS = 1024;
// Transfers that share a circuit, and the colours that stand for it: blue to vermilion, for any colour vision.
const SHARED = [[1.001, "#2f86c9"], [2.001, "#8f8fc4"], [4.001, "#d3834f"], [Infinity, "#d55e00"]];
const colourOf = (load) => SHARED.find(([most]) => load <= most)[1];

/** What widths and colours stand for. */
export function circuitLegend() {
  const words = ["1×", "to 2×", "to 4×", "more"];
  return h(
    "ul", { class: "legend", "aria-label": "Width: bytes on a circuit. Colour: bytes on it over those of one transfer." },
    h("li", {}, "width: bytes, colour: load"),
    SHARED.map(([, colour], place) => {
      const swatch = h("span", { class: "swatch line" });
      swatch.style.background = colour;
      return h("li", {}, swatch, words[place]);
    }),
  );
}

/**
 * A drawing of circuits.
 *
 * plan: as JSON. onGpu: called with a GPU that is pointed at, or null.
 * Returns `{element, circuits(topology), loads(loads, step), phase(state), select(gpu), words()}`.
 */
export function circuitDrawing({ plan, onGpu }) {
  const gpus = plan.gpus;
  const places = placesOf(gpus, plan.fabric.dims);
  const isRound = (plan.fabric.dims ?? []).filter((side) => side > 1).length < 2;
  const radius = radiusOf(gpus);
  const paths = s("g", {});
  const flows = s("g", {});
  const marks = s("g", {});
  const svg = s("svg", { viewBox: "0 0 640 640", "aria-hidden": "true", focusable: "false" }, arrow(), paths, flows, marks);
  const element = h("div", { class: "drawing" }, svg);
  const nodes = places.map((place, gpu) => node(gpu, place, radius, gpus <= 72));
  marks.append(...nodes);
  marks.addEventListener("pointerover", (event) => {
    const found = event.target.closest(".gpu");
    if (found) onGpu(Number(found.dataset.gpu), { lasting: false });
  });
  marks.addEventListener("pointerout", () => onGpu(null, { lasting: false }));
  marks.addEventListener("click", (event) => {
    const found = event.target.closest(".gpu");
    if (found) onGpu(Number(found.dataset.gpu), { lasting: true });
  });
  const most = Math.max(...plan.steps.map((step) => step.transfer_bytes * step.load), 1);
  let drawn = new Map();
  let shownTopology = null;
  let chosen = null;
  let stride = 1;
  let thick = 4;

  function circuits(topology) {
    if (topology.id === shownTopology) return;
    shownTopology = topology.id;
    drawn = new Map();
    const links = topology.links ?? [];
    stride = Math.max(1, Math.ceil(links.length / MOST_CIRCUITS));
    const kept = links.filter(([source]) => source % stride === 0);
    const arrows = kept.length <= 200;
    // Of many circuits, thin ones: more is seen of those below.
    thick = Math.min(4.2, 0.4 + 230 / kept.length);
    for (const [source, target] of kept) {
      const d = arc(places[source], places[target], radius, isRound);
      const path = s("path", { class: "circuit", d, "marker-end": arrows ? "url(#arrow)" : null }, s("title", {}, `circuit ${source} → ${target}`));
      const flow = kept.length <= 260 ? s("path", { class: "flow", d }) : null;
      drawn.set(`${source}>${target}`, { path, flow, source, target });
    }
    replace(paths, [...drawn.values()].map(({ path }) => path));
    replace(flows, [...drawn.values()].map(({ flow }) => flow));
    mark();
  }

  function loads(found, step) {
    for (const [key, { path, flow, source, target }] of drawn) {
      const link = found?.get(key);
      const busy = Boolean(link && link.bytes > 0);
      path.classList.toggle("busy", busy);
      if (flow) flow.style.display = busy ? "" : "none";
      const load = busy ? link.bytes / link.circuits / step.transfer_bytes : 0;
      path.style.stroke = busy ? colourOf(load) : "";
      path.style.strokeWidth = busy ? String(1 + thick * Math.sqrt(link.bytes / link.circuits / most)) : "";
      path.firstChild.textContent = busy
        ? `circuit ${source} → ${target}: ${size(link.bytes, plan.size_bytes)}, load ${times(load)}`
        : `circuit ${source} → ${target}: idle`;
    }
  }

  function mark() {
    svg.classList.toggle("selecting", chosen !== null);
    const peers = new Set();
    for (const { path, flow, source, target } of drawn.values()) {
      const isHis = source === chosen || target === chosen;
      path.classList.toggle("of-selected", isHis);
      flow?.classList.toggle("of-selected", isHis);
      if (isHis) peers.add(source).add(target);
    }
    nodes.forEach((each, gpu) => {
      each.classList.toggle("selected", gpu === chosen);
      each.classList.toggle("peer", gpu !== chosen && peers.has(gpu));
    });
  }

  return {
    element, circuits, loads,
    phase({ term, share }) {
      svg.classList.toggle("dark-time", term === "reconfiguration");
      svg.classList.toggle("sending", term === "sending" && share < 1);
    },
    /** Moves the dashes that stand for data; from 0 on. */
    flow(distance) {
      svg.style.setProperty("--flow", String(-distance % 16));
    },
    select(gpu) {
      chosen = gpu;
      mark();
    },
    words() {
      return stride > 1 ? `Drawn are the circuits out of one GPU in ${stride}, ${counted(drawn.size, "circuit")}; numbers are of all.` : "";
    },
  };
}

function node(gpu, { x, y }, radius, isNamed) {
  return s(
    "g", { class: "gpu", "data-gpu": gpu }, s("circle", { cx: x, cy: y, r: radius }),
    isNamed ? s("text", { x, y, "font-size": Math.min(11, radius * 1.12) }, gpu) : null,
    s("title", {}, `GPU ${gpu}`),
  );
}

function arrow() {
  const tip = s("path", { d: "M0 0L6 3L0 6z", fill: "context-stroke" });
  return s("defs", {}, s("marker", { id: "arrow", viewBox: "0 0 6 6", refX: 4.4, refY: 3, markerWidth: 3, markerHeight: 3, orient: "auto" }, tip));
}
