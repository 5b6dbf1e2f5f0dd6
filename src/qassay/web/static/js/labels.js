// Labels in words. What a screen offers comes with its page, from the kind of judgment.

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
 * The label of a verdict in words, for one line.
 * @param {Record<string, any>} verdict
 * @param {Choices | null} choices
 */
export function verdictShortly(verdict, choices) {
  const label = choices ? verdict[choices.field] : undefined;
  const own = choices?.labels.find((choice) => choice.label === label);
  return own ? own.name : label === undefined ? "Saved" : String(label);
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
