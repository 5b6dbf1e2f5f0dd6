// What every page does.
import { takeOver } from "./forms.js";
import { listen } from "./keys.js";

listen();
takeOver();

// On a phone the navigation scrolls sideways.
document.querySelector(".places [aria-current]")?.scrollIntoView({ inline: "nearest", block: "nearest" });

// Times are written in UTC; people read them in their own zone: <time datetime="...">.
for (const time of document.querySelectorAll("time[datetime]")) {
  const moment = new Date(time.getAttribute("datetime") ?? "");
  if (Number.isNaN(moment.getTime())) continue;
  time.textContent = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" }).format(moment);
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
