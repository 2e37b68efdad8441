// What is broken of a fabric, as its plan says it: `gpu:3`, `port:5.1`, `receiver:5.1`, `link:2-4`, `link:2>4`, `switch:1`.

/** @import { Plan } from "./types.js" */

/**
 * Broken parts, of ranks: the GPUs that work, in their order. absent: GPUs that do not. ranks: by rank what of its GPU is
 * broken, in words. pairs: of ranks between which no circuit can be, source first.
 *
 * @typedef {{absent: number[], ranks: Map<number, string[]>, pairs: [source: number, target: number][]}} Broken
 */

/**
 * The broken parts of a plan's fabric.
 *
 * @param {Plan} plan
 * @returns {Broken}
 */
export function brokenOf({ gpus: count, fabric }) {
  const faults = (fabric.failed ?? []).map((fault) => {
    const [kind, rest] = fault.split(":");
    return { kind, rest, numbers: rest.split(/[.>-]/).map(Number) };
  });
  const absent = faults.flatMap(({ kind, numbers }) => (kind === "gpu" ? numbers : []));
  /** @param {number} gpu */
  const rankOf = (gpu) => gpu - absent.filter((other) => other < gpu).length;
  /** @type {Map<number, string[]>} */
  const ranks = new Map();
  /** @type {[number, number][]} */
  const pairs = [];
  /** @type {(rank: number, words: string) => void} */
  const add = (rank, words) => void ranks.set(rank, [...(ranks.get(rank) ?? []), words]);
  for (const { kind, rest, numbers } of faults) {
    const [one, other] = numbers;
    if (kind === "switch") for (let rank = 0; rank < count; rank += 1) add(rank, `port ${one}`);
    else if (absent.includes(one)) continue;
    else if (kind === "port") add(rankOf(one), `transmitter ${other}`);
    else if (kind === "receiver") add(rankOf(one), `receiver ${other}`);
    else if (kind === "link" && !absent.includes(other)) {
      pairs.push([rankOf(one), rankOf(other)]);
      if (rest.includes("-")) pairs.push([rankOf(other), rankOf(one)]);
    }
  }
  return { absent, ranks, pairs };
}
