// A one-time link: its token is in the fragment, which no server sees until it is sent here.
import { ApiError, post } from "./api.js";
import { byId } from "./dom.js";
import { followSignOn } from "./single_sign_on.js";

followSignOn();
const form = byId("welcome", HTMLFormElement);
const offer = byId("offer");
const token = location.hash.slice(1);
// The history of the browser keeps addresses; the token need not be in it.
history.replaceState(null, "", location.pathname);

/** @param {string} message */
function failed(message) {
  offer.textContent = message;
  offer.className = "notice error";
}

async function look() {
  if (!token) {
    failed("This page is reached by a one-time link. Ask an organiser for one.");
    return;
  }
  try {
    const invitation = await post("/welcome/look", { token });
    offer.textContent = invitation.resets
      ? `Set a new password for ${invitation.name}.`
      : `You are invited as ${/^[aeiou]/.test(invitation.role) ? "an" : "a"} ${invitation.role}.`;
    const button = form.querySelector("button");
    if (invitation.resets && password && button) button.textContent = "Set password";
    const name = byId("name", HTMLInputElement);
    if (invitation.name) {
      name.value = invitation.name;
      name.readOnly = true;
    }
    const other = document.getElementById("single-sign-on");
    if (other) other.hidden = invitation.resets;
    for (const field of document.querySelectorAll("input[name=token]")) Reflect.set(field, "value", token);
    form.hidden = false;
    (invitation.name ? document.getElementById("password") : name)?.focus();
  } catch (error) {
    failed(error instanceof ApiError ? error.message : String(error));
  }
}

const again = document.getElementById("again");
const password = document.getElementById("password");
if (again instanceof HTMLInputElement && password instanceof HTMLInputElement) {
  const compare = () => again.setCustomValidity(again.value === password.value ? "" : "The two passwords differ.");
  again.addEventListener("input", compare);
  password.addEventListener("input", compare);
}
void look();
