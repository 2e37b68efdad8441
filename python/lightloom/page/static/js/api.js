// Requests to the server: JSON, streams of server-sent events, and what can go wrong with them.

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

  get isBusy() {
    return this.status === 429 || this.status === 503;
  }
}

const ANY_JSON = "application/json";
const EVENTS = "text/event-stream";

/** Words of whatever was thrown. */
export const wordsOf = (error) => (error instanceof Error ? error.message : String(error));

/** Whether an exception says that nobody waits for the answer any more. */
export const isAborted = (error) => error?.name === "AbortError";

async function send(path, body, accept, signal) {
  const headers = { Accept: accept, ...(body === undefined ? {} : { "Content-Type": ANY_JSON }) };
  /** @type {RequestInit} */
  const options = { headers, signal, cache: "no-store" };
  if (body !== undefined) Object.assign(options, { method: "POST", body: JSON.stringify(body) });
  let answer;
  try {
    answer = await fetch(path, options);
  } catch (error) {
    if (isAborted(error)) throw error;
    throw new Refusal("The server does not answer.");
  }
  if (!answer.ok) throw await refusalOf(answer);
  return answer;
}

async function refusalOf(answer) {
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
 * JSON of a path; a POST where there is a body.
 *
 * @param {string} path
 * @param {any} [body]
 * @param {{signal?: AbortSignal}} [how]
 */
export async function ask(path, body, { signal } = {}) {
  const answer = await send(path, body, ANY_JSON, signal);
  try {
    return await answer.json();
  } catch (error) {
    if (isAborted(error)) throw error;
    throw new Refusal("The server's answer broke off.");
  }
}

/**
 * A file of a path: a Blob.
 *
 * @param {string} path
 * @param {any} [body]
 * @param {{signal?: AbortSignal}} [how]
 */
export async function askFile(path, body, { signal } = {}) {
  return (await send(path, body, "*/*", signal)).blob();
}

/**
 * Follows a stream; returns the data of its `end`.
 *
 * @param {string} path
 * @param {any} body
 * @param {Record<string, (data: any) => void>} on by the name of an event
 * @param {{signal?: AbortSignal}} [how]
 */
export async function follow(path, body, on, { signal } = {}) {
  const answer = await send(path, body, EVENTS, signal);
  if (!(answer.headers.get("Content-Type") ?? "").startsWith(EVENTS)) return answer.json();
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  for (;;) {
    const { value, done } = await readOn(reader);
    if (done) throw new Refusal("The server's answer broke off.");
    const parts = (waiting + value).split(/\r?\n\r?\n/);
    waiting = parts.pop() ?? "";
    for (const part of parts) {
      const event = eventOf(part);
      if (event.name === "end") return event.data;
      if (event.name === "error") {
        const { error, field = null, status = 422, retry_after_s: retryAfter = null } = event.data;
        throw new Refusal(error, { field, status, retryAfter });
      }
      on[event.name]?.(event.data);
    }
  }
}

async function readOn(reader) {
  try {
    return await reader.read();
  } catch (error) {
    if (isAborted(error)) throw error;
    throw new Refusal("The server's answer broke off.");
  }
}

function eventOf(part) {
  let name = "message";
  const data = [];
  for (const line of part.split(/\r?\n/)) {
    if (line.startsWith("event:")) name = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5));
  }
  return { name, data: data.length ? JSON.parse(data.join("\n")) : null };
}
