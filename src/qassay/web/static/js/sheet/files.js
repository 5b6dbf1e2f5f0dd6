// Judgments out of the sheet as a file of JSON lines, and back in, on another machine.
import { itemOf, questionOf } from "./local_server.js";
import { data, decidedOn, flagged, keep, keepFlags, keepKnown, knownAnswers, write } from "./storage.js";

/** @typedef {import("./storage.js").Entry} Entry */

/** Everything decided, one row a decision that counts, in the order of their moments. */
export function rows() {
  /** @type {Record<string, any>[]} */
  const list = [];
  data.questions.forEach((_, index) => {
    for (const [place, history] of Object.entries(decidedOn(index + 1))) {
      const cut = place.indexOf("/");
      // Judgments before a removal do not count; the removal does.
      const since = history.findLastIndex(([verdict]) => verdict === null);
      const decisions = since === history.length - 1 ? history.slice(since) : history.slice(since + 1);
      for (const [verdict, at] of decisions) {
        list.push({ sheet: data.sheet, item: Number(place.slice(0, cut)), part: place.slice(cut + 1), verdict, at });
      }
    }
  });
  for (const { question, answer, doc, at } of knownAnswers()) {
    list.push({ sheet: data.sheet, question, known_answer: answer, ...(doc ? { doc } : {}), at });
  }
  for (const [item, { reason, at }] of Object.entries(flagged())) {
    list.push({ sheet: data.sheet, item: Number(item), flag: reason, at });
  }
  return list.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

/** Hand the judgments over as a file. */
export function save() {
  const list = rows();
  const text = list.map((row) => `${JSON.stringify(row)}\n`).join("");
  const address = URL.createObjectURL(new Blob([text], { type: "application/jsonl" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = data.file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
  write("unsaved", 0);
  return list.length;
}

/**
 * Add the content of a saved file; where both have a decision, the later one counts.
 * @param {string} text
 * @returns {{added: number, problem: string | null}}
 */
export function load(text) {
  /** @type {any[]} */
  let list;
  try {
    list = text.split("\n").filter((line) => line.trim()).map((line) => JSON.parse(line));
  } catch {
    return { added: 0, problem: "This is not a file of judgments: a line of it is not JSON." };
  }
  const strange = list.find((row) => row?.sheet !== data.sheet);
  if (list.length === 0 || strange !== undefined) {
    const whose = typeof strange?.sheet === "string" ? ` It belongs to the sheet ${strange.sheet}.` : "";
    return { added: 0, problem: `This file contains no judgments of this sheet (${data.sheet}).${whose}` };
  }
  const places = new Map(data.questions.flatMap((_, index) => questionOf(index + 1).items.map((item) => [item.id, index + 1])));
  const wrong = list.find((row) => !fits(row, places));
  if (wrong) return { added: 0, problem: `A line of this file fits nothing on this sheet: ${JSON.stringify(wrong).slice(0, 200)}` };
  const decisions = list.filter((row) => !("flag" in row));
  return { added: loadDecisions(decisions, places) + loadKnown(list) + loadFlags(list), problem: null };
}

/**
 * @param {any} row
 * @param {Map<number, number>} places
 */
function fits(row, places) {
  if (typeof row.at !== "string") return false;
  if ("known_answer" in row) return typeof row.known_answer === "string" && typeof row.question === "string";
  const number = places.get(row.item);
  if ("flag" in row) return number !== undefined && typeof row.flag === "string";
  const isVerdict = row.verdict === null || (typeof row.verdict === "object" && !Array.isArray(row.verdict));
  return number !== undefined && isVerdict && itemOf(number, row.item).parts.some((part) => part.part === row.part);
}

/**
 * @param {any[]} list
 * @param {Map<number, number>} places
 */
function loadDecisions(list, places) {
  /** @type {Map<number, any[]>} */
  const byQuestion = new Map();
  for (const row of list) {
    const number = places.get(row.item);
    if (number !== undefined) byQuestion.set(number, [...(byQuestion.get(number) ?? []), row]);
  }
  let added = 0;
  for (const [number, some] of byQuestion) {
    const decided = decidedOn(number);
    const before = added;
    for (const { item, part, verdict, at } of some) {
      const place = `${item}/${part}`;
      const history = decided[place] ?? [];
      if (history.some(([other, then]) => then === at && JSON.stringify(other) === JSON.stringify(verdict))) continue;
      /** @type {Entry[]} */
      const both = [...history, [verdict, at]];
      decided[place] = both.sort(([, a], [, b]) => (a < b ? -1 : a > b ? 1 : 0));
      added += 1;
    }
    if (added > before) keep(number, decided);
  }
  return added;
}

/** @param {any[]} list */
function loadFlags(list) {
  const flags = flagged();
  const fresh = list.filter((row) => "flag" in row && row.at > (flags[row.item]?.at ?? ""));
  if (fresh.length) keepFlags({ ...flags, ...Object.fromEntries(fresh.map(({ item, flag, at }) => [item, { reason: flag, at }])) });
  return fresh.length;
}

/** @param {any[]} list */
function loadKnown(list) {
  const known = knownAnswers();
  const fresh = list
    .filter((row) => "known_answer" in row)
    .map(({ question, known_answer, doc, at }) => ({ question, answer: known_answer, doc: doc ?? null, at }))
    .filter((row) => !known.some((other) => other.question === row.question && other.answer === row.answer && other.at === row.at));
  if (fresh.length) keepKnown([...known, ...fresh]);
  return fresh.length;
}
