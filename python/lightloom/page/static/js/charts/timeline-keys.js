// How a timeline is moved by keys, the wheel and the pointer: the keys are those of Perfetto.

/** @import { Span } from "./timeline-canvas.js" */
/** @import { Window } from "./timeline-window.js" */

const [CLOSER, FARTHER, PART] = [1 / 1.3, 1.3, 0.12];
// Pixels that a pointer moves before it selects.
const LEAST_DRAG = 4;
const WHEEL = 0.0022;

export const KEYS = [
  ["w, s", "closer, farther (at the pointer; in the middle without one)"],
  ["a, d", "earlier, later; arrows do the same"],
  ["f", "show what is selected, or everything"],
  ["m", "select what is shown"],
  ["/", "search; n, Shift n: next, previous"],
  ["Escape", "nothing is selected"],
];

/**
 * What the pointer and keys do.
 *
 * @typedef {{
 *   window: Window, width: () => number, select: (span: Span | null) => void, selected: () => Span | null,
 *   click: (x: number, y: number) => void, point: (x: number | null, y: number) => void, search: () => void,
 *   next: (by: number) => void,
 * }} Handled
 */

/**
 * Connects the tracks of a timeline.
 *
 * @param {HTMLElement} tracks
 * @param {Handled} handled
 */
export function connectTracks(tracks, handled) {
  const { window: shown } = handled;
  /** @type {number | null} */
  let pointer = null;
  /** @param {number} x */
  const momentAt = (x) => shown.span.first + (x / handled.width()) * shown.length;
  /** @param {MouseEvent} event */
  const placeOf = (event) => {
    const box = tracks.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const about = () => (pointer === null ? undefined : momentAt(pointer));
  tracks.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (press(event.key, handled, about())) event.preventDefault();
  });
  tracks.addEventListener(
    "wheel",
    (event) => {
      // The wheel scrolls the page until the timeline has the focus.
      if (!(event.ctrlKey || event.metaKey || tracks.matches(":focus"))) return;
      event.preventDefault();
      const [x] = placeOf(event);
      const isAcross = Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (isAcross) shown.move(event.deltaX / handled.width());
      else if (event.shiftKey) shown.move(event.deltaY / handled.width());
      else shown.zoom(Math.exp(WHEEL * event.deltaY * (event.deltaMode ? 16 : 1)), momentAt(x));
    },
    { passive: false },
  );
  tracks.addEventListener("pointermove", (event) => {
    const [x, y] = placeOf(event);
    pointer = x;
    handled.point(x, y);
  });
  tracks.addEventListener("pointerleave", () => {
    pointer = null;
    handled.point(null, 0);
  });
  connectDrags(tracks, handled, placeOf, momentAt);
}

/**
 * Drags select, with Shift they move; a press without a drag is a click.
 *
 * @param {HTMLElement} tracks
 * @param {Handled} handled
 * @param {(event: MouseEvent) => number[]} placeOf
 * @param {(x: number) => number} momentAt
 */
function connectDrags(tracks, handled, placeOf, momentAt) {
  /** @type {{x: number, moment: number, hasMoved: boolean} | null} */
  let drag = null;
  tracks.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    tracks.focus({ preventScroll: true });
    tracks.setPointerCapture(event.pointerId);
    const [x] = placeOf(event);
    drag = { x, moment: momentAt(x), hasMoved: false };
  });
  tracks.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const [x] = placeOf(event);
    if (!drag.hasMoved && Math.abs(x - drag.x) < LEAST_DRAG) return;
    drag.hasMoved = true;
    if (event.shiftKey) handled.window.move((drag.moment - momentAt(x)) / handled.window.length);
    else {
      const ends = [drag.moment, momentAt(x)].map((end) => Math.min(handled.window.end, Math.max(0, end)));
      handled.select({ first: Math.min(...ends), last: Math.max(...ends) });
    }
  });
  tracks.addEventListener("pointerup", (event) => {
    const [x, y] = placeOf(event);
    if (drag && !drag.hasMoved) handled.click(x, y);
    drag = null;
  });
  tracks.addEventListener("pointercancel", () => {
    drag = null;
  });
}

/**
 * What a key does; returns whether it does anything.
 *
 * @param {string} key
 * @param {Handled} handled
 * @param {number} [about] the moment that is pointed at
 */
function press(key, handled, about) {
  const { window: shown, select, selected, search, next } = handled;
  /** @type {Record<string, () => void>} */
  const actions = {
    w: () => shown.zoom(CLOSER, about),
    s: () => shown.zoom(FARTHER, about),
    a: () => shown.move(-PART),
    d: () => shown.move(PART),
    arrowleft: () => shown.move(-PART),
    arrowright: () => shown.move(PART),
    arrowup: () => shown.zoom(CLOSER, about),
    arrowdown: () => shown.zoom(FARTHER, about),
    f: () => {
      const span = selected();
      if (span) shown.fit(span);
      else shown.all();
    },
    m: () => select({ ...shown.span }),
    escape: () => select(null),
    "/": search,
    n: () => next(key === "N" ? -1 : 1),
  };
  const action = actions[key.toLowerCase()];
  action?.();
  return action !== undefined;
}

/**
 * Connects the small picture of the whole: a drag of the frame moves it, a drag elsewhere makes a new one.
 *
 * @param {HTMLElement} minimap
 * @param {Window} shown
 */
export function connectMinimap(minimap, shown) {
  /** @type {{moment: number, moves: boolean} | null} */
  let drag = null;
  /** @param {MouseEvent} event */
  const momentOf = (event) => {
    const box = minimap.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)) * shown.end;
  };
  minimap.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    minimap.setPointerCapture(event.pointerId);
    const moment = momentOf(event);
    const { first, last } = shown.span;
    drag = { moment, moves: shown.length < shown.end && moment >= first && moment <= last };
  });
  minimap.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const moment = momentOf(event);
    if (drag.moves) {
      shown.move((moment - drag.moment) / shown.length);
      drag.moment = moment;
    } else if (moment !== drag.moment) shown.show(Math.min(moment, drag.moment), Math.max(moment, drag.moment));
  });
  for (const name of ["pointerup", "pointercancel"])
    minimap.addEventListener(name, () => {
      drag = null;
    });
}
