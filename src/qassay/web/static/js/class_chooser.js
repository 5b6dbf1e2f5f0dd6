// Choosing the class of a right answer: typing filters the known ones, Enter accepts, a new one is a line like the others.
import { h } from "./dom.js";
import { Choices } from "./choices.js";

/** @typedef {{name: string, developed: boolean, items: number}} KnownClass */

const LONGEST = 500;
const SHOWN = 60;
// Words that two names have to share, of the shorter one's, to be taken for one.
const SIMILAR = 0.66;

/**
 * A name without what does not matter: case, accents, punctuation, a leading article.
 * @param {string} name
 */
export function plain(name) {
  const bare = name.normalize("NFKD").replace(/\p{M}+/gu, "").toLowerCase();
  return bare.replace(/[^\p{L}\p{N}]+/gu, " ").trim().replace(/^(?:the|a|an) /, "");
}

/**
 * How much two names have in common: 2 where they are the same but for writing, else the words that they share, of the
 * shorter one's.
 * @param {string} name
 * @param {string} other
 */
export function likeness(name, other) {
  const [first, second] = [plain(name), plain(other)];
  if (first === second) return 2;
  const [a, b] = [new Set(first.split(" ")), new Set(second.split(" "))];
  const shared = [...a].filter((word) => word !== "" && b.has(word)).length;
  // The longer name breaks ties: of two that contain all words, the shorter is nearer.
  return shared / Math.min(a.size, b.size) - 0.001 * Math.abs(a.size - b.size);
}

/**
 * The known class that a string most likely belongs to.
 * @param {string} text
 * @param {KnownClass[]} classes
 * @returns {string | null}
 */
export function likely(text, classes) {
  const exact = classes.find((known) => known.name === text);
  if (exact) return exact.name;
  const ranked = classes.map((known) => ({ name: known.name, like: likeness(text.slice(0, 2000), known.name) }));
  ranked.sort((a, b) => b.like - a.like);
  return ranked.length && ranked[0].like >= SIMILAR ? ranked[0].name : null;
}

/**
 * @param {object} options
 * @param {string} options.label
 * @param {string} options.text  What a new class is called unless something else is typed.
 * @param {string | null} options.chosen  The class that is offered first.
 * @param {KnownClass[]} options.classes
 * @param {string} options.fresh  How a new name is announced: "New answer".
 * @param {string} options.known  How a known one is: "Same as".
 * @param {(name: string) => void} options.choose
 * @param {() => void} options.cancel
 */
export function classChooser(options) {
  const own = options.text.trim().slice(0, LONGEST);
  const field = h("input", {
    type: "text",
    role: "combobox",
    maxlength: String(LONGEST),
    value: own,
    dir: "auto",
    autocomplete: "off",
    spellcheck: "false",
    "aria-autocomplete": "list",
    "aria-expanded": "true",
    "aria-label": options.label,
  });
  /** @type {string[]} */
  let names = [];
  const list = new Choices(options.label, { pick: (index) => options.choose(names[index]) });
  list.element.tabIndex = -1;
  list.element.id = `${list.name}-list`;
  field.setAttribute("aria-controls", list.element.id);

  /** @param {boolean} typed */
  const draw = (typed) => {
    const typedName = field.value.trim();
    const wanted = plain(typedName);
    const matching = options.classes
      .filter((candidate) => !typed || wanted === "" || plain(candidate.name).includes(wanted))
      .map((candidate) => ({ candidate, like: likeness(own, candidate.name) }))
      .sort((a, b) => b.like - a.like)
      .slice(0, SHOWN)
      .map(({ candidate }) => candidate);
    const known = options.classes.some((offered) => offered.name === typedName);
    const fresh = typedName && !known ? [{ name: typedName, developed: false, items: -1 }] : [];
    const best = typed ? (known ? typedName : null) : options.chosen;
    const lines = best === null ? [...fresh, ...matching] : [...matching, ...fresh];
    names = lines.map((offered) => offered.name);
    list.show(lines.map((offered) => line(offered, options)));
    list.go(Math.max(0, best === null ? 0 : names.indexOf(best)));
    field.setAttribute("aria-activedescendant", `${list.name}-${list.at}`);
  };

  field.addEventListener("input", () => draw(true));
  field.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      list.move(event.key === "ArrowDown" ? 1 : -1);
      field.setAttribute("aria-activedescendant", `${list.name}-${list.at}`);
    } else if (event.key === "Enter") {
      if (names[list.at]) options.choose(names[list.at]);
    } else if (event.key === "Escape") options.cancel();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  draw(false);
  const element = h("div", { class: "chooser" }, h("p", { class: "chooser-label" }, options.label), field, list.element);
  return {
    element,
    focus: () => {
      field.focus({ preventScroll: true });
      field.select();
      list.reveal();
    },
  };
}

/**
 * @param {KnownClass} known
 * @param {{fresh: string, known: string}} words
 */
function line(known, words) {
  const fresh = known.items < 0;
  return h(
    "li",
    { class: fresh ? "fresh" : null },
    h("span", { class: "faint small" }, fresh ? words.fresh : words.known),
    " ",
    h("bdi", null, known.name),
    known.developed ? h("span", { class: "badge accent" }, "known") : null,
  );
}
