// Buttons for what keys do between items: for touch screens, and for people who do not know the keys yet.
import { byId } from "./dom.js";
import { keyFor, press, register } from "./keys.js";
import { takeBack } from "./steps.js";

/**
 * The keys and the buttons that walk through the items of a question.
 * @param {import("./workbench.js").Workbench} bench
 */
export function walkThrough(bench) {
  register("judge.undo", "z", "Undo the last decision", () => void takeBack(bench));
  register("judge.next", "ArrowRight", "Next item", () => void bench.step(1));
  register("judge.previous", "ArrowLeft", "Previous item", () => void bench.step(-1));
  register("judge.open", "n", "Next item without a decision", () => void bench.advance());
  offerMoves({ undo: "judge.undo", previous: "judge.previous", next: "judge.next" });
}

/**
 * Show the buttons of the head and let them do what the keys do; what was offered before is replaced.
 * @param {Record<string, string>} names  The shortcut of each button, by what it does: undo, previous, next.
 */
export function offerMoves(names) {
  byId("moves").hidden = false;
  for (const [deed, name] of Object.entries(names)) {
    const button = byId(`move-${deed}`, HTMLButtonElement);
    button.hidden = false;
    button.onclick = () => press(name);
  }
  const key = byId("undo-key");
  const tell = () => (key.textContent = keyFor(names.undo));
  tell();
  addEventListener("shortcuts-changed", tell);
}

/**
 * @param {number} at  The place of what is shown.
 * @param {number} length  How many there are to walk through.
 */
export function limitMoves(at, length) {
  byId("move-previous", HTMLButtonElement).disabled = at <= 0;
  byId("move-next", HTMLButtonElement).disabled = length === 0;
}
