// Doubt: a flag with a reason on the item shown. A flag is not a judgment; flagged items are a list, for the organiser too.

import { announce, h } from "./dom.js";
import { keyFor, register } from "./keys.js";

/**
 * Let the item that is shown be flagged by a key and by the button of the bar; a sheet without flags has neither.
 * @param {import("./workbench.js").Workbench} bench
 */
export function offerFlags(bench) {
  const button = document.getElementById("move-flag");
  if (!bench.sheet.flags || !(button instanceof HTMLButtonElement)) return;
  register("judge.flag", "f", "Flag this item, with a reason", () => ask(bench));
  button.hidden = false;
  button.onclick = () => ask(bench);
  const key = button.querySelector("kbd");
  const tell = () => key && (key.textContent = keyFor("judge.flag"));
  tell();
  addEventListener("shortcuts-changed", tell);
}

/**
 * Say on the button whether the item shown is flagged.
 * @param {import("./supply.js").Sheet} sheet
 * @param {number | undefined} item  Nothing where no item is shown.
 */
export function showFlag(sheet, item) {
  const button = document.getElementById("move-flag");
  const reason = item === undefined ? undefined : sheet.flags?.[item];
  if (!(button instanceof HTMLButtonElement)) return;
  button.disabled = item === undefined;
  button.setAttribute("aria-pressed", String(Boolean(reason)));
  button.title = reason ? `Flagged: ${reason}` : "Flag this item";
  const label = button.querySelector("span");
  if (label) label.textContent = reason ? "Flagged" : "Flag";
}

/** @param {import("./workbench.js").Workbench} bench */
function ask(bench) {
  const { view, sheet } = bench;
  if (!view || !sheet.flags) return;
  const flags = sheet.flags;
  const before = flags[view.id] ?? "";
  const field = h("textarea", { rows: "3", maxlength: "500", value: before, "aria-label": "Reason", dir: "auto" });
  const put = (/** @type {string} */ reason) => {
    if (reason) flags[view.id] = reason;
    else delete flags[view.id];
    bench.outbox.post(`/api/judge/${sheet.assignment}/flags`, { item: view.id, reason }, sheet.question.id);
    showFlag(sheet, view.id);
    announce(reason ? "Flagged." : "Flag removed.");
    dialog.close();
  };
  const form = h("form", { onsubmit: (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    put(field.value.trim() || "not sure");
  } },
    h("p", { class: "faint" }, "What are you not sure of? The organiser sees it. You can still judge the item, now or later."),
    h("div", { class: "field" }, field),
    h("div", { class: "row end" },
      before ? h("button", { type: "button", class: "quiet", onclick: () => put("") }, "Remove flag") : null,
      h("button", { type: "button", onclick: () => dialog.close() }, "Cancel"),
      h("button", { type: "submit", class: "primary" }, "Flag")));
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  const dialog = h("dialog", { class: "dialog", "aria-labelledby": "flag-title" }, h("h2", { id: "flag-title" }, "Flag this item"), form);
  dialog.addEventListener("close", () => {
    dialog.remove();
    bench.stage.focus({ preventScroll: true });
  });
  document.body.append(dialog);
  dialog.showModal();
  field.focus();
}
