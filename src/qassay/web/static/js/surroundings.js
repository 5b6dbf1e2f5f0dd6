// The surroundings of the item that is judged: the question above it, how far the assessor is, whether all is saved.

import { byId, fill, h, plural } from "./dom.js";
import { limitMoves } from "./moves.js";
import { AT_THE_END, SIGN_IN, STATES } from "./outbox.js";
import { decisionsOn } from "./order.js";

/** @typedef {import("./supply.js").Sheet} Sheet */
/** @typedef {Sheet["job"]} Job */

/**
 * Put the question above what is judged, with the stages of its judging.
 * @param {Sheet} sheet
 */
export function showQuestion({ question, stages, assignment, screen }) {
  fill(byId("question-id"), question.id);
  fill(byId("question-text"), asks(question));
  const target = question.text && question.target;
  fill(byId("question-more"), target ? h("p", null, "Target: ", h("strong", { dir: "auto" }, question.target)) : null);
  const tabs = document.querySelector(".judge-stages");
  if (!tabs) return;
  fill(tabs, stages.map((stage) => {
    const current = stage.screen === screen ? "page" : null;
    const address = `/judge/${assignment}?stage=${stage.screen}`;
    return stage.open ? h("a", { href: address, "aria-current": current }, stage.title) : h("span", { class: "faint" }, stage.title);
  }));
}

/**
 * What a question asks, in words; an "other" question has none of its own.
 * @param {Record<string, any>} question
 */
export function asks(question) {
  if (question.type === "other" && question.target && (!question.text || question.text.toLowerCase() === "other")) {
    return `What else is there to know about ${question.target}?`;
  }
  return question.text || question.target || question.id;
}

/** While the question is scrolled away, it is shown in a line below the bar. */
export function keepQuestionInView() {
  const [bar, question] = [document.querySelector(".judge-bar"), document.querySelector(".judge-question")];
  if (!bar || !question) return;
  const line = h("p", { class: "judge-asked", dir: "auto", "aria-hidden": "true", hidden: true });
  bar.append(line);
  const show = () => (line.textContent = question.textContent);
  new MutationObserver(show).observe(question, { childList: true });
  show();
  const hidden = new IntersectionObserver(([{ isIntersecting }]) => (line.hidden = isIntersecting), { rootMargin: `-${bar.clientHeight}px 0px 0px` });
  hidden.observe(question);
}

/** @param {Sheet} sheet */
export function showLock({ locked }) {
  byId("locked").hidden = !locked;
}

/**
 * @param {Sheet} sheet
 * @param {number} current  The item shown, or at the end the last one.
 * @param {import("./supply.js").ItemView | null} [view]
 */
export function showProgress({ items, job }, current, view = null) {
  if (!document.getElementById("position")) return; // a sheet may have left the screen before its last decision was confirmed
  const at = items.findIndex((item) => item.id === current);
  // An item that takes many decisions: those of it that are made.
  const { made, needed } = view?.id === current ? decisionsOn(view) : { made: 0, needed: 0 };
  byId("position").textContent = at < 0 || !view ? "" : `Item ${at + 1} of ${items.length}`;
  byId("decisions").textContent = needed > 1 ? `${made} of ${needed} done` : "";
  limitMoves(view ? at : at + 1, items.length);
  const bar = byId("progress", HTMLProgressElement);
  bar.max = Math.max(job.total, 1);
  bar.value = job.done;
  byId("progress-text").textContent = progressInWords(job);
}

// What a job was when its time was estimated: the time left shrinks with the decisions left.
/** @type {WeakMap<Job, number>} */
const estimated = new WeakMap();

/**
 * How far a job is, in the words of all pages.
 * @param {Job} job
 */
export function progressInWords(job) {
  const { done, total, minutes_left: minutes } = job;
  const open = total - done;
  const words = `${done.toLocaleString("en")} of ${plural(total, "decision")}`;
  if (minutes === null || open <= 0) return words;
  if (!estimated.has(job)) estimated.set(job, open);
  return `${words}, about ${duration(Math.round((minutes * open) / (estimated.get(job) ?? open)))} left`;
}

/**
 * @param {number} minutes
 * @returns {string} Such as "2 h 10 min".
 */
export function duration(minutes) {
  if (minutes < 60) return `${Math.max(1, minutes)} min`;
  const tens = Math.floor((minutes + 5) / 10) * 10;
  const hours = Math.floor(tens / 60);
  return tens % 60 === 0 || hours >= 10 ? `${hours} h` : `${hours} h ${tens % 60} min`;
}

/**
 * The last decision, beside the button that undoes it.
 * @param {{label?: string, about?: string} | undefined} step
 */
export function showLast(step) {
  const shown = document.getElementById("last");
  if (!shown) return;
  fill(shown, step?.label ? ["Last: ", h("b", null, step.label), step.about ? [" “", h("bdi", null, step.about.slice(0, 60)), "”"] : null].flat() : null);
}

/**
 * @param {import("./outbox.js").OutboxState} state
 * @param {number} waiting
 */
export function showState(state, waiting) {
  const shown = byId("save-state");
  shown.dataset.state = state;
  const words = STATES[state] + (state === "waiting" && waiting > 1 ? ` (${waiting} waiting)` : "");
  if (shown.textContent === words) return;
  const [before, after] = state === "signed-out" ? words.split(SIGN_IN, 2) : [words];
  fill(shown, before, after === undefined ? null : [h("a", { href: "/sign-in", target: "_blank", rel: "noopener" }, SIGN_IN), after]);
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
  const { job, flags } = sheet;
  const open = job.total - job.done;
  const flagged = Object.keys(flags ?? {}).length;
  const sentence = open > 0
    ? `${plural(open, "decision")} not made yet.`
    : `You have made all ${plural(job.total, "decision")} assigned to you.`;
  fill(stage,
    h("div", { class: "notice notice-done" },
      h("h2", {}, open > 0 ? "Nothing more to judge here" : "All done"),
      h("p", {}, sentence, flagged ? ` ${plural(flagged, "answer")} of this question ${flagged === 1 ? "is" : "are"} flagged.` : "", " You can still go back to any answer.", open > 0 ? null : ` ${AT_THE_END}`),
      h("p", {}, h("a", { class: "button primary", href: "/work" }, open > 0 ? "See your work" : "Look over your work"))),
  );
}
