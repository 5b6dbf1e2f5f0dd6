// In a sheet there is one page: what it shows is remembered, not addressed.
import { read, write } from "./storage.js";

let wanted = 0;

/** @returns {{number: number, item: number} | null} What was shown last. */
export function last() {
  return read("place", null);
}

/**
 * The item that the next screen begins with.
 * @param {number} item
 */
export function want(item) {
  wanted = item;
}

export function asked() {
  return wanted;
}

/**
 * @param {number} number
 * @param {number} item
 */
export function show(number, item) {
  write("place", { number, item });
}

/** @param {string} address */
export function go(address) {
  dispatchEvent(new CustomEvent("sheet-go", { detail: address }));
}

export function watch() {}
