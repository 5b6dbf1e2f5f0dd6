// The known answers of a question: in one line, each with the documents that have it; and a question before a verdict
// that contradicts one.
import { h } from "./dom.js";
import { confirmed } from "./forms.js";
import { documentNames, titleOf } from "./titles.js";

/** @typedef {{answer: string, doc: string | null}} KnownAnswer */

/** @type {Set<string>} What was asked about: once is enough. */
const asked = new Set();

/**
 * The documents of each known answer.
 * @param {KnownAnswer[]} known
 */
export function documentsOf(known) {
  /** @type {Map<string, string[]>} */
  const documents = new Map();
  for (const { answer, doc } of known) documents.set(answer, [...(documents.get(answer) ?? []), ...(doc ? [doc] : [])]);
  return documents;
}

/**
 * The known answer that a string equals, but for case, spaces and punctuation; nothing where it equals none.
 * @param {unknown} text
 * @param {KnownAnswer[]} known
 */
function equalAnswer(text, known) {
  const plain = (/** @type {string} */ some) => some.normalize("NFKC").toLowerCase().replace(/[\s\p{P}]+/gu, " ").trim();
  const own = plain(String(text ?? ""));
  return own === "" ? null : (known.find((entry) => plain(entry.answer) === own)?.answer ?? null);
}

/**
 * Whether a string is to be judged incorrect: where it is a known answer, the person is asked, once.
 * @param {string} about  What is judged: the item and its part.
 * @param {unknown} text
 * @param {KnownAnswer[]} known
 */
export async function confirmAgainstKnown(about, text, known) {
  const answer = equalAnswer(text, known);
  if (answer === null || asked.has(about)) return true;
  asked.add(about);
  return confirmed(`“${answer}” is a known answer of this question. Judge it incorrect anyway?`, "Judge incorrect");
}

/** @param {KnownAnswer[]} known */
export function knownAnswerList(known) {
  const documents = documentsOf(known);
  if (!documents.size) return null;
  return h("p", { class: "known-answers" },
    h("b", null, documents.size === 1 ? "Known answer" : "Known answers"),
    [...documents].map(([answer, docs]) =>
      h("span", { class: "chip", title: docs.length ? `in ${docs.map(titleOf).join(", ")}` : null },
        h("bdi", null, answer), docs.length ? h("small", { class: "faint" }, " ", documentNames(docs)) : null)));
}
