// In a sheet there is no server: what the screens ask for is answered out of the file.
import { ApiError, freshKey, sentence } from "../api.js";
import { classesOf, rename, takeBackRenaming } from "./classes.js";
import { documentOf, progressOf, questionOf, sheetOf, viewOf } from "./local_server.js";
import { data, decidedOn, keepKnown, knownAnswers, now, write } from "./storage.js";

export { ApiError, freshKey, sentence };

/**
 * @param {"GET" | "POST" | "PUT" | "PATCH" | "DELETE"} method
 * @param {string} path
 * @param {any} [body]
 * @returns {Promise<any>}
 */
export async function call(method, path, body) {
  const [place, query] = path.split("?", 2);
  const asked = new URLSearchParams(query ?? "");
  const [, first, number, ...rest] = place.split("/");
  if (method === "GET" && first === "document") return documentOf(asked);
  if (method === "PUT" && place === "/account/shortcuts") return write("shortcuts", body.shortcuts);
  if (first !== "judge") throw new ApiError(404, "A sheet cannot do this.");
  return method === "GET" ? asking(Number(number), rest, asked) : changing(Number(number), rest, body);
}

/**
 * @param {number} number
 * @param {string[]} rest
 * @param {URLSearchParams} asked
 */
function asking(number, rest, asked) {
  if (rest.length === 0) return sheetOf(number, asked.get("stage"));
  if (rest[0] === "items") return viewOf(number, Number(rest[1]));
  if (rest[0] === "classes") return classesOf(number);
  const { nuggets, reference } = questionOf(number);
  if (rest[0] === "aids") return { nuggets, reference };
  if (rest[0] === "nuggets") return nuggetList(number);
  throw new ApiError(404, "A sheet cannot do this.");
}

/**
 * @param {number} number
 * @param {string[]} rest
 * @param {any} body
 */
function changing(number, rest, body) {
  if (rest.join("/") === "classes/rename") return rename(number, body);
  if (rest.join("/") === "classes/undo") return takeBackRenaming(number, body);
  if (rest[0] === "answers") {
    const { question } = questionOf(number);
    keepKnown([...knownAnswers(), { question: question.id, answer: body.answer, doc: body.doc ?? null, at: now() }]);
    return { question: question.id, answer: body.answer };
  }
  throw new ApiError(404, "A sheet cannot do this.");
}

/** @param {number} number */
function nuggetList(number) {
  const { nuggets, items } = questionOf(number);
  const decided = decidedOn(number);
  const { done, total } = progressOf(number);
  const listed = nuggets.map((nugget, index) => ({ ...nugget, version: 1, ordinal: index + 1, linked: 0 }));
  const through = items.filter((item) => item.kind === "match" && decided[`${item.id}/`]?.at(-1)?.[0]).length;
  return { nuggets: listed, step: 2, looked_through: through, done, total, closed: done === total };
}

/** @param {string} path */
export const get = (path) => call("GET", path);
/** @param {string} path @param {unknown} [body] */
export const post = (path, body = {}) => call("POST", path, body);
/** @param {string} path @param {unknown} [body] */
export const put = (path, body = {}) => call("PUT", path, body);

/** The assessor's own keys. @returns {Record<string, string>} */
export function ownShortcuts() {
  try {
    return JSON.parse(localStorage.getItem(`qassay-sheet/${data.evaluation}/${data.sheet}/shortcuts`) ?? "{}");
  } catch {
    return {};
  }
}
