// Which ports of which switch have the circuits of a step.

/** @import { Ports } from "../types.js" */

/**
 * Words on the ports of each circuit of a step, by its ends, `source>target`; none of circuits that no switch joins.
 *
 * @param {Ports} ports
 * @param {number} step
 */
export function portsByLink({ switches, configurations }, step) {
  /** @type {Map<string, string[]>} */
  const found = new Map();
  const settings = configurations.find(({ steps }) => steps.includes(step))?.switches ?? [];
  for (const [place, { connections }] of settings.entries()) {
    const { name, ranks } = switches[place];
    for (const [ingress, egress] of connections) {
      const [source, target] = [ranks[ingress - 1], ranks[egress - 1]];
      if (source === null || target === null) continue;
      const link = `${source}>${target}`;
      found.set(link, [...(found.get(link) ?? []), `${name} ${ingress} → ${egress}`]);
    }
  }
  return found;
}

/**
 * Which port of a GPU is which port of a switch.
 *
 * @param {Ports} ports
 */
export const numberingWords = ({ numbering }) => (numbering ? `Numbers of ports in it: ${numbering}.` : "");
