// What the judging pages remember from one to the next: lists in the browser's storage, or in that of one tab.

/**
 * A list that was kept; empty where none was, or where it cannot be read.
 * @param {string} name
 * @param {{tab?: boolean}} [where]
 * @returns {any[]}
 */
export function recall(name, { tab = false } = {}) {
  try {
    const list = JSON.parse((tab ? sessionStorage : localStorage).getItem(name) ?? "[]");
    return Array.isArray(list) ? list : [];
  } catch {
    return [];
  }
}

/**
 * Keep a list in place of the one before.
 * @param {string} name
 * @param {unknown[]} list
 * @param {{tab?: boolean}} [where]
 */
export function remember(name, list, { tab = false } = {}) {
  (tab ? sessionStorage : localStorage).setItem(name, JSON.stringify(list));
}
