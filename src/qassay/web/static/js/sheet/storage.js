// What was decided on a sheet: kept in the browser's storage under the sheet's name, every decision with its moment, so
// that nothing is lost when the page is left and files of two machines can be put together.
import { byId } from "../dom.js";

/**
 * @typedef {Record<string, any>} Verdict
 * @typedef {[Verdict | null, string]} Entry  A verdict, or nothing where one was removed, and when.
 * @typedef {Record<string, Entry[]>} Decided  The decisions of a question by "ITEM/PART", oldest first.
 * @typedef {{question: string, answer: string, doc: string | null, at: string}} Known  An answer that the assessor knows of.
 * @typedef {object} SheetData
 * @property {string} sheet
 * @property {string} evaluation
 * @property {string} assessor
 * @property {string} file  What a saved file is called.
 * @property {string[]} labels
 * @property {Record<string, import("../labels.js").Choices>} choices  What verdicts choose from, by screen.
 * @property {boolean} has_collection
 * @property {Record<string, string>} screens  The screen of each kind of item.
 * @property {Record<string, string>} titles
 * @property {{id: string, type: string, text: string, target: string | null}[]} questions
 */

/** @type {SheetData} */
export const data = JSON.parse(byId("sheet-data").textContent ?? "null");

const PLACE = `qassay-sheet/${data.evaluation}/${data.sheet}`;
/** @type {Map<string, unknown>} The entries, where the browser keeps nothing. */
const memory = new Map();
let failing = false;

/** Whether the browser refuses to keep what was decided: it is lost when the page is closed. */
export function isFailing() {
  return failing;
}

/**
 * @param {string} name
 * @param {any} otherwise
 * @returns {any}
 */
export function read(name, otherwise) {
  if (failing && memory.has(name)) return memory.get(name);
  try {
    const text = localStorage.getItem(`${PLACE}/${name}`);
    return text === null ? otherwise : JSON.parse(text);
  } catch {
    return memory.get(name) ?? otherwise;
  }
}

/**
 * @param {string} name
 * @param {unknown} value
 */
export function write(name, value) {
  memory.set(name, value);
  try {
    localStorage.setItem(`${PLACE}/${name}`, JSON.stringify(value));
    memory.delete(name);
  } catch {
    failing = true;
  }
}

/**
 * @param {number} number  Questions are numbered from 1.
 * @returns {Decided}
 */
export function decidedOn(number) {
  return read(`question-${number}`, {});
}

/**
 * @param {number} number
 * @param {Decided} decided
 */
export function keep(number, decided) {
  write(`question-${number}`, decided);
  write("unsaved", unsaved() + 1);
  dispatchEvent(new CustomEvent("sheet-changed", { detail: number }));
}

/** @returns {Known[]} */
export function knownAnswers() {
  return read("known", []);
}

/** @param {Known[]} known */
export function keepKnown(known) {
  write("known", known);
  write("unsaved", unsaved() + 1);
  dispatchEvent(new CustomEvent("sheet-changed", { detail: 0 }));
}

/**
 * The doubts of the assessor by item, each with its moment; a reason that is empty removes a flag.
 * @returns {Record<string, {reason: string, at: string}>}
 */
export function flagged() {
  return read("flags", {});
}

/**
 * @param {Record<string, {reason: string, at: string}>} flags
 * @param {number} [question]
 */
export function keepFlags(flags, question = 0) {
  write("flags", flags);
  write("unsaved", unsaved() + 1);
  dispatchEvent(new CustomEvent("sheet-changed", { detail: question }));
}

/** How many changes are in no file yet. @returns {number} */
export function unsaved() {
  return read("unsaved", 0);
}

/** The moment, as judgments carry it. */
export function now() {
  return new Date().toISOString();
}

// Another tab with the same sheet.
addEventListener("storage", (event) => {
  const number = event.key?.startsWith(`${PLACE}/question-`) ? Number(event.key.split("-").at(-1)) : 0;
  if (number) dispatchEvent(new CustomEvent("sheet-changed", { detail: number }));
});
