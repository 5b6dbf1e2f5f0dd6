// Decisions that the server refused. They are kept until the assessor has seen it: the page may have gone on by then.
import { fill, h } from "./dom.js";
import { recall, remember } from "./remembered.js";

/** @typedef {{key: string, question: string, address: string, message: string}} Refusal */

/** @param {string} owner  The account whose decisions these are. */
export const placeOfRefusals = (owner) => `qassay-refused-${owner}`;

/**
 * @param {string} owner
 * @returns {Refusal[]}
 */
export const refusals = (owner) => recall(placeOfRefusals(owner));

/**
 * @param {string} owner
 * @param {import("./outbox.js").PendingSave} letter
 * @param {string} message
 */
export function keepRefusal(owner, { key, url, body, about = "" }, message) {
  const [, , , assignment] = url.split("/"); // "/api/judge/NUMBER/decisions"
  const address = `/judge/${assignment}${body.item ? `?item=${body.item}` : ""}`;
  remember(placeOfRefusals(owner), [...refusals(owner), { key, question: about, address, message }]);
}

/**
 * Show above the item what was refused; nothing where nothing was.
 * @param {string} owner
 * @param {() => void} dismissed
 */
export function showRefusals(owner, dismissed) {
  const refused = refusals(owner);
  const box = document.getElementById("refusals") ?? h("div", { id: "refusals", class: "notice error", role: "alert" });
  if (refused.length === 0) return box.remove();
  // Only what is new is to be read out.
  const keys = refused.map((refusal) => refusal.key).join(" ");
  if (box.dataset.keys === keys) return;
  box.dataset.keys = keys;
  const seen = () => {
    remember(placeOfRefusals(owner), []);
    box.remove();
    dismissed();
  };
  fill(box,
    h("ul", null, alike(refused).map(([{ question, address, message }, count]) =>
      h("li", null, "Not saved, ", h("a", { href: address }, question ? `question ${question}` : "a question"), `${count > 1 ? ` (${count} decisions)` : ""}: ${message}`))),
    h("button", { type: "button", class: "small", id: "refusals-seen", onclick: seen }, "Understood"));
  if (!box.isConnected) document.getElementById("complaint")?.before(box);
}

/**
 * Refusals of one question for the same reason are one line: the first of them, and how many there are.
 * @param {Refusal[]} refused
 * @returns {[Refusal, number][]}
 */
function alike(refused) {
  /** @type {Map<string, [Refusal, number]>} */
  const lines = new Map();
  for (const refusal of refused) {
    const line = `${refusal.question}\n${refusal.message}`;
    const [first, count] = lines.get(line) ?? [refusal, 0];
    lines.set(line, [first, count + 1]);
  }
  return [...lines.values()];
}
