// The canvases of a timeline: every column of a lane shows the shares of its time by colour, at any zoom.

import { shortTime } from "../quantities.js";
import { linear, ticks } from "../scales.js";

/** @import { Lane } from "./shares.js" */

/**
 * A span of time, seconds.
 *
 * @typedef {{first: number, last: number}} Span
 */

/**
 * Colours: of roles in the order in which they are stacked, and of the page.
 *
 * @typedef {{roles: Map<string, string>, ink: string, quiet: string, line: string, accent: string}} Colours
 */

/**
 * A row's place: its lanes, and where it is, pixels.
 *
 * @typedef {{lanes: Lane[], top: number, height: number}} Track
 */

// Finer columns than these nobody sees.
const MOST_COLUMNS = 2400;
// A share from here on fills its column.
const WHOLE = 0.9999;

/**
 * A canvas' context in the page's pixels, cleared.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {number} height
 */
export function cleared(canvas, width, height) {
  const scale = window.devicePixelRatio || 1;
  const [across, down] = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.width !== across || canvas.height !== down) Object.assign(canvas, { width: across, height: down });
  canvas.style.height = `${height}px`;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

/**
 * Draws lanes one below the other. Each column is stacked from below with the share of its time that a role is seen.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {{track: Track, span: Span, width: number, colours: Map<string, string>}} told
 */
export function drawTrack(context, { track, span, width, colours }) {
  const height = (track.height - 4) / track.lanes.length;
  const columns = Math.min(MOST_COLUMNS, Math.round(width * (window.devicePixelRatio || 1)));
  const stacked = new Float64Array(columns);
  track.lanes.forEach((lane, place) => {
    const bottom = track.top + 2 + (place + 1) * height - (track.lanes.length > 1 ? 1 : 0);
    const room = track.lanes.length > 1 ? height - 1 : height;
    stacked.fill(0);
    for (const [role, colour] of colours) {
      const spans = lane.roles.get(role);
      if (!spans) continue;
      context.fillStyle = colour;
      drawRole(context, { until: (moment) => spans.until(moment), stacked, span, width, bottom, room });
    }
  });
}

/**
 * Draws the shares of one role above those that are stacked already; columns that it fills are drawn as one.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {{
 *   until: (moment: number) => number, stacked: Float64Array, span: Span, width: number, bottom: number, room: number,
 * }} told
 */
function drawRole(context, { until, stacked, span, width, bottom, room }) {
  const columns = stacked.length;
  const [step, wide] = [(span.last - span.first) / columns, width / columns];
  let whole = 0;
  let before = until(span.first);
  for (let column = 0; column <= columns; column += 1) {
    const after = column < columns ? until(span.first + (column + 1) * step) : before;
    const share = (after - before) / step;
    before = after;
    if (share >= WHOLE) {
      whole += 1;
      continue;
    }
    if (whole) context.fillRect((column - whole) * wide, bottom - room, whole * wide, room);
    whole = 0;
    if (share > 0) {
      context.fillRect(column * wide, bottom - room * (stacked[column] + share), wide, room * share);
      stacked[column] += share;
    }
  }
}

/**
 * Draws the edges between tracks.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {{tracks: Track[], width: number, colours: Colours}} told
 */
export function drawEdges(context, { tracks, width, colours }) {
  context.fillStyle = colours.line;
  for (const { top, height } of tracks) context.fillRect(0, top + height - 1, width, 1);
}

/**
 * Draws the lines and labels of the time below the tracks.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {{span: Span, width: number, bottom: number, colours: Colours}} told
 */
export function drawTimes(context, { span, width, bottom, colours }) {
  const { first, last } = span;
  const x = linear(first, last, 0, width);
  context.font = '11.5px system-ui, "Noto Sans", "DejaVu Sans", sans-serif';
  context.textBaseline = "top";
  for (const moment of ticks(first, last, Math.max(2, width / 120))) {
    context.fillStyle = colours.line;
    context.fillRect(Math.round(x(moment)), 0, 1, bottom);
    context.fillStyle = colours.quiet;
    // Far into the iteration, short spans need more digits.
    const words = shortTime(moment, first > last - first ? 8 : 3);
    const half = context.measureText(words).width / 2;
    context.fillText(words, Math.min(width - 2 * half, Math.max(0, x(moment) - half)), bottom + 5);
  }
}

/**
 * Draws what is selected, as a tint between two lines.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {{selected: Span, span: Span, width: number, bottom: number, colours: Colours}} told
 */
export function drawSelection(context, { selected, span, width, bottom, colours }) {
  const x = linear(span.first, span.last, 0, width);
  const [from, to] = [Math.max(-2, x(selected.first)), Math.min(width + 2, x(selected.last))];
  if (to < 0 || from > width) return;
  context.fillStyle = colours.accent;
  context.globalAlpha = 0.14;
  context.fillRect(from, 0, Math.max(1, to - from), bottom);
  context.globalAlpha = 1;
  context.fillRect(from - 1, 0, 1.5, bottom);
  context.fillRect(to - 0.5, 0, 1.5, bottom);
}

/**
 * Draws the whole timeline small, with marks where something was found.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {{tracks: Track[], end: number, found: number[], width: number, height: number, colours: Colours}} told
 */
export function drawWhole(canvas, { tracks, end, found, width, height, colours }) {
  const context = cleared(canvas, width, height);
  const each = height / tracks.length;
  tracks.forEach(({ lanes }, place) => {
    const track = { lanes, top: place * each - 2, height: each + 4 };
    drawTrack(context, { track, span: { first: 0, last: end }, width, colours: colours.roles });
  });
  const x = linear(0, end, 0, width);
  context.fillStyle = colours.ink;
  for (const moment of found) context.fillRect(x(moment), 0, 1, 5);
}
