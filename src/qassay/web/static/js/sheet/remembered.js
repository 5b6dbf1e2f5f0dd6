// A sheet is one page: what it remembers besides the decisions lasts as long as the page. The storage of a browser is
// one for all files, and another sheet's would come up here.

import { read, write } from "./storage.js";

/** @type {Map<string, any[]>} */
const lists = new Map();
// Notes that are not saved with a decision yet are the assessor's work: they stay when the page is closed.
const lasts = (/** @type {string} */ name) => name.startsWith("qassay-notes-");

/**
 * @param {string} name
 * @returns {any[]}
 */
export function recall(name) {
  return lasts(name) ? read(name, []) : (lists.get(name) ?? []);
}

/**
 * @param {string} name
 * @param {any[]} list
 */
export function remember(name, list) {
  if (lasts(name)) write(name, list);
  else lists.set(name, list);
}
