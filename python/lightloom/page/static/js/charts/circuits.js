// The circuits that are live during a step, with the bytes on each.

import { brokenOf } from "../broken.js";
import { freshId, h, replace, s } from "../dom.js";
import { counted, size, times } from "../quantities.js";
import { arc, placesOf, radiusOf } from "./places.js";

/** @import { LinkLoad, LoadsByLink } from "../loads.js" */
/** @import { State } from "../steps.js" */
/** @import { Path, Plan, Step, Topology } from "../types.js" */
/** @import { Place } from "./places.js" */

/**
 * A circuit that is drawn. words: its tooltip. flow: its moving dashes, where there are not too many.
 *
 * @typedef {{
 *   path: SVGPathElement, words: SVGTitleElement, flow: SVGPathElement | null, source: number, target: number,
 * }} DrawnCircuit
 */

/**
 * Called with a GPU that is pointed at, or null; lasting: whether it is clicked.
 *
 * @typedef {(gpu: number | null, how: {lasting: boolean}) => void} OnGpu
 */

// More circuits than this are not told apart; of more GPUs not even dots are.
const MOST_CIRCUITS = 640;
export const MOST_GPUS = 1024;
// Transfers that share a circuit, and the colours that stand for it: blue to vermilion, for any colour vision.
/** @type {[number, string][]} */
const SHARED = [
  [1.001, "#2f86c9"],
  [2.001, "#8f8fc4"],
  [4.001, "#d3834f"],
  [Infinity, "#d55e00"],
];
/** @param {number} load */
const colourOf = (load) => SHARED.find(([most]) => load <= most)?.[1] ?? "";

/** The legend of widths and colours. */
export function circuitLegend() {
  const words = ["1×", "to 2×", "to 4×", "more"];
  return h(
    "ul",
    { class: "legend", "aria-label": "Width: bytes on a circuit. Colour: bytes on it over those of one transfer." },
    h("li", {}, "width: bytes, colour: load"),
    SHARED.map(([, colour], place) => {
      const swatch = h("span", { class: "swatch line" });
      swatch.style.background = colour;
      return h("li", {}, swatch, words[place]);
    }),
  );
}

/** A drawing of a plan's circuits, with the bytes that each carries. */
export class CircuitDrawing {
  #paths = s("g", {});
  #flows = s("g", {});
  /** By `source>target`: the circuits that are drawn. @type {Map<string, DrawnCircuit>} */
  #drawn = new Map();
  /** @type {number | null} */
  #chosen = null;
  /** Circuits on the paths that are followed, by `source>target`, and GPUs on them. @type {Set<string>} */
  #followed = new Set();
  /** @type {Set<number>} */
  #passed = new Set();
  /** @type {number | null} */
  #shownTopology = null;
  #stride = 1;
  #thick = 4;

  /** @param {{plan: Plan, onGpu: OnGpu}} told */
  constructor({ plan, onGpu }) {
    this.plan = plan;
    this.arrow = freshId("arrow");
    this.places = placesOf(plan.gpus, plan.fabric.dims);
    this.isRound = (plan.fabric.dims ?? []).filter((side) => side > 1).length < 2;
    this.radius = radiusOf(plan.gpus);
    this.most = Math.max(...plan.steps.map((step) => step.transfer_bytes * step.load), 1);
    const broken = brokenOf(plan);
    this.absent = broken.absent;
    this.nodes = this.places.map((place, gpu) => node(gpu, place, this.radius, plan.gpus <= 72, broken.ranks.get(gpu)));
    const cut = broken.pairs.map(([source, target]) => {
      const d = arc(this.places[source], this.places[target], this.radius, this.isRound);
      return s("path", { class: "circuit-broken", d }, s("title", {}, `no circuit can be ${source} → ${target}`));
    });
    this.svg = s(
      "svg",
      { viewBox: "0 0 640 640", "aria-hidden": "true", focusable: "false" },
      arrow(this.arrow),
      s("g", {}, cut),
      this.#paths,
      this.#flows,
      marksOf(this.nodes, onGpu),
    );
    this.element = h("div", { class: "drawing" }, this.svg);
  }

  /**
   * Draws a topology's circuits, some of them where they are too many.
   *
   * @param {Topology} topology
   */
  circuits(topology) {
    if (topology.id === this.#shownTopology) return;
    this.#shownTopology = topology.id;
    const links = topology.links ?? [];
    this.#stride = Math.max(1, Math.ceil(links.length / MOST_CIRCUITS));
    const kept = links.filter(([source]) => source % this.#stride === 0);
    // Many circuits are drawn thin, so that those below stay visible.
    this.#thick = Math.min(4.2, 0.4 + 230 / kept.length);
    const drawn = kept.map(([source, target]) => this.#circuit(source, target, kept.length));
    this.#drawn = new Map(drawn.map((circuit) => [`${circuit.source}>${circuit.target}`, circuit]));
    const all = [...this.#drawn.values()];
    replace(
      this.#paths,
      all.map(({ path }) => path),
    );
    replace(
      this.#flows,
      all.map(({ flow }) => flow),
    );
    this.#mark();
  }

  /**
   * @param {number} source
   * @param {number} target
   * @param {number} count
   * @returns {DrawnCircuit}
   */
  #circuit(source, target, count) {
    const d = arc(this.places[source], this.places[target], this.radius, this.isRound);
    const words = s("title", {}, `circuit ${source} → ${target}`);
    const path = s("path", { class: "circuit", d, "marker-end": count <= 200 ? `url(#${this.arrow})` : null }, words);
    const flow = count <= 260 ? s("path", { class: "flow", d }) : null;
    return { path, words, flow, source, target };
  }

  /**
   * Shows the bytes of a step on each circuit; found is null while they are not known.
   *
   * @param {LoadsByLink | null} found
   * @param {Step} step
   */
  loads(found, step) {
    for (const [key, { path, words, flow, source, target }] of this.#drawn) {
      const link = found?.get(key);
      const busy = link && link.bytes > 0;
      path.classList.toggle("busy", Boolean(busy));
      if (flow) {
        flow.style.display = busy ? "" : "none";
        flow.style.setProperty("--rate", String(rateOf(link, step)));
      }
      const load = busy ? link.bytes / link.circuits / step.transfer_bytes : 0;
      path.style.stroke = busy ? colourOf(load) : "";
      path.style.strokeWidth = busy ? String(1 + this.#thick * Math.sqrt(link.bytes / link.circuits / this.most)) : "";
      words.textContent = busy
        ? `circuit ${source} → ${target}: ${size(link.bytes, this.plan.size_bytes)}, load ${times(load)}`
        : `circuit ${source} → ${target}: idle`;
    }
  }

  #mark() {
    const chosen = this.#chosen;
    this.svg.classList.toggle("selecting", chosen !== null || this.#followed.size > 0);
    /** @type {Set<number>} */
    const peers = new Set();
    for (const { path, flow, source, target } of this.#drawn.values()) {
      const isFollowed = this.#followed.has(`${source}>${target}`);
      const isHis = source === chosen || target === chosen;
      path.classList.toggle("of-selected", isHis || isFollowed);
      path.classList.toggle("followed", isFollowed);
      flow?.classList.toggle("of-selected", isHis || isFollowed);
      if (isHis) peers.add(source).add(target);
    }
    this.nodes.forEach((each, gpu) => {
      each.classList.toggle("selected", gpu === chosen);
      each.classList.toggle("peer", gpu !== chosen && peers.has(gpu));
      each.classList.toggle("passed", this.#passed.has(gpu));
    });
  }

  /**
   * Shows what happens: circuits change, start up, or carry data.
   *
   * @param {State} state
   */
  phase({ term, share }) {
    this.svg.classList.toggle("dark-time", term === "reconfiguration");
    this.svg.classList.toggle("sending", term === "sending" && share < 1);
  }

  /**
   * Moves the dashes that stand for data, each by this distance times its circuit's rate.
   *
   * @param {number} distance
   */
  flow(distance) {
    this.svg.style.setProperty("--flow", distance.toFixed(2));
  }

  /**
   * Marks paths of data, in place of those that were marked.
   *
   * @param {Path[]} paths
   */
  follow(paths) {
    this.#followed = new Set(paths.flatMap(hopsOf));
    this.#passed = new Set(paths.flatMap(({ gpus }) => gpus));
    this.#mark();
  }

  /**
   * Marks a GPU with its circuits and peers; null for no GPU.
   *
   * @param {number | null} gpu
   */
  select(gpu) {
    this.#chosen = gpu;
    this.#mark();
  }

  /** Says which circuits and GPUs are left out; empty where all are drawn. */
  words() {
    const broken = this.absent.join(", ");
    const gone = broken ? `Broken and left out: GPU ${broken}. Numbers here are ranks, of the GPUs that work. ` : "";
    if (this.#stride === 1) return gone;
    const drawn = counted(this.#drawn.size, "circuit");
    return `${gone}Drawn are the circuits out of one GPU in ${this.#stride}, ${drawn}; numbers are of all.`;
  }
}

/**
 * The rate of each of these circuits over that of the step's busiest one, which runs at the rate of its port.
 *
 * @param {LinkLoad | undefined} link
 * @param {Step} step
 */
export const rateOf = (link, step) =>
  link?.bytes ? Math.min(1, link.bytes / link.circuits / (step.transfer_bytes * step.load)) : 0;

/**
 * The circuits that a path takes, `source>target` each.
 *
 * @param {Path} path
 */
export const hopsOf = ({ gpus }) => gpus.slice(1).map((gpu, place) => `${gpus[place]}>${gpu}`);

/**
 * The GPUs, which say where they are pointed at.
 *
 * @param {SVGElement[]} nodes
 * @param {OnGpu} onGpu
 */
function marksOf(nodes, onGpu) {
  const marks = s("g", {}, nodes);
  /**
   * @param {Event} event
   * @param {boolean} lasting
   */
  const point = (event, lasting) => {
    const found = event.target instanceof Element && event.target.closest(".gpu");
    if (found instanceof SVGElement) onGpu(Number(found.dataset.gpu), { lasting });
  };
  marks.addEventListener("pointerover", (event) => point(event, false));
  marks.addEventListener("pointerout", () => onGpu(null, { lasting: false }));
  marks.addEventListener("click", (event) => point(event, true));
  return marks;
}

/**
 * @param {number} gpu
 * @param {Place} place
 * @param {number} radius
 * @param {boolean} isNamed
 * @param {string[]} broken
 */
function node(gpu, { x, y }, radius, isNamed, broken = []) {
  return s(
    "g",
    { class: `gpu ${broken.length ? "broken" : ""}`, "data-gpu": gpu },
    s("circle", { cx: x, cy: y, r: radius }),
    isNamed ? s("text", { x, y, "font-size": Math.min(11, radius * 1.12) }, gpu) : null,
    s("title", {}, `GPU ${gpu}${broken.length ? `, broken: ${broken.join(", ")}` : ""}`),
  );
}

/** @param {string} id */
function arrow(id) {
  const tip = s("path", { d: "M0 0L6 3L0 6z", fill: "context-stroke" });
  return s(
    "defs",
    {},
    s("marker", { id, viewBox: "0 0 6 6", refX: 4.4, refY: 3, markerWidth: 3, markerHeight: 3, orient: "auto" }, tip),
  );
}
