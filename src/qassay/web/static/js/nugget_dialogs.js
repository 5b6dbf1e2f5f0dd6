// Dialogs to edit, split or merge a nugget, and to choose which responses to look at again.
import { h } from "./dom.js";
import { ask, choose } from "./dialogs.js";

/** @typedef {import("./nugget_list.js").Nugget} Nugget */
/** @typedef {import("./nugget_list.js").NuggetList} NuggetList */

/**
 * Which responses are to be looked at again; undefined where the change is called off.
 * @param {NuggetList} list
 * @param {string} text
 * @param {boolean} [known]  Whether the nugget may be linked already.
 * @returns {Promise<string | null | undefined>}
 */
export async function responsesAgain(list, text, known = true) {
  if (list.lookedThrough === 0) return null;
  const way = await choose(
    "Which responses do you want to look at again?",
    `Responses you finished with the earlier list: ${list.lookedThrough}. The change: “${text}”.`,
    [
      { value: "similar", label: "Those with a similar string", more: "Responses that contain at least half of its words" },
      ...(known ? [{ value: "linked", label: "Those with the changed nugget", more: "Responses that you have linked it in" }] : []),
      { value: "all", label: "All of them", more: "" },
      { value: "none", label: "None", more: "Your matches stay as they are" },
    ],
  );
  return way ?? undefined;
}

/**
 * @param {string} label
 * @param {string} value
 */
function area(label, value) {
  const input = h("textarea", { rows: "3", maxlength: "1000", value, dir: "auto" });
  return { input, field: h("div", { class: "field" }, h("label", null, label, input)) };
}

/**
 * @param {NuggetList} list
 * @param {Nugget} nugget
 */
export async function editNugget(list, nugget) {
  const { input, field: shownField } = area("The fact", nugget.text);
  if (!(await ask("Edit the nugget", [shownField], "Save"))) return;
  const text = input.value.replace(/\s+/g, " ").trim();
  if (!text || text === nugget.text) return;
  const again = await responsesAgain(list, text);
  if (again !== undefined) list.change(nugget, text, nugget.vital, again);
}

/**
 * @param {NuggetList} list
 * @param {Nugget} nugget
 */
export async function splitNugget(list, nugget) {
  const [first, second] = [area("First nugget (keeps the links)", nugget.text), area("Second nugget", "")];
  if (!(await ask("Split the nugget", [first.field, second.field], "Split"))) return;
  const texts = /** @type {[string, string]} */ ([first, second].map(({ input }) => input.value.replace(/\s+/g, " ").trim()));
  if (!texts[0] || !texts[1]) return list.events.complain("To split a nugget, write two texts.");
  const again = await responsesAgain(list, texts.join(" / "));
  if (again !== undefined) list.split(nugget, texts, again);
}

/**
 * @param {NuggetList} list
 * @param {Nugget} nugget
 */
export async function mergeNuggets(list, nugget) {
  const others = list.nuggets.filter((other) => other !== nugget && other.nugget);
  if (!others.length) return list.events.complain("There is no other nugget to merge it with.");
  const select = h("select", null, others.map((other) => h("option", { value: other.nugget }, other.text)));
  const text = area("Text of the merged nugget", `${nugget.text}; ${others[0].text}`);
  select.addEventListener("change", () => {
    const other = others.find((two) => two.nugget === select.value);
    text.input.value = `${nugget.text}; ${other?.text ?? ""}`;
  });
  const fields = [h("div", { class: "field" }, h("label", null, "Merge with", select)), text.field];
  if (!(await ask("Merge two nuggets", fields, "Merge"))) return;
  const other = others.find((two) => two.nugget === select.value);
  const merged = text.input.value.replace(/\s+/g, " ").trim();
  if (!other || !merged) return;
  const again = await responsesAgain(list, merged);
  if (again !== undefined) list.merge(nugget, other, merged, again);
}
