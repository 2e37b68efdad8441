// A switch: its ingress ports at the left, its egress ports at the right, and what it joins.

import { h, replace, s } from "../dom.js";
import { counted } from "../quantities.js";

/** @import { State } from "../steps.js" */
/** @import { Joined, Ports, Setting, Switch } from "../types.js" */
/** @import { OnGpu } from "./circuits.js" */

/**
 * A connection that is drawn. link: the ends of its circuit, `source>target`; empty where they are not GPUs.
 *
 * @typedef {{path: SVGPathElement, flow: SVGPathElement | null, joined: Joined, link: string}} DrawnConnection
 */

/** @typedef {"ingress" | "egress"} Side */

const [WIDTH, EDGE, HEIGHT, TOP] = [360, 62, 600, 18];
// Larger switches are not drawn, and of more connections data do not move.
const MOST_PORTS = 512;
const MOST_FLOWS = 260;
// The least height of a row with a label, and of one whose port has a border.
const [LABELLED, BORDERED] = [8.5, 5];

/** The legend of ports and connections. */
export const switchLegend = () =>
  h(
    "ul",
    { class: "legend", "aria-label": "Ports and connections of a switch" },
    [
      ["lit", "lit"],
      ["dark", "dark"],
      ["broken", "broken"],
      ["changing", "changed for this step"],
    ].map(([kind, words]) => h("li", {}, h("span", { class: `swatch port-${kind}` }), words)),
  );

/** A drawing of the switches of a plan, one of them at a time. */
export class SwitchDrawing {
  #place = h("div", { class: "drawing switch" });
  #words = h("p", { class: "quiet" });
  #shown = 0;
  /** The height of a port. */
  #row = 0;
  /** @type {number | null} */
  #configuration = null;
  /** @type {DrawnConnection[]} */
  #drawn = [];
  /** Ports that are marked anew with each configuration. @type {Record<Side, SVGElement[]>} */
  #marks = { ingress: [], egress: [] };
  /** @type {SVGSVGElement | null} */
  #svg = null;
  #paths = s("g", {});
  #flows = s("g", {});
  /** @type {number | null} */
  #gpu = null;
  /** @type {Set<string>} */
  #followed = new Set();
  /** @type {(link: string) => number} */
  #rate = () => 0;

  /**
   * onGpu: called with the GPU at a port that is pointed at.
   *
   * @param {{ports: Ports, onGpu: OnGpu}} told
   */
  constructor({ ports, onGpu }) {
    this.ports = ports;
    this.onGpu = onGpu;
    this.element = h("figure", { class: "switch-of" }, this.#caption(), this.#place, this.#words, switchLegend());
    this.#draw();
  }

  get #own() {
    return this.ports.switches[this.#shown];
  }

  #caption() {
    const { switches } = this.ports;
    /** @param {Switch} one */
    const wordsOf = (one) => `${one.name}, ${one.ports} ports in, ${one.ports} out`;
    if (switches.length === 1)
      return h("figcaption", { title: this.ports.numbering }, `Switch: ${wordsOf(switches[0])}`);
    const options = switches.map((one, place) => h("option", { value: place }, wordsOf(one)));
    const select = h("select", { "aria-label": "Switch" }, options);
    select.addEventListener("change", () => {
      this.#shown = Number(select.value);
      this.#draw();
    });
    return h("figcaption", { title: this.ports.numbering }, select);
  }

  #draw() {
    const { ports } = this.#own;
    this.#svg = null;
    if (ports > MOST_PORTS) {
      replace(this.#place, h("p", { class: "quiet" }, `Its ${ports} ports are too many to be drawn.`));
      return;
    }
    const row = Math.max(2, Math.min(20, HEIGHT / ports));
    this.#row = row;
    const height = TOP + ports * row + 4;
    const body = s("rect", {
      class: "switch-body",
      x: EDGE,
      y: TOP - 3,
      width: WIDTH - 2 * EDGE,
      height: height - TOP,
      rx: 6,
    });
    const heads = [
      s("text", { x: EDGE, y: 9, "text-anchor": "end" }, "GPU out"),
      s("text", { x: WIDTH - EDGE, y: 9 }, "into GPU"),
    ];
    this.#marks = { ingress: this.#portsAt("ingress", row), egress: this.#portsAt("egress", row) };
    const marks = s("g", {}, heads, this.#marks.ingress, this.#marks.egress);
    marks.addEventListener("pointerover", (event) => this.#pointed(event, false));
    marks.addEventListener("pointerout", () => this.onGpu(null, { lasting: false }));
    marks.addEventListener("click", (event) => this.#pointed(event, true));
    const parts = [body, this.#paths, this.#flows, marks];
    this.#svg = s("svg", { viewBox: `0 0 ${WIDTH} ${height}`, "aria-hidden": "true", focusable: "false" }, parts);
    replace(this.#place, this.#svg);
    if (this.#configuration !== null) this.#join(this.#configuration);
  }

  /** @param {number} port */
  #y(port) {
    return TOP + (port - 0.5) * this.#row;
  }

  /**
   * @param {Side} side
   * @param {number} row
   */
  #portsAt(side, row) {
    const own = this.#own;
    const [at, anchor, outward] = side === "ingress" ? [EDGE, "end", -1] : [WIDTH - EDGE, "start", 1];
    return Array.from({ length: own.ports }, (_, place) => {
      const y = this.#y(place + 1);
      const end = own.ends[place] ?? "";
      return s(
        "g",
        { class: "port", "data-gpu": own.ranks[place] ?? null },
        s("circle", { cx: at, cy: y, r: Math.min(4, row * 0.36), "stroke-width": row < BORDERED ? 0.5 : 1.2 }),
        row >= LABELLED
          ? s("text", { x: at + outward * 9, y, "text-anchor": anchor, "font-size": Math.min(11, row) }, end)
          : null,
        s("title", {}),
      );
    });
  }

  /**
   * @param {Event} event
   * @param {boolean} lasting
   */
  #pointed(event, lasting) {
    const found = event.target instanceof Element && event.target.closest("[data-gpu]");
    if (found instanceof SVGElement) this.onGpu(Number(found.dataset.gpu), { lasting });
  }

  /**
   * Shows what is joined during a step.
   *
   * @param {number} step
   */
  step(step) {
    const place = this.ports.configurations.findIndex(({ steps }) => steps.includes(step));
    if (place >= 0 && place !== this.#configuration) this.#join(place);
    // What is changed is changed before the first of the steps.
    const isFirst = place > 0 && this.ports.configurations[place].steps[0] === step;
    this.#svg?.classList.toggle("is-new", isFirst);
  }

  /** @param {number} place */
  #join(place) {
    this.#configuration = place;
    if (!this.#svg) return;
    const setting = this.ports.configurations[place].switches[this.#shown];
    const own = this.#own;
    const isNew = new Set(place ? setting.connect.map(String) : []);
    this.#drawn = setting.connections.map((joined) => {
      const d = this.#curve(joined);
      const link = joined.map((port) => own.ranks[port - 1]);
      return {
        joined,
        link: link.includes(null) ? "" : link.join(">"),
        path: s("path", { class: `connection ${isNew.has(String(joined)) ? "new" : ""}`, d }),
        flow: setting.connections.length <= MOST_FLOWS ? s("path", { class: "flow", d }) : null,
      };
    });
    const gone = place
      ? setting.disconnect.map((joined) => s("path", { class: "connection gone", d: this.#curve(joined) }))
      : [];
    replace(
      this.#paths,
      gone,
      this.#drawn.map(({ path }) => path),
    );
    replace(
      this.#flows,
      this.#drawn.map(({ flow }) => flow),
    );
    this.#markPorts(setting);
    this.rates(this.#rate);
    this.#mark();
  }

  /** @param {Joined} joined */
  #curve([ingress, egress]) {
    const [from, to] = [this.#y(ingress), this.#y(egress)];
    const third = (WIDTH - 2 * EDGE) / 2.4;
    return `M${EDGE} ${from}C${EDGE + third} ${from} ${WIDTH - EDGE - third} ${to} ${WIDTH - EDGE} ${to}`;
  }

  /** @param {Setting} setting */
  #markPorts({ connections, connect, disconnect }) {
    const own = this.#own;
    const broken = { ingress: new Set(own.failed_ingress), egress: new Set(own.failed_egress) };
    const counts = { dark: 0, broken: 0 };
    for (const [place, side] of /** @type {const} */ (["ingress", "egress"]).entries()) {
      const lit = new Set(connections.map((joined) => joined[place]));
      this.#marks[side].forEach((mark, index) => {
        const kind = broken[side].has(index + 1) ? "broken" : lit.has(index + 1) ? "lit" : "dark";
        if (kind !== "lit") counts[kind] += 1;
        mark.setAttribute("class", `port ${kind}`);
        const half = side === "ingress" ? "transmitter" : "receiver";
        replace(
          mark.querySelector("title") ?? mark,
          `${side} port ${index + 1}, ${half} ${own.ends[index] ?? ""}: ${kind}`,
        );
      });
    }
    const changes = this.#configuration
      ? `, ${connect.length} new and ${disconnect.length} gone since the configuration before`
      : "";
    const dark = counts.dark ? `; ${counted(counts.dark, "port")} dark` : "";
    const failed = counts.broken ? `; ${counted(counts.broken, "port")} broken` : "";
    replace(this.#words, `${counted(connections.length, "connection")}${changes}${dark}${failed}.`);
  }

  /**
   * Shows which circuits carry data. rate: of a circuit by its ends, `source>target`, over that of the busiest.
   *
   * @param {(link: string) => number} rate
   */
  rates(rate) {
    this.#rate = rate;
    for (const { path, flow, link } of this.#drawn) {
      const own = rate(link);
      path.classList.toggle("busy", own > 0);
      if (!flow) continue;
      flow.style.display = own > 0 ? "" : "none";
      flow.style.setProperty("--rate", String(own));
    }
  }

  /**
   * Shows what happens: circuits change, start up, or carry data.
   *
   * @param {State} state
   */
  phase({ term, share }) {
    this.#svg?.classList.toggle("dark-time", term === "reconfiguration");
    this.#svg?.classList.toggle("sending", term === "sending" && share < 1);
  }

  /**
   * Moves the dashes that stand for data.
   *
   * @param {number} distance
   */
  flow(distance) {
    this.#svg?.style.setProperty("--flow", distance.toFixed(2));
  }

  /**
   * Marks the ports of a GPU with what they are joined to, and the circuits that are followed.
   *
   * @param {number | null} gpu
   * @param {Set<string>} followed
   */
  select(gpu, followed) {
    this.#gpu = gpu;
    this.#followed = followed;
    this.#mark();
  }

  #mark() {
    const [gpu, followed] = [this.#gpu, this.#followed];
    this.#svg?.classList.toggle("selecting", gpu !== null || followed.size > 0);
    for (const { path, flow, link } of this.#drawn) {
      const isFollowed = followed.has(link);
      const isHis = gpu !== null && link.split(">").includes(String(gpu));
      path.classList.toggle("of-selected", isHis || isFollowed);
      path.classList.toggle("followed", isFollowed);
      flow?.classList.toggle("of-selected", isHis || isFollowed);
    }
    for (const mark of [...this.#marks.ingress, ...this.#marks.egress])
      mark.classList.toggle("selected", gpu !== null && mark.dataset.gpu === String(gpu));
  }
}
