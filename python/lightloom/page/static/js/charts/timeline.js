// Rows in time at any zoom: what ranks compute, axes and ports carry, when circuits are dark; jobs that wait and run.

import { announce, freshId, h, replace } from "../dom.js";
import { time } from "../quantities.js";
import { table } from "../tables.js";
import { roleLegend, rolesOf, roleWords } from "./roles.js";
import { lanesOf, secondsOf } from "./shares.js";
import { cleared, drawEdges, drawSelection, drawTimes, drawTrack, drawWhole } from "./timeline-canvas.js";
import { connectMinimap, connectTracks, KEYS } from "./timeline-keys.js";
import { timelineSearch } from "./timeline-search.js";
import { Window } from "./timeline-window.js";

/** @import { Box, TimelineRow } from "../types.js" */
/** @import { Colours, Span, Track } from "./timeline-canvas.js" */

const [LANE, LEAST_ROW, TIMES, SMALL] = [9, 22, 22, 30];
// Of what was found, at least this share of the width.
const FOUND_SHARE = 1 / 40;
// Sums are told once the timeline rests.
const REST_MS = 90;

/**
 * A timeline from 0 to `end`, seconds. label: for those who do not see it. describe: words of a box. isFolded: whether
 * the table of sums is folded at first.
 *
 * @typedef {{
 *   rows: TimelineRow[], end: number, label: string, describe: (row: TimelineRow, box: Box) => string,
 *   isFolded?: boolean,
 * }} Told
 */

/** A timeline: `legend` and `element` for a card; `redraw` when its width or the colours have changed. */
export class Timeline {
  /** @type {Span | null} */
  #selected = null;
  /** @type {number[]} */
  #found = [];
  #waits = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #resting;
  #canvas = h("canvas", { "aria-hidden": "true" });
  #small = h("canvas", { "aria-hidden": "true" });
  #frame = h("div", { class: "frame" });
  #readout = h("p", { class: "readout quiet" });
  #sums = h("div", {});
  /** @type {Colours | null} */
  #colours = null;

  /** @param {Told} told */
  constructor(told) {
    this.told = told;
    this.roles = rolesOf(told.rows);
    this.#legend = roleLegend(this.roles);
    let top = 0;
    /** @type {Track[]} */
    this.tracks = told.rows.map((row) => {
      const track = { lanes: lanesOf(row), top, height: Math.max(LEAST_ROW, row.lanes * LANE + 8) };
      top += track.height;
      return track;
    });
    this.height = top;
    this.window = new Window(told.end, () => this.#draw());
    const { search, tracks, element } = this.#layout();
    this.#connect(tracks, search);
    this.element = element;
    this.area = tracks;
  }

  #legend;

  get legend() {
    return this.#legend.element;
  }

  #layout() {
    const { rows, label, describe, isFolded = false } = this.told;
    const hint = freshId("keys");
    const search = timelineSearch({
      rows,
      wordsOf: (row, box) => `${row.name} ${roleWords(box.role)} ${describe(row, box)}`,
      onFound: (moments) => {
        this.#found = moments;
        this.#drawWhole();
      },
      onGo: ({ row, box }) => this.#goTo(row, box),
    });
    /** @type {(words: string, label: string, onclick: () => void) => HTMLElement} */
    const button = (words, label, onclick) =>
      h("button", { type: "button", class: "small", "aria-label": label, onclick }, words);
    const buttons = [
      button("+", "Closer", () => this.window.zoom(0.5)),
      button("−", "Farther", () => this.window.zoom(2)),
      button("All", "The whole time", () => this.window.all()),
    ];
    const names = rows.map((row, place) => {
      const item = h("li", { title: row.name }, h("span", {}, row.name));
      item.style.height = `${this.tracks[place].height}px`;
      return item;
    });
    const attributes = { role: "application", "aria-roledescription": "timeline", "aria-describedby": hint };
    const tracks = h("div", { class: "tracks", tabindex: 0, "aria-label": label, ...attributes }, this.#canvas);
    const small = h("div", { class: "minimap", "aria-hidden": "true" }, this.#small, this.#frame);
    connectMinimap(small, this.window);
    const keys = KEYS.map(([key, does]) => [h("dt", {}, key), h("dd", {}, does)]);
    const help = h(
      "details",
      { class: "behind" },
      h("summary", {}, "Keys and pointer"),
      h(
        "p",
        { class: "quiet", id: hint },
        "Drag to select, Shift and drag to move. The wheel zooms once the timeline " +
          "has the focus, and with Ctrl always; with Shift it moves. Drag in the small picture to choose what is shown.",
      ),
      h("dl", { class: "keys" }, keys),
    );
    const sums = h("details", { class: "behind", open: !isFolded }, h("summary", {}, "Time by colour"), this.#sums);
    const element = h(
      "div",
      { class: "timeline" },
      h("div", { class: "timeline-tools" }, buttons, search.element),
      h("div", { class: "timeline-body" }, h("ul", { class: "row-names" }, names), tracks, small),
      this.#readout,
      sums,
      help,
    );
    return { search, tracks, element };
  }

  /**
   * @param {HTMLElement} tracks
   * @param {ReturnType<typeof timelineSearch>} search
   */
  #connect(tracks, search) {
    connectTracks(tracks, {
      window: this.window,
      width: () => this.width,
      selected: () => this.#selected,
      select: (span) => this.select(span),
      click: (x, y) => {
        const { box } = this.#at(x, y);
        this.select(box ? { first: box.first_s, last: box.last_s } : null);
      },
      point: (x, y) => replace(this.#readout, x === null ? this.#words() : this.#pointed(x, y)),
      search: () => search.field.focus(),
      next: (by) => search.go(by),
    });
  }

  get width() {
    return Math.max(120, this.area.clientWidth);
  }

  /** Draws all of it, with the colours of now. */
  redraw() {
    const style = getComputedStyle(this.area);
    /** @param {string} name */
    const colour = (name) => {
      this.area.style.outlineColor = `var(${name})`;
      const found = style.outlineColor;
      this.area.style.outlineColor = "";
      return found;
    };
    const [quiet, line, accent] = ["--ink-2", "--line", "--accent"].map(colour);
    this.#colours = { roles: this.#legend.colours(), ink: style.color, quiet, line, accent };
    this.#drawWhole();
    this.#drawNow();
  }

  /**
   * Selects a span, whose sums are shown; null selects nothing.
   *
   * @param {Span | null} span
   */
  select(span) {
    this.#selected = span;
    this.#draw();
  }

  /**
   * @param {TimelineRow} row
   * @param {Box} box
   */
  #goTo(row, box) {
    const length = box.last_s - box.first_s;
    const shown = Math.min(this.window.length, Math.max(length / FOUND_SHARE, 0));
    const middle = (box.first_s + box.last_s) / 2;
    this.#selected = { first: box.first_s, last: box.last_s };
    const half = Math.max(shown, length * 1.2) / 2;
    this.window.show(middle - half, middle + half);
    const words = this.told.describe(row, box);
    replace(this.#readout, words);
    announce(words);
  }

  #drawWhole() {
    const [width, height, colours] = [this.width, SMALL, this.#colours];
    if (colours)
      drawWhole(this.#small, { tracks: this.tracks, end: this.told.end, found: this.#found, width, height, colours });
  }

  /** Draws once before the next frame, however often it is called. */
  #draw() {
    if (this.#waits || !this.#colours) return;
    this.#waits = true;
    requestAnimationFrame(() => {
      this.#waits = false;
      this.#drawNow();
    });
  }

  #drawNow() {
    const [width, colours, span] = [this.width, this.#colours, this.window.span];
    if (!colours) return;
    const context = cleared(this.#canvas, width, this.height + TIMES);
    drawTimes(context, { span, width, bottom: this.height, colours });
    drawEdges(context, { tracks: this.tracks, width, colours });
    for (const track of this.tracks) drawTrack(context, { track, span, width, colours: colours.roles });
    const selected = this.#selected;
    if (selected) drawSelection(context, { selected, span, width, bottom: this.height, colours });
    const { end } = this.told;
    this.#frame.style.left = `${(100 * span.first) / end}%`;
    this.#frame.style.width = `${(100 * (span.last - span.first)) / end}%`;
    replace(this.#readout, this.#words());
    clearTimeout(this.#resting);
    this.#resting = setTimeout(() => this.#showSums(), REST_MS);
    Object.assign(this.area.dataset, { first: span.first, last: span.last });
  }

  /** What is shown and what is selected, in words. */
  #words() {
    const { first, last } = this.window.span;
    const selected = this.#selected;
    const words = `Shown: ${time(first)} to ${time(last)}.`;
    if (!selected) return `${words} Point at a box to see what it is, drag to select.`;
    const { first: from, last: to } = selected;
    return `${words} Selected: ${time(from)} to ${time(to)}, ${time(to - from)}.`;
  }

  #showSums() {
    const { first, last } = this.#selected ?? this.window.span;
    const sums = this.tracks.map(({ lanes }) => secondsOf(lanes, first, last));
    const roles = this.roles.filter((role) => sums.some((each) => (each.get(role) ?? 0) > 0));
    /** @param {number} seconds @param {number} of */
    const cell = (seconds, of) => (seconds > 1e-9 * of ? parts([time(seconds), `(${percent(seconds / of)})`]) : "–");
    const rows = this.told.rows.map((row, place) => {
      const all = this.tracks[place].lanes.length * (last - first);
      const free = [...sums[place].values()].reduce((left, seconds) => left - seconds, all);
      return { cells: [row.name, ...roles.map((role) => cell(sums[place].get(role) ?? 0, all)), cell(free, all)] };
    });
    const heads = [...roles.map(roleWords), "nothing"].map((head) => ({ head, right: true }));
    const which = this.#selected ? "selected" : "shown";
    const caption = `Time by row and colour, of what is ${which}`;
    const note = `Of the ${time(last - first)} that are ${which}:`;
    const told = table({ caption, rows, columns: [{ head: "Row" }, ...heads] });
    replace(this.#sums, h("p", { class: "quiet" }, note), told);
  }

  /**
   * The row, the lane and the box at a place; a box only where it is wider than the column.
   *
   * @param {number} x
   * @param {number} y
   */
  #at(x, y) {
    const place = this.tracks.findIndex(({ top, height }) => y >= top && y < top + height);
    const track = this.tracks[place];
    const step = this.window.length / this.width;
    const from = this.window.span.first + Math.floor(x) * step;
    if (!track) return { place, from, step, lane: null, box: null };
    const at = Math.floor(((y - track.top - 2) / (track.height - 4)) * track.lanes.length);
    const lane = track.lanes[Math.min(track.lanes.length - 1, Math.max(0, at))];
    const box = lane.at(from + step / 2);
    return { place, from, step, lane, box: box && box.last_s - box.first_s >= step ? box : null };
  }

  /**
   * What a place of the tracks shows, in words.
   *
   * @param {number} x
   * @param {number} y
   */
  #pointed(x, y) {
    const { place, from, step, lane, box } = this.#at(x, y);
    if (!lane) return this.#words();
    const row = this.told.rows[place];
    if (box) return `${this.told.describe(row, box)}, ${time(box.first_s)} to ${time(box.last_s)}`;
    const shares = [...lane.seconds(from, from + step)].filter(([, seconds]) => seconds > 0);
    const words = shares.map(([role, seconds]) => `${roleWords(role)} ${percent(seconds / step)}`);
    return `${row.name}, ${time(from)} to ${time(from + step)}: ${words.length ? words.join(", ") : "nothing"}`;
  }
}

/**
 * Words of a cell that breaks only between them.
 *
 * @param {string[]} words
 */
const parts = (words) => words.map((word, place) => [place ? " " : "", h("span", { class: "whole" }, word)]);

/**
 * `0.41 %`, `67 %`.
 *
 * @param {number} share
 */
const percent = (share) => `${Number((100 * share).toPrecision(share < 0.1 ? 2 : 3))} %`;
