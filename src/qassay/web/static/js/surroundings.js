// What stands around the item that is judged: the question above it, how far the assessor is, whether all is saved.

import { byId, fill, h } from "./dom.js";
import { limitMoves } from "./moves.js";
import { STATES } from "./outbox.js";

/** @typedef {import("./supply.js").Sheet} Sheet */

/**
 * Put the question above what is judged, with the stages of its judging.
 * @param {Sheet} sheet
 */
export function showQuestion({ question, stages, assignment, screen }) {
  byId("question-id").textContent = question.id;
  byId("question-text").textContent = question.text || question.target || question.id;
  const target = question.text && question.target;
  fill(byId("question-more"), target ? h("p", null, "Target: ", h("strong", { dir: "auto" }, question.target)) : null);
  const tabs = document.querySelector(".judge-stages");
  if (!tabs) return;
  fill(tabs, stages.map((one) => {
    const current = one.screen === screen ? "page" : null;
    const address = `/judge/${assignment}?stage=${one.screen}`;
    return one.open ? h("a", { href: address, "aria-current": current }, one.title) : h("span", { class: "faint" }, one.title);
  }));
}

/** @param {Sheet} sheet */
export function showLock({ locked }) {
  byId("locked").hidden = !locked;
}

/**
 * @param {Sheet} sheet
 * @param {number} current  The item shown.
 */
export function showProgress({ items, done, total }, current) {
  const at = items.findIndex((one) => one.id === current);
  byId("position").textContent = at < 0 ? "" : `Item ${at + 1} of ${items.length}`;
  limitMoves(at, items.length);
  const bar = byId("progress", HTMLProgressElement);
  bar.max = Math.max(total, 1);
  bar.value = done;
  byId("progress-text").textContent = `${done} of ${total} judged`;
}

/**
 * @param {import("./outbox.js").OutboxState} state
 * @param {number} waiting
 */
export function showState(state, waiting) {
  const shown = byId("save-state");
  shown.dataset.state = state;
  const more = state === "waiting" && waiting > 1 ? ` (${waiting} waiting)` : "";
  if (shown.textContent !== STATES[state] + more) shown.textContent = STATES[state] + more;
}

/**
 * @param {string} message  Nothing takes the last one away.
 * @param {() => void} [again]
 */
export function showComplaint(message, again) {
  const shown = byId("complaint");
  shown.hidden = message === "";
  fill(shown, message, " ", again ? h("button", { type: "button", onclick: again }, "Try again") : null);
}

/**
 * Say in place of an item that there is none.
 * @param {HTMLElement} stage
 * @param {Sheet} sheet
 */
export function showEnd(stage, sheet) {
  const all = sheet.items.every((one) => one.complete);
  fill(stage,
    h("div", { class: "notice notice-done" },
      h("h2", {}, all ? "This question is finished" : "Nothing more to show"),
      h("p", {}, "You can still go back to any item. ",
        h("a", { href: "/work" }, "See all your work"))),
  );
}
