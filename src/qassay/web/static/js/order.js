// What of a question is decided, and what comes next.

/** @typedef {import("./supply.js").Sheet} Sheet */

/**
 * The first item that needs something.
 * @param {Sheet} sheet
 */
export function firstOpen(sheet) {
  return sheet.items.find((item) => !item.complete);
}

/**
 * The items after one, then those before it.
 * @param {Sheet} sheet
 * @param {number} current
 */
export function after({ items }, current) {
  const at = items.findIndex((item) => item.id === current);
  return [...items.slice(at + 1), ...items.slice(0, Math.max(at, 0))];
}

/**
 * The first stage, other than the one with this screen, in which something is to be done.
 * @param {Sheet} sheet
 * @param {string} [screen]
 */
export function openStage(sheet, screen) {
  return sheet.stages.find((stage) => stage.screen !== screen && stage.open && stage.done < stage.total);
}

/**
 * The decisions that an item takes, and how many are made.
 * @param {{parts: import("./supply.js").PartView[]}} item
 */
export function decisionsOn({ parts }) {
  const required = parts.filter((part) => part.required);
  return { made: required.filter((part) => part.verdict !== null).length, needed: required.length };
}

/**
 * Whether an item needs nothing more.
 * @param {{parts: import("./supply.js").PartView[]}} item
 */
export function isComplete({ parts }) {
  return parts.every((part) => !part.required || part.verdict !== null);
}
