// Requests to the server: JSON, streams of server-sent events, and what can go wrong with them.

import { preparedAnswer } from "./prepared.js";
import { isDemo } from "./site.js";

/** @import { Answers, Body, Progress, Rows, ServerError } from "./types.js" */

/**
 * What is done with the events of a stream.
 *
 * @template {keyof Rows} Path
 * @typedef {{row?: (row: Rows[Path]) => void, progress?: (said: Progress) => void}} Listeners
 */

/** A request that was not served. */
export class Refusal extends Error {
  /**
   * @param {string} words
   * @param {{field?: string | null, status?: number, retryAfter?: number | null}} [how] field: the option that is
   *   wrong; retryAfter: seconds, where the server is busy
   */
  constructor(words, { field = null, status = 0, retryAfter = null } = {}) {
    super(words);
    this.field = field?.replaceAll("_", "-") ?? null;
    this.status = status;
    this.retryAfter = retryAfter;
  }

  get isOffline() {
    return this.status === 0;
  }

  get isOverTime() {
    return this.status === 504;
  }

  get isBusy() {
    return this.status === 429 || this.status === 503;
  }
}

const ANY_JSON = "application/json";
const EVENTS = "text/event-stream";
const NOT_FOUND = 404;
// The status of an error in a stream, which does not say its own.
const REFUSED = 422;
const NOT_PREPARED =
  "This demo has no server: only what its examples under “Start from” show is prepared. `lightloom serve` computes all.";
const BROKEN = "The server's answer broke off.";

/**
 * Words of whatever was thrown.
 *
 * @param {unknown} error
 */
export const wordsOf = (error) => (error instanceof Error ? error.message : String(error));

/**
 * Whether an exception says that nobody waits for the answer any more.
 *
 * @param {unknown} error
 */
export const isAborted = (error) => error instanceof Error && error.name === "AbortError";

/**
 * @param {string} path
 * @param {Body | undefined} body
 * @param {string} accept
 * @param {AbortSignal} [signal]
 */
async function send(path, body, accept, signal) {
  const headers = { Accept: accept, ...(body === undefined ? {} : { "Content-Type": ANY_JSON }) };
  /** @type {RequestInit} */
  const options = { headers, signal, cache: "no-store" };
  if (body !== undefined) Object.assign(options, { method: "POST", body: JSON.stringify(body) });
  let answer;
  try {
    answer = isDemo ? await preparedAnswer(path, body, signal) : await fetch(path, options);
  } catch (error) {
    if (isAborted(error)) throw error;
    throw new Refusal("The server does not answer.");
  }
  if (!answer) throw new Refusal(NOT_PREPARED, { status: NOT_FOUND });
  if (!answer.ok) throw await refusalOf(answer);
  return answer;
}

/** @param {Response} answer */
async function refusalOf(answer) {
  /** @type {Partial<ServerError>} */
  let said = {};
  try {
    said = await answer.json();
  } catch {
    // What is not JSON comes from something between the page and its server.
  }
  const words = typeof said.error === "string" ? said.error : `The server answered ${answer.status}.`;
  const retryAfter = said.retry_after_s ?? (Number(answer.headers.get("Retry-After")) || null);
  return new Refusal(words, { field: said.field ?? null, status: answer.status, retryAfter });
}

/**
 * JSON of a path; a POST where there is a body. An answer that only one view reads has its type there.
 *
 * @template {string} Path
 * @param {Path} path
 * @param {Body} [body]
 * @param {{signal?: AbortSignal}} [how]
 * @returns {Promise<Path extends keyof Answers ? Answers[Path] : unknown>}
 */
export async function ask(path, body, { signal } = {}) {
  const answer = await send(path, body, ANY_JSON, signal);
  try {
    return await answer.json();
  } catch (error) {
    if (isAborted(error)) throw error;
    throw new Refusal(BROKEN);
  }
}

/**
 * A file of a path: a Blob.
 *
 * @param {string} path
 * @param {Body} [body]
 * @param {{signal?: AbortSignal}} [how]
 */
export async function askFile(path, body, { signal } = {}) {
  return (await send(path, body, "*/*", signal)).blob();
}

/**
 * Follows a stream; returns the data of its `end`.
 *
 * @template {keyof Rows} Path
 * @param {Path} path
 * @param {Body} body
 * @param {Listeners<Path>} on by the name of an event
 * @param {{signal?: AbortSignal}} [how]
 * @returns {Promise<Answers[Path]>}
 */
export async function follow(path, body, on, { signal } = {}) {
  const answer = await send(path, body, EVENTS, signal);
  if (!(answer.headers.get("Content-Type") ?? "").startsWith(EVENTS)) return answer.json();
  if (!answer.body) throw new Refusal(BROKEN);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  for (;;) {
    const { value, done } = await readOn(reader);
    if (done) throw new Refusal(BROKEN);
    const parts = (waiting + value).split(/\r?\n\r?\n/);
    waiting = parts.pop() ?? "";
    for (const part of parts) {
      const event = eventOf(part);
      if (event.name === "end") return /** @type {Answers[Path]} */ (event.data);
      if (event.name === "error") throw refusalInStream(/** @type {ServerError} */ (event.data));
      /** @type {Record<string, ((data: unknown) => void) | undefined>} */ (on)[event.name]?.(event.data);
    }
  }
}

/** @param {ServerError} told */
function refusalInStream({ error, field, status = REFUSED, retry_after_s: retryAfter }) {
  return new Refusal(error, { field, status, retryAfter });
}

/**
 * Follows a stream as `follow` does; where the server's time for it is over, the refusal in place of the answer, if
 * there are rows to be shown.
 *
 * @template {keyof Rows} Path
 * @param {Path} path
 * @param {Body} body
 * @param {Listeners<Path>} on
 * @param {{signal?: AbortSignal}} [how]
 * @returns {Promise<Answers[Path] | Refusal>}
 */
export async function followOn(path, body, on, how) {
  let rows = 0;
  /** @type {Listeners<Path>} */
  const counting = {
    ...on,
    row(row) {
      rows += 1;
      on.row?.(row);
    },
  };
  try {
    return await follow(path, body, counting, how);
  } catch (error) {
    // After rows, an error of no field is not of what was asked for: the server has ended the work.
    const hasEnded = error instanceof Refusal && (error.isOverTime || (error.status === REFUSED && !error.field));
    if (hasEnded && rows) return error;
    throw error;
  }
}

/** @param {ReadableStreamDefaultReader<string>} reader */
async function readOn(reader) {
  try {
    return await reader.read();
  } catch (error) {
    if (isAborted(error)) throw error;
    throw new Refusal(BROKEN);
  }
}

/**
 * @param {string} part
 * @returns {{name: string, data: unknown}}
 */
function eventOf(part) {
  let name = "message";
  const data = [];
  for (const line of part.split(/\r?\n/)) {
    if (line.startsWith("event:")) name = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5));
  }
  return { name, data: data.length ? JSON.parse(data.join("\n")) : null };
}
