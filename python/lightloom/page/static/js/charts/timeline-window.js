// The span of a timeline that is shown: zoomed about a moment, moved, and kept within the whole.

/** @import { Span } from "./timeline-canvas.js" */

// The shortest span, as a share of the whole: shorter ones have too few digits.
const LEAST_SHARE = 1e-8;

/** The window of a timeline from 0 to `end`, seconds. */
export class Window {
  /**
   * @param {number} end
   * @param {() => void} onChange
   */
  constructor(end, onChange) {
    this.end = end;
    this.onChange = onChange;
    /** @type {Span} */
    this.span = { first: 0, last: end };
  }

  get length() {
    return this.span.last - this.span.first;
  }

  /**
   * Shows a span, moved and cut so that it lies within the whole.
   *
   * @param {number} first
   * @param {number} last
   */
  show(first, last) {
    const length = Math.min(this.end, Math.max(last - first, this.end * LEAST_SHARE));
    const from = Math.min(this.end - length, Math.max(0, first + (last - first - length) / 2));
    this.span = { first: from, last: from + length };
    this.onChange();
  }

  all() {
    this.show(0, this.end);
  }

  /**
   * Makes the span `factor` times as long; the moment stays where it is.
   *
   * @param {number} factor
   * @param {number} [about]
   */
  zoom(factor, about = (this.span.first + this.span.last) / 2) {
    // What is as long as the shortest span already is not moved.
    if (factor < 1 && this.length <= this.end * LEAST_SHARE * 1.001) return;
    this.show(about - (about - this.span.first) * factor, about + (this.span.last - about) * factor);
  }

  /**
   * Moves by a share of the span.
   *
   * @param {number} share
   */
  move(share) {
    const { first, last } = this.span;
    const by = Math.min(this.end - last, Math.max(-first, share * this.length));
    this.show(first + by, last + by);
  }

  /**
   * Shows a span in the middle, with a margin at both sides.
   *
   * @param {Span} wanted
   * @param {number} [margin] as a share of the span
   */
  fit({ first, last }, margin = 0.1) {
    this.show(first - margin * (last - first), last + margin * (last - first));
  }
}
