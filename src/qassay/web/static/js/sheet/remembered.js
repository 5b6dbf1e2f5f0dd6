// A sheet is one page: what it remembers besides the decisions lasts as long as the page. The storage of a browser is
// one for all files, and another sheet's would come up here.

/** @type {Map<string, any[]>} */
const lists = new Map();

/**
 * @param {string} name
 * @returns {any[]}
 */
export function recall(name) {
  return lists.get(name) ?? [];
}

/**
 * @param {string} name
 * @param {any[]} list
 */
export function remember(name, list) {
  lists.set(name, list);
}
