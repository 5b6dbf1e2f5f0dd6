// What is told once: a token, or a one-time link. It is shown in a dialog; the page is loaded anew after it.
import { h } from "./dom.js";

/**
 * @param {string} title
 * @param {string} secret
 * @param {string} hint
 */
function tell(title, secret, hint) {
  const dialog = h(
    "dialog",
    { "aria-labelledby": "secret-title" },
    h("h2", { id: "secret-title" }, title),
    h("code", { class: "secret", id: "secret", tabindex: "0" }, secret),
    h("p", { class: "hint" }, hint),
    h(
      "div",
      { class: "row end" },
      h("button", { type: "button", dataset: { copy: "#secret" } }, "Copy"),
      h("button", { type: "button", class: "primary", onclick: () => dialog.close() }, "I have it"),
    ),
  );
  dialog.addEventListener("close", () => location.reload());
  document.body.append(dialog);
  dialog.showModal();
}

document.addEventListener("done", (event) => {
  if (!(event instanceof CustomEvent)) return;
  const { token, link, name, role } = event.detail;
  if (token) tell("The token", token, "It is shown only now. Keep it as you would keep a password.");
  else if (link && role === "reset") tell(`A new password for ${name}`, link, "Hand this link on. It works once, for a day.");
  else if (link) tell(`The invitation${name ? ` for ${name}` : ""}`, link, "Hand this link on. It works once, and is shown only now.");
});
