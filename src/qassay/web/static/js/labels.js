// Labels in words and as buttons. What a screen offers comes with its page, from the kind of judgment.
import { h } from "./dom.js";

/**
 * @typedef {{label: string, name: string, key: string, meaning: string, tone: string}} Label
 * @typedef {{field: string, labels: Label[]}} Choices  The field of a verdict and the labels that it takes.
 */

const ITEM_NAMES = /** @type {Record<string, string>} */ ({ W: "Incorrect", U: "Not supported", X: "Not exact", R: "Correct" });

/**
 * A label with its name, where it has one.
 * @param {string} label
 */
export function labelInWords(label) {
  return label in ITEM_NAMES ? `${ITEM_NAMES[label]} (${label})` : label;
}

/**
 * The button of a verdict: its name, its letter in its colour where labels are letters, and its key.
 * @param {Label} one
 * @param {{key: string, pressed?: boolean, choose: () => void}} options
 */
export function verdictButton({ label, name, meaning, tone }, { key, pressed, choose }) {
  const isLetter = label.length === 1 && name !== label && key.toLowerCase() !== label.toLowerCase();
  const letter = isLetter ? h("span", { class: `dot ${tone}`, dataset: { label }, "aria-hidden": "true" }, label) : null;
  return h(
    "button",
    {
      type: "button",
      class: `decision ${tone}`,
      "aria-pressed": pressed === undefined ? null : String(pressed),
      dataset: { label },
      onclick: choose,
    },
    h("span", { dir: "auto" }, name, meaning ? `: ${meaning}` : ""),
    h("span", { class: "decision-keys" }, letter, h("kbd", null, key)),
  );
}

/**
 * The label of a verdict in words, for one line.
 * @param {Record<string, any>} verdict
 * @param {Choices | null} choices
 * @param {string} [part]  The response as a whole has none.
 */
export function verdictShortly(verdict, choices, part = "") {
  if (Array.isArray(verdict.nuggets)) return part === "" ? "Done" : verdict.nuggets.length ? `Nugget ${verdict.nuggets.join(", ")}` : "No nugget";
  const rated = ["understandability", "correctness", "content", "organization"].filter((name) => typeof verdict[name] === "number");
  if (rated.length) return sentence(rated.map((name) => `${name} ${verdict[name]}`).join(", "));
  const label = choices ? verdict[choices.field] : undefined;
  const own = choices?.labels.find((choice) => choice.label === label);
  return own ? own.name : label === undefined ? "Saved" : String(label);
}

/** @param {string} words */
function sentence(words) {
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

/**
 * A verdict in words.
 * @param {Record<string, any> | null} verdict
 */
export function verdictInWords(verdict) {
  if (!verdict) return "nothing";
  return Object.entries(verdict)
    .filter(([name, value]) => name !== "settled" && value !== null)
    .map(([name, value]) => (name === "judgment" ? labelInWords(String(value)) : `${name}: ${Array.isArray(value) ? value.join(", ") : value}`))
    .join("; ");
}
