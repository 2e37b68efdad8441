// Long values of an address, such as a workload: compressed into its fragment, which browsers send to no server.

/** Characters that an address may spend on them: as many as browsers, mail and chats pass on whole. */
export const MOST_PACKED = 32_000;
/** A value that is longer than this is packed. */
const LONG = 120;
const METHOD = "deflate-raw";

/** @import { Query } from "./address.js" */

/**
 * `[short, long]` values of a query.
 *
 * @param {Query} query
 */
export function split(query) {
  /** @param {[name: string, value: string]} entry */
  const isLong = ([, value]) => value.length > LONG;
  return [new Map([...query].filter((entry) => !isLong(entry))), new Map([...query].filter(isLong))];
}

/**
 * Values by name as characters that an address may have.
 *
 * @param {Query} values
 */
export async function pack(values) {
  const text = JSON.stringify(Object.fromEntries(values));
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream(METHOD));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let letters = "";
  for (let at = 0; at < bytes.length; at += 4096) letters += String.fromCharCode(...bytes.subarray(at, at + 4096));
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/**
 * The values that were packed, of at most so many bytes. Throws where they are damaged or more.
 *
 * @param {string} packed
 * @param {number} most
 * @returns {Promise<Query>}
 */
export async function unpack(packed, most) {
  const letters = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream(METHOD)).getReader();
  const parts = [];
  let held = 0;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    held += value.length;
    if (held > most) {
      await reader.cancel();
      throw new RangeError("too long");
    }
    parts.push(value);
  }
  /** @type {unknown} */
  const told = JSON.parse(await new Blob(parts).text());
  if (told === null || typeof told !== "object" || Array.isArray(told)) throw new TypeError("not values by name");
  return new Map(Object.entries(told).map(([name, value]) => [name, String(value)]));
}
