// Dialogs that ask for something: one promise each, the answer or nothing.
import { h } from "./dom.js";

/**
 * Ask with a form. Enter in a field agrees, Escape does not.
 *
 * @param {string} title
 * @param {(Node | string | null)[]} fields
 * @param {string} yes  What the button that agrees says.
 * @returns {Promise<boolean>}
 */
export function ask(title, fields, yes) {
  return new Promise((resolve) => {
    const before = document.activeElement;
    const agree = h("button", { type: "submit", class: "primary", value: "yes" }, yes);
    const form = h(
      "form",
      { method: "dialog" },
      h("h2", { id: "ask-title", class: "dialog-title" }, title),
      fields,
      h("div", { class: "row end" }, h("button", { type: "button", onclick: () => dialog.close("") }, "Cancel"), agree),
    );
    const dialog = h("dialog", { "aria-labelledby": "ask-title" }, form);
    form.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing || !(event.target instanceof HTMLTextAreaElement)) return;
      event.preventDefault();
      form.requestSubmit(agree);
    });
    dialog.addEventListener("close", () => {
      const agreed = dialog.returnValue === "yes";
      dialog.remove();
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
      resolve(agreed);
    });
    document.body.append(dialog);
    dialog.showModal();
    const first = form.querySelector("textarea, input, select");
    if (first instanceof HTMLElement) first.focus();
    if (first instanceof HTMLTextAreaElement) first.select();
  });
}

/**
 * Show something until it is closed.
 *
 * @param {string} title
 * @param {(Node | string | null)[]} content
 */
export function tell(title, content) {
  const before = document.activeElement;
  const close = h("button", { type: "button", class: "primary", onclick: () => dialog.close() }, "Close");
  const dialog = h(
    "dialog",
    { "aria-labelledby": "tell-title" },
    h("h2", { id: "tell-title", class: "dialog-title" }, title),
    content,
    h("div", { class: "row end" }, close),
  );
  dialog.addEventListener("close", () => {
    dialog.remove();
    if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
  });
  document.body.append(dialog);
  dialog.showModal();
  close.focus();
}

/**
 * One of several ways, each a button.
 *
 * @param {string} title
 * @param {string} text
 * @param {{value: string, label: string, more: string}[]} ways
 * @returns {Promise<string | null>}
 */
export function choose(title, text, ways) {
  return new Promise((resolve) => {
    const before = document.activeElement;
    const buttons = ways.map((way) =>
      h(
        "button",
        { type: "button", class: "way", onclick: () => dialog.close(way.value) },
        h("strong", null, way.label),
        h("span", { class: "faint small" }, way.more),
      ),
    );
    const dialog = h(
      "dialog",
      { "aria-labelledby": "choose-title" },
      h("h2", { id: "choose-title", class: "dialog-title" }, title),
      h("p", null, text),
      h("div", { class: "ways" }, buttons),
      h("div", { class: "row end" }, h("button", { type: "button", onclick: () => dialog.close("") }, "Cancel")),
    );
    dialog.addEventListener("keydown", (event) => {
      const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      const at = buttons.findIndex((button) => button === document.activeElement);
      if (by === undefined || at < 0) return;
      event.preventDefault();
      buttons[(at + by + buttons.length) % buttons.length].focus();
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
      resolve(dialog.returnValue || null);
    });
    document.body.append(dialog);
    dialog.showModal();
    buttons[0]?.focus();
  });
}
