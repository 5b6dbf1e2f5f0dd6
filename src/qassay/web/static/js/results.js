// A results page whose numbers are being computed: ask how far they are, and load the page again when they are there.
import { ApiError, get } from "./api.js";

const EVERY_MILLISECONDS = 1000;
// When the server is away, it is asked less often.
const AWAY_MILLISECONDS = 5000;

// On a phone the tabs are wider than the page.
const showTab = () => document.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
showTab();
void document.fonts.ready.then(showTab); // the typeface changes the widths

const waiting = document.getElementById("computing");
if (waiting?.dataset.job) void ask(waiting.dataset.job);

/**
 * @param {string} job
 */
async function ask(job) {
  for (;;) {
    let pause = EVERY_MILLISECONDS;
    try {
      const state = await get(`/results/progress/${encodeURIComponent(job)}`);
      if (state.over) {
        leave();
        return;
      }
      show(state);
    } catch (error) {
      if (!(error instanceof ApiError) || !error.away) {
        leave();
        return;
      }
      say("The server cannot be reached; it is asked again.");
      pause = AWAY_MILLISECONDS;
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** Reload the page: with the answer that was waited for, not one that would have to be computed again. */
function leave() {
  const address = new URL(location.href);
  address.searchParams.delete("fresh");
  location.replace(address);
}

/**
 * @param {{waiting: boolean, done: number, total: number}} state
 */
function show(state) {
  const bar = document.getElementById("computing-progress");
  if (bar instanceof HTMLProgressElement && state.total > 0) {
    bar.max = state.total;
    bar.value = state.done;
  }
  const share = state.total > 0 ? `${Math.floor((100 * state.done) / state.total)}%` : "";
  say(state.waiting ? "Waiting for an earlier request." : share);
}

/**
 * @param {string} message
 */
function say(message) {
  const place = document.getElementById("computing-state");
  if (place && place.textContent !== message) place.textContent = message;
}
