// The rules of judging are open on every page until somebody folds them, and then stay folded.
import { recall, remember } from "./remembered.js";

const FOLDED = "qassay-rules-folded";

const rules = document.querySelector("details.rules");
if (rules instanceof HTMLDetailsElement) {
  const screen = rules.closest("[data-screen]")?.getAttribute("data-screen");
  rules.open = !recall(FOLDED).includes(screen);
  rules.addEventListener("toggle", () => {
    const others = recall(FOLDED).filter((name) => name !== screen);
    remember(FOLDED, rules.open ? others : [...others, screen]);
  });
}
