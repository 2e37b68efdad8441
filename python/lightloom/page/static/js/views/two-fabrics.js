// Two fabrics: one problem on both, or under two settings of any options, next to each other.

import { addressOf } from "../address.js";
import { ask, Refusal } from "../api.js";
import { onResize, widthOf } from "../charts/axes.js";
import { Player } from "../charts/player.js";
import { legend, shownTerms, timeStrip } from "../charts/terms.js";
import { announce, h, replace } from "../dom.js";
import { csv, downloads, json } from "../downloads.js";
import { bodyOf, kept, startOf } from "../options.js";
import { serverAnswers } from "../plan-answers.js";
import { counted, shortTime, time } from "../quantities.js";
import { spansOf, startsOf } from "../steps.js";
import { card, cardWith, table } from "../tables.js";
import { headline } from "./plan-headline.js";
import { Scaffold } from "./scaffold.js";
import { StepScene } from "./step-scene.js";
import { OTHER, otherFields, othersOf } from "./two-fabrics-fields.js";
import { differencesOf, sentenceOf, settingWords } from "./two-fabrics-words.js";

/** @import { Query } from "../address.js" */
/** @import { Difference } from "./two-fabrics-words.js" */
/** @import { Body, Plan } from "../types.js" */

/**
 * One of the two. name: what it has of the options that differ.
 *
 * @typedef {{query: Query, body: Body, plan: Plan, name: string, title: string}} Side
 */

const FIRST = ["collective", "size", "gpus", "reconfiguration-delay", "ports", "bandwidth"];
const TITLES = ["First", "Second"];

/**
 * Makes the view.
 *
 * @param {HTMLElement} root
 */
export function mount(root) {
  /** @type {BothInTime | null} */
  let shown = null;
  const frame = new Scaffold({
    root,
    view: "two-fabrics",
    verb: "plan",
    title: "Two fabrics",
    first: FIRST,
    presets: ["two-fabrics"],
    extras: otherFields((change) => frame.changed(change)),
    start: startFor,
    lead: "The same problem on two fabrics, or under two settings of any option: what differs, and by how much.",
    code: (query) => queriesOf(query).map((each) => ["plan", bodyOf("plan", each)]),
    async compute(query, signal) {
      const sides = await sidesOf(query, signal);
      shown?.leave();
      shown = new BothInTime(frame.result, sides);
      announce(sentenceOf(plansOf(sides), namesOf(sides)));
    },
  });
  /** @param {KeyboardEvent} event */
  const keys = (event) => shown?.play.key(event);
  document.addEventListener("keydown", keys);
  return {
    /** @type {typeof frame.show} */
    show: (query, lost) => frame.show(query, lost),
    leave() {
      document.removeEventListener("keydown", keys);
      shown?.leave();
      frame.leave();
    },
  };
}

/**
 * The problem that the view begins with; where an address says what differs, nothing else does.
 *
 * @param {Query} given
 * @returns {Query}
 */
const startFor = (given) =>
  new Map([...startOf("two-fabrics")].filter(([name]) => !othersOf(given).size || !name.startsWith(OTHER)));

/**
 * The options of both. A grid says how many GPUs there are, and the other way round.
 *
 * @param {Query} query
 * @returns {[Query, Query]}
 */
function queriesOf(query) {
  const own = new Map([...query].filter(([name]) => !name.startsWith(OTHER)));
  const others = othersOf(query);
  const base = new Map(own);
  if (others.get("gpus")) base.delete("dims");
  if (others.get("dims")) base.delete("gpus");
  const second = new Map([...base, ...others].filter(([, value]) => value !== ""));
  return [own, kept("plan", second)];
}

/**
 * Both plans. An error of the second is one of the row that differs.
 *
 * @param {Query} query
 * @param {AbortSignal} signal
 * @returns {Promise<[Side, Side]>}
 */
async function sidesOf(query, signal) {
  const others = othersOf(query);
  /** @type {(each: Query, place: number) => Promise<Side>} */
  const sideOf = async (each, place) => {
    const body = bodyOf("plan", each);
    const name = settingWords(each, others) || "the same options";
    return { query: each, body, name, title: TITLES[place], plan: await ask("/api/plan", body, { signal }) };
  };
  const [first, second] = queriesOf(query);
  const one = sideOf(first, 0);
  const other = sideOf(second, 1).catch((error) => {
    if (error instanceof Refusal && error.field && others.has(error.field)) error.field = OTHER + error.field;
    throw error;
  });
  // Whichever is refused first, the first's error is the one that is said.
  const [, made] = await Promise.allSettled([one, other]);
  const mine = await one;
  if (made.status === "rejected") throw made.reason;
  return [mine, made.value];
}

/**
 * @param {[Side, Side]} sides
 * @returns {[Plan, Plan]}
 */
const plansOf = ([one, other]) => [one.plan, other.plan];

/**
 * @param {[Side, Side]} sides
 * @returns {[string, string]}
 */
const namesOf = ([one, other]) => [one.name, other.name];

/** Both plans on the page, with one player for both. */
class BothInTime {
  /**
   * @param {HTMLElement} result
   * @param {[Side, Side]} sides
   */
  constructor(result, sides) {
    const plans = plansOf(sides);
    this.sides = sides;
    this.most = Math.max(...plans.map(({ total_s: total }) => total));
    this.scenes = sides.map(({ plan, body }) => new StepScene({ plan, answers: serverAnswers(plan, body) }));
    this.strips = sides.map(() => h("div", {}));
    this.states = sides.map(() => h("p", { class: "quiet" }));
    /** @type {((seconds: number) => void)[]} */
    this.marks = [];
    this.play = new Player({
      total: this.most,
      starts: [...new Set(plans.flatMap((plan) => startsOf(plan)))].sort((a, b) => a - b),
      onTime: (seconds) => this.#show(seconds),
      say: (seconds) => `${time(seconds)}: ${this.scenes.map((_, place) => this.#doing(place, seconds)).join("; ")}`,
    });
    replace(result, this.#parts());
    this.#draw();
    this.still = onResize(this.strips[0], () => this.#draw());
  }

  #parts() {
    const { sides } = this;
    const differences = differencesOf(plansOf(sides));
    const terms = shownTerms(sides.flatMap(({ plan }) => plan.steps));
    const legends = [legend(terms), ...this.scenes.slice(0, 1).flatMap((scene) => scene.legend ?? [])];
    const heads = sides.map(({ query, name, plan, title }) =>
      card(`${title}: ${name}`, headline(plan), h("p", { class: "quiet" }, planLink(query))),
    );
    const pictures = sides.map(({ title, name }, place) =>
      h(
        "div",
        { class: "side" },
        h("h3", {}, `${title}: ${name}`),
        this.states[place],
        this.strips[place],
        this.scenes[place].element,
      ),
    );
    return [
      h("p", { class: "sentence" }, sentenceOf(plansOf(sides), namesOf(sides))),
      h("div", { class: "sides" }, heads),
      cardWith("Both in time", legends, this.play.element, h("div", { class: "sides" }, pictures)),
      differenceCard(differences, sides),
    ];
  }

  #draw() {
    const strips = this.sides.map(({ plan, title }, place) =>
      timeStrip({
        spans: spansOf(plan),
        total: this.most,
        bound: plan.lower_bound_s,
        width: widthOf(this.strips[place]),
        onChoice: (seconds) => this.play.set(seconds + this.most * 5e-10),
        label: `${title}: ${counted(plan.steps.length, "step")} in time, ${shortTime(plan.total_s)} in all.`,
      }),
    );
    for (const [place, strip] of strips.entries()) replace(this.strips[place], strip.element);
    this.marks = strips.map((strip) => strip.mark);
    this.play.again();
  }

  /** @param {number} seconds */
  #show(seconds) {
    this.scenes.forEach((scene, place) => {
      scene.show(seconds);
      this.marks[place]?.(seconds);
      replace(this.states[place], this.#doing(place, seconds));
    });
  }

  /**
   * @param {number} place
   * @param {number} seconds
   */
  #doing(place, seconds) {
    const { plan } = this.sides[place];
    if (seconds >= plan.total_s * (1 - 1e-9)) return `done after ${time(plan.total_s)}`;
    const at = this.scenes[place].starts.findLastIndex((start) => start <= seconds);
    return `step ${Math.max(0, at) + 1} of ${plan.steps.length}`;
  }

  /** Stops the player and cancels requests. */
  leave() {
    this.still();
    this.play.leave();
    for (const scene of this.scenes) scene.leave();
  }
}

/** @param {Query} query */
const planLink = (query) =>
  h("a", { href: addressOf("plan", kept("plan", query)) }, "Open this plan, with its switch and files");

/**
 * @param {Difference[]} differences
 * @param {[Side, Side]} sides
 */
function differenceCard(differences, sides) {
  const heads = sides.map(({ title, name }) => `${title}: ${name}`);
  return card(
    "What differs",
    table({
      caption: "Both plans, and the second compared with the first",
      columns: [
        { head: "Quantity" },
        ...TITLES.map((head) => ({ head, right: true })),
        { head: "Over first", right: true },
      ],
      rows: differences.map(({ name, values, words, verdict }) => ({
        cells: [name, ...values, words],
        attributes: { class: `difference ${verdict}` },
      })),
    }),
    downloads([
      json("lightloom-two-fabrics.json", () => plansOf(sides)),
      csv("lightloom-two-fabrics.csv", () => [
        ["quantity", ...heads, "second over first"],
        ...differences.map(({ name, values, words }) => [name, ...values, words]),
      ]),
    ]),
  );
}
