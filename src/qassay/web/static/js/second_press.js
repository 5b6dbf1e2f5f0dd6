// The second click of a double click, and a key that is held down, meet the item that has just come into view. They were
// meant for the one before, and decide nothing. Keys that are typed one after the other always count.
import { notify } from "./dom.js";

// Nobody has seen an item that has been there for so short a time (milliseconds).
const TOO_SOON = 150;
// The second click of a double click comes within this time of the first, and this near to it (pixels).
const DOUBLE = 500;
const NEAR = 10;

let shown = -Infinity;
let clicked = { at: -Infinity, x: 0, y: 0 };

/** Another item came into view. */
export function cameIntoView() {
  shown = performance.now();
}

/** @param {HTMLElement} stage  Where items are shown. */
export function ignoreSecondPresses(stage) {
  addEventListener("click", (event) => {
    if (event.detail === 0 || !(event.target instanceof Node) || !stage.contains(event.target)) return; // a key's, or a program's
    const before = clicked;
    clicked = { at: event.timeStamp, x: event.clientX, y: event.clientY };
    const isNear = Math.hypot(clicked.x - before.x, clicked.y - before.y) <= NEAR;
    if (isNear && clicked.at - before.at < DOUBLE) ignore(event, "Ignored: the second click of a double click.");
  }, true);
  addEventListener("keydown", (event) => {
    if (event.repeat && event.target instanceof Node && stage.contains(event.target)) ignore(event, "Ignored: the key was held down.");
  }, true);
}

/**
 * @param {Event} event
 * @param {string} reason
 */
function ignore(event, reason) {
  if (event.timeStamp - shown >= TOO_SOON) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  notify(reason);
}
