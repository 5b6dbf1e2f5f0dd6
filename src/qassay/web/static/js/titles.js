// Documents by their titles: where the collection has one, people read it, and the id beside it in small print.
import { h } from "./dom.js";

/** @type {Map<string, string>} */
const titles = new Map();

/** @param {Record<string, string> | undefined} known  The titles of some documents, by their ids. */
export function learnTitles(known) {
  for (const [doc, title] of Object.entries(known ?? {})) titles.set(doc, title);
}

/**
 * The title of a document; its id where it has none.
 * @param {string} doc
 */
export function titleOf(doc) {
  return titles.get(doc) ?? doc;
}

/**
 * The title of a document with its id; the id alone where it has none.
 * @param {string} doc
 */
export function documentName(doc) {
  const title = titles.get(doc);
  if (title === undefined || title === doc) return h("bdi", null, doc);
  return h("span", { class: "document-name" }, h("bdi", null, title), " ", h("small", { class: "faint" }, h("bdi", null, doc)));
}

/**
 * Several documents, with commas between them.
 * @param {string[]} docs
 */
export function documentNames(docs) {
  return docs.flatMap((doc, index) => (index ? [", ", documentName(doc)] : [documentName(doc)]));
}
