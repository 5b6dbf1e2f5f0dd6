// Two decisions on the same item: the saved one and the one made here, for the assessor to choose.

import { h } from "./dom.js";
import { verdictInWords } from "./labels.js";

/** @typedef {import("./supply.js").Verdict} Verdict */

/**
 * @param {{about: string, saved: Verdict | null, mine: Verdict | null, insist: () => void, closed: () => void}} conflict
 *   `insist`: the assessor's own decision is to be used; `closed`: the choice is made, either way.
 */
export function askWhich({ about, saved, mine, insist, closed }) {
  const again = () => {
    insist();
    dialog.close();
  };
  const dialog = h("dialog", { class: "dialog", "aria-labelledby": "conflict-title" },
    h("h2", { id: "conflict-title" }, "Judged elsewhere in the meantime"),
    h("p", { dir: "auto" }, about),
    h("dl", { class: "facts" },
      h("dt", {}, "Saved"), h("dd", {}, verdictInWords(saved)),
      h("dt", {}, "Your decision here"), h("dd", {}, verdictInWords(mine))),
    h("div", { class: "row end" },
      h("button", { type: "button", onclick: () => dialog.close() }, "Keep the saved one"),
      mine ? h("button", { type: "button", class: "primary", onclick: again }, "Use my decision") : null));
  dialog.addEventListener("close", () => {
    dialog.remove();
    closed();
  });
  document.body.append(dialog);
  dialog.showModal();
}
