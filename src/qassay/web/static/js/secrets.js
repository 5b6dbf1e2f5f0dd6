// Shown once, in a dialog: a token, or a one-time link. The page is reloaded after it.
import { h } from "./dom.js";

const OWN = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * What to know of a link before it is handed on.
 * @param {string} link
 */
function reach(link) {
  const here = OWN.test(new URL(link, location.href).hostname);
  return here ? " It works on this machine only: the server answers at an address that no other machine reaches." : "";
}

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
      h("button", { type: "button", class: "primary", onclick: () => dialog.close() }, "Done"),
    ),
  );
  dialog.addEventListener("close", () => location.reload());
  document.body.append(dialog);
  dialog.showModal();
}

document.addEventListener("done", (event) => {
  if (!(event instanceof CustomEvent)) return;
  const { token, link, name, role } = event.detail;
  if (token) tell("The token", token, "It is shown only once. Keep it as safe as a password.");
  else if (link && role === "reset") tell(`A new password for ${name}`, link, `Send this link to the person. It works once, for a day.${reach(link)}`);
  else if (link) tell(`The invitation${name ? ` for ${name}` : ""}`, link, `Send this link to the person. It works once, and is shown only now.${reach(link)}`);
});
