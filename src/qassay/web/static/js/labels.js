// Labels in words, in the order in which they are decided (METHOD 4).

/** @type {{label: string, name: string, tone: string}[]} */
export const ITEM_LABELS = [
  { label: "W", name: "Incorrect", tone: "" },
  { label: "U", name: "Not supported", tone: "warn" },
  { label: "X", name: "Not exact", tone: "warn" },
  { label: "R", name: "Correct", tone: "good" },
];

/**
 * A label with its name, where it has one.
 * @param {string} label
 */
export function named(label) {
  const found = ITEM_LABELS.find((one) => one.label === label);
  return found ? `${found.name} (${label})` : label;
}

/**
 * A verdict in words.
 * @param {Record<string, any> | null} verdict
 */
export function said(verdict) {
  if (!verdict) return "nothing";
  return Object.entries(verdict)
    .filter(([name, value]) => name !== "settled" && value !== null)
    .map(([name, value]) => (name === "judgment" ? named(String(value)) : `${name}: ${Array.isArray(value) ? value.join(", ") : value}`))
    .join("; ");
}
