// The classes of equal answers of a list question on a sheet: known ones, own ones, renamed and merged (METHOD 4).
import { ApiError } from "../api.js";
import { questionOf } from "./local_server.js";
import { decidedOn, keep, knownAnswers, now } from "./storage.js";

/** @type {Map<string, Record<string, number>>} Renamings of this page: the version that each judgment had before. */
const renamings = new Map();

/**
 * @param {number} number
 * @param {number} [changed]
 */
export function classesOf(number, changed = 0) {
  const { answers, question } = questionOf(number);
  const noted = knownAnswers().filter((known) => known.question === question.id).map((known) => known.answer);
  const developed = [...new Set([...answers, ...noted])];
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { name } of right(number)) counts.set(name, (counts.get(name) ?? 0) + 1);
  const own = [...counts.keys()].filter((name) => !developed.includes(name)).sort((a, b) => a.localeCompare(b));
  const classes = [
    ...developed.map((name) => ({ name, developed: true, items: counts.get(name) ?? 0 })),
    ...own.map((name) => ({ name, developed: false, items: counts.get(name) ?? 0 })),
  ];
  return { classes, changed };
}

/**
 * @param {number} number
 * @param {{key: string, before: string, after: string}} sent
 */
export function rename(number, { key, before, after }) {
  const name = after.trim();
  if (!name) throw new ApiError(422, "Enter a name for the answer.");
  const touched = right(number).filter((judged) => judged.name === before);
  if (touched.length === 0) throw new ApiError(409, `There is no answer “${before}” any more.`);
  const decided = decidedOn(number);
  const at = now();
  for (const { place } of touched) {
    const history = decided[place];
    decided[place] = [...history, [{ ...history[history.length - 1][0], answer: name }, at]];
  }
  renamings.set(key, Object.fromEntries(touched.map(({ place }) => [place, decided[place].length - 1])));
  keep(number, decided);
  return classesOf(number, touched.length);
}

/**
 * Take a renaming back, where its judgments have not been changed since.
 * @param {number} number
 * @param {{of: string}} sent
 */
export function takeBackRenaming(number, { of }) {
  const before = renamings.get(of);
  if (!before) throw new ApiError(422, "There is no such change of answers.");
  const decided = decidedOn(number);
  const places = Object.keys(before);
  if (places.some((place) => decided[place]?.length !== before[place] + 1)) {
    throw new ApiError(409, "Judgments of this answer were changed since; rename it by hand.");
  }
  const at = now();
  for (const place of places) decided[place] = [...decided[place], [decided[place][before[place] - 1][0], at]];
  renamings.delete(of);
  keep(number, decided);
  return classesOf(number, places.length);
}

/**
 * The elements judged correct, each with its class: the one it was given, else its own string.
 * @param {number} number
 */
function right(number) {
  const decided = decidedOn(number);
  const judgedRight = [];
  for (const item of questionOf(number).items) {
    if (item.kind !== "list") continue;
    for (const { part } of item.parts) {
      const place = `${item.id}/${part}`;
      const verdict = decided[place]?.at(-1)?.[0];
      if (verdict?.judgment === "R") judgedRight.push({ place, name: String(verdict.answer ?? item.body.elements[Number(part)].text) });
    }
  }
  return judgedRight;
}
