// The known answers of a question in one line, each with the documents that have it.
import { h } from "./dom.js";

/** @param {{answer: string, doc: string | null}[]} known */
export function knownAnswerList(known) {
  /** @type {Map<string, string[]>} */
  const documents = new Map();
  for (const { answer, doc } of known) documents.set(answer, [...(documents.get(answer) ?? []), ...(doc ? [doc] : [])]);
  if (!documents.size) return null;
  return h("p", { class: "known-answers" },
    h("b", null, documents.size === 1 ? "Known answer" : "Known answers"),
    [...documents].map(([answer, docs]) =>
      h("span", { class: "chip", title: docs.length ? `in ${docs.join(", ")}` : null },
        h("bdi", null, answer), docs.length ? h("small", { class: "faint" }, " ", h("bdi", null, docs.join(", "))) : null)));
}
