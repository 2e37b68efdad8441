// The part of a plan's view that shows its circuits in time.

import { circuitDrawing, circuitLegend, MOST_GPUS } from "../charts/circuits.js";
import { player } from "../charts/player.js";
import { totalOf } from "../charts/terms.js";
import { h, replace } from "../dom.js";
import { loadsOf } from "../loads.js";
import { counted, size, time, times } from "../quantities.js";
import { nameOf, startsOf, stateAt } from "../steps.js";
import { cardWith } from "../tables.js";

const FLOW_PER_FRAME = 0.9;
const MOST_PATHS = 4;
// What has a use of its own for the space bar, and what for arrows.
const PRESSED = "input, select, textarea, button, summary, a";
const MOVED = "input, select, textarea, .scroll, pre";

/**
 * Circuits of a plan with their player. onTime: called with seconds and the step.
 *
 * Returns `{element, toTime(seconds), toStep(index), again(), key(event), leave()}`.
 */
export function circuitsOf({ plan, body, onTime }) {
  const starts = startsOf(plan);
  const facts = h("div", {});
  const ports = h("ul", { class: "ports-list" });
  const loads = loadsOf(plan, body);
  const isDrawn = plan.gpus <= MOST_GPUS && plan.topologies.every((topology) => Array.isArray(topology.links));
  const drawing = isDrawn ? circuitDrawing({ plan, onGpu: pointed }) : null;
  const words = h("p", { class: "quiet" });
  const input = h("input", { type: "number", id: "gpu", min: 0, max: plan.gpus - 1, placeholder: "none" });
  const group = h(
    "div", { class: "drawing", tabindex: 0, role: "group", "aria-label": "Circuits. Space plays and pauses, left and right go from step to step, up and down from GPU to GPU." },
    drawing?.element ?? h("p", { class: "quiet" }, `Circuits of ${plan.gpus} GPUs are too many to be drawn. The table of steps has them all.`),
  );
  let kept = null;
  let shown = null;
  let state = null;
  let stepLoads = null;
  let travelled = 0;
  const play = player({ total: plan.total_s, starts, onTime: show, say: (seconds) => spoken(plan, stateAt(plan, starts, seconds), seconds) });
  input.addEventListener("input", () => {
    kept = input.value === "" ? null : Math.min(plan.gpus - 1, Math.max(0, Math.round(Number(input.value))));
    choose(kept);
  });
  group.addEventListener("keydown", (event) => {
    const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    kept = ((kept ?? (by > 0 ? -1 : 0)) + by + plan.gpus) % plan.gpus;
    input.value = String(kept);
    choose(kept);
  });

  function pointed(gpu, { lasting }) {
    if (lasting) {
      kept = gpu === kept ? null : gpu;
      input.value = kept === null ? "" : String(kept);
    }
    choose(lasting ? kept : (gpu ?? kept));
  }

  function choose(gpu) {
    shown = gpu;
    drawing?.select(gpu);
    replace(ports, portWords());
  }

  function portWords() {
    const topology = plan.topologies[plan.steps[state.step].topology];
    if (shown === null) return h("li", { class: "quiet" }, "Point at a GPU, or give its number: its ports, and what is on them.");
    const own = (topology.links ?? []).filter(([source, target]) => source === shown || target === shown);
    const used = own.filter(([source]) => source === shown).reduce((sum, [, , count]) => sum + count, 0);
    const line = ([source, target, count]) => {
      const link = stepLoads?.get(`${source}>${target}`);
      const bytes = link?.bytes ? size(link.bytes, plan.size_bytes) : stepLoads ? "idle" : "";
      const shared = link?.paths.length > 1 ? `, ${link.paths.length} transfers: ${pathWords(link.paths)}` : "";
      return h("li", {}, h("span", {}, `${source} → ${target}${count > 1 ? ` ×${count}` : ""}${shared}`), h("span", {}, bytes));
    };
    return [h("li", {}, h("span", {}, `circuits out of ${used} of ${counted(plan.fabric.ports, "port")}`)), own.map(line)];
  }

  function show(seconds) {
    const next = stateAt(plan, starts, seconds);
    const isOther = next.step !== state?.step;
    const isNews = isOther || next.term !== state.term;
    state = next;
    const step = plan.steps[next.step];
    if (isOther) turnTo(step);
    drawing?.phase(next);
    if (next.term === "sending") {
      travelled += FLOW_PER_FRAME;
      drawing?.flow(travelled);
    }
    if (isNews) replace(facts, factsOf(plan, step, next));
    onTime(seconds, next.step);
  }

  function turnTo(step) {
    drawing?.circuits(plan.topologies[step.topology]);
    replace(words, drawing?.words() ?? "");
    stepLoads = null;
    drawing?.loads(null, step);
    replace(ports, portWords());
    if (!isDrawn) return;
    loads.of(step.index).then((found) => {
      if (!found || state.step !== step.index) return;
      stepLoads = found;
      drawing?.loads(found, step);
      replace(ports, portWords());
      loads.ahead(step.index);
    });
  }

  show(0);
  const aside = h(
    "div", { class: "aside" }, facts,
    h("div", {}, h("h3", {}, "Ports"), h("div", { class: "pick" }, h("label", { for: "gpu" }, "GPU"), input), ports),
  );
  const element = cardWith("Circuits", isDrawn ? [circuitLegend()] : [], h("div", { class: "circuits" }, h("div", {}, play.element, group, words), aside));
  return {
    element,
    toTime: (seconds) => play.set(seconds + plan.total_s * 5e-10),
    toStep: (index) => play.set(starts[index] + plan.total_s * 5e-10),
    again: play.again,
    key(event) {
      const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.defaultPrevented;
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!isPlain || (event.key !== " " && !by) || event.target.closest?.(by ? MOVED : PRESSED)) return;
      if (by) play.step(by);
      else play.toggle();
      event.preventDefault();
    },
    leave() {
      play.leave();
      loads.leave();
    },
  };
}

function pathWords(paths) {
  const told = paths.slice(0, MOST_PATHS).map(({ source, destination }) => `${source} to ${destination}`);
  return told.join(", ") + (paths.length > told.length ? " …" : "");
}

const DOING = { reconfiguration: "circuits change", startup: "starting up", sending: "sending" };

const spoken = (plan, { step, term }, seconds) => `${time(seconds)}, step ${step + 1} of ${plan.steps.length}, ${DOING[term]}`;

function factsOf(plan, step, { term }) {
  const line = (name, value) => [h("dt", {}, name), h("dd", {}, value)];
  return [
    h("h3", {}, `Step ${step.index + 1} of ${plan.steps.length}: ${DOING[term]}`),
    h(
      "dl", { class: "facts" },
      h("dt", {}, "Topology"), h("dd", { class: "name" }, nameOf(plan, step)),
      line("Circuits change before it", step.reconfigured ? "yes" : "no"),
      line("Largest transfer", size(step.transfer_bytes, plan.size_bytes)),
      line("Busiest circuit", size(step.transfer_bytes * step.load, plan.size_bytes)),
      line("Its load", times(step.load)),
      line("Longest path", counted(step.hops, "hop")),
      line("Takes", time(totalOf(step))),
    ),
  ];
}
