// Talking to the server: JSON in, JSON out, and one kind of error.

/** @typedef {{message: string, field?: string, file?: string | null, line?: number | null}} Problem */

/** What the server refused, or that it could not be reached (status 0). */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {string} message
   * @param {Problem[]} problems
   * @param {any} body
   */
  constructor(status, message, problems = [], body = null) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.problems = problems;
    this.body = body;
  }

  /** Whether the server could not be reached, or was in no state to answer: worth another try later. */
  get away() {
    return this.status === 0 || this.status === 502 || this.status === 503 || this.status === 504;
  }
}

/**
 * Ask the server. `path` begins with a slash and is below /api.
 *
 * @param {"GET" | "POST" | "PUT" | "PATCH" | "DELETE"} method
 * @param {string} path
 * @param {unknown} [body] plain data, or FormData for an upload
 * @param {{signal?: AbortSignal, keepalive?: boolean}} [options]
 * @returns {Promise<any>}
 */
export async function call(method, path, body, options = {}) {
  /** @type {RequestInit} */
  const init = { method, credentials: "same-origin", cache: "no-store", redirect: "error", ...options };
  /** @type {Record<string, string>} */
  const headers = { Accept: "application/json" };
  if (body instanceof FormData) {
    init.body = body;
  } else if (body !== undefined) {
    headers["Content-Type"] = "application/json";
    init.body = JSON.stringify(body);
  }
  let response;
  try {
    response = await fetch(`/api${path}`, { ...init, headers });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, "The server cannot be reached.");
  }
  let answer = null;
  try {
    answer = await response.json();
  } catch {
    if (response.ok) throw new ApiError(0, "The server's answer was incomplete.");
  }
  if (response.ok) return answer;
  throw new ApiError(
    response.status,
    sentence(answer?.message ?? `The server answered ${response.status}.`),
    answer?.problems ?? [],
    answer,
  );
}

/** @param {string} path @param {{signal?: AbortSignal}} [options] */
export const get = (path, options) => call("GET", path, undefined, options);
/** @param {string} path @param {unknown} [body] */
export const post = (path, body = {}) => call("POST", path, body);
/** @param {string} path @param {unknown} [body] */
export const put = (path, body = {}) => call("PUT", path, body);
/** @param {string} path @param {unknown} [body] */
export const patch = (path, body = {}) => call("PATCH", path, body);
/** @param {string} path @param {unknown} [body] */
export const del = (path, body) => call("DELETE", path, body);

/**
 * A key that no other save has: the same save sent twice carries the same one.
 *
 * @returns {string}
 */
export function freshKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * A message as a sentence.
 *
 * @param {string} message
 * @returns {string}
 */
export function sentence(message) {
  const begun = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}
