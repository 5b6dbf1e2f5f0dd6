// Labels in words, in the order in which they are decided (METHOD 4).

/** @type {{label: string, name: string}[]} */
export const ITEM_LABELS = [
  { label: "W", name: "Incorrect" },
  { label: "U", name: "Not supported" },
  { label: "X", name: "Not exact" },
  { label: "R", name: "Correct" },
];

/**
 * A label with its name, where it has one.
 * @param {string} label
 */
export function named(label) {
  const found = ITEM_LABELS.find((one) => one.label === label);
  return found ? `${found.name} (${label})` : label;
}
