// What every page does.
import { takeOver } from "./forms.js";
import { listen } from "./keys.js";

listen();
takeOver();

// One menu of the header is open at a time; a click elsewhere or Escape closes it.
const menus = /** @type {NodeListOf<HTMLDetailsElement>} */ (document.querySelectorAll("details.menu"));
document.addEventListener("click", (event) => {
  for (const menu of menus) if (!(event.target instanceof Node && menu.contains(event.target))) menu.open = false;
});
document.addEventListener("keydown", (event) => {
  const open = event.key === "Escape" ? [...menus].find((menu) => menu.open) : undefined;
  if (!open) return;
  open.open = false;
  open.querySelector("summary")?.focus();
});

// Times are written in UTC; people read them in their own zone, in the same format: <time datetime="...">.
for (const time of document.querySelectorAll("time[datetime]")) {
  const moment = new Date(time.getAttribute("datetime") ?? "");
  if (Number.isNaN(moment.getTime())) continue;
  const two = (/** @type {number} */ number) => String(number).padStart(2, "0");
  const day = `${moment.getFullYear()}-${two(moment.getMonth() + 1)}-${two(moment.getDate())}`;
  time.textContent = `${day} ${two(moment.getHours())}:${two(moment.getMinutes())}`;
}

// What is shown once is copied by its button: <button data-copy="#id-of-the-element">.
document.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("button[data-copy]") : null;
  if (!(button instanceof HTMLButtonElement)) return;
  const source = document.querySelector(button.dataset.copy ?? "");
  const label = button.textContent;
  navigator.clipboard?.writeText(source?.textContent ?? "").then(
    () => {
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = label), 2000);
    },
    () => (button.textContent = "Select and copy it by hand"),
  );
});
