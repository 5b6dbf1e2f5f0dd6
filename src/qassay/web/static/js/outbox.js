// The outbox: decisions on their way to the server, in order, one at a time. It lives in the browser's storage, so that
// nothing is lost when the server is away, the page is left or the machine goes down; every decision carries its own key,
// so that one that is sent twice counts once.

import { freshKey } from "./api.js";
import { keepRefusal, placeOfRefusals, refusals, showRefusals } from "./refusals.js";
import { recall, remember } from "./remembered.js";

/**
 * @typedef {{key: string, url: string, body: Record<string, unknown>, at: number, about?: string}} PendingSave  `about`: its question.
 * @typedef {"saved" | "saving" | "waiting" | "signed-out" | "refused"} OutboxState
 * @typedef {object} OutboxEvents
 * @property {(state: OutboxState, waiting: number) => void} state  What the page says of the saves.
 * @property {(letter: PendingSave, answer: any) => void} delivered
 * @property {(letter: PendingSave, status: number, answer: any) => boolean} refused  The server said no: it will never be taken.
 *   Whether the page asks what to do; else the refusal is shown until somebody has seen it.
 */

// The words that lead to the page for it.
export const SIGN_IN = "Sign in again";
// What a page says of each state.
export const STATES = {
  saved: "Saved",
  saving: "Saving…",
  waiting: "Not saved: the server cannot be reached. Your decisions are kept here and sent later.",
  "signed-out": `Not saved: you are signed out. ${SIGN_IN} in another tab; your decisions are kept here.`,
  refused: "Not everything was saved: see above.",
};
// The event after which something that failed is tried again: the server answers as it did before.
export const REACHED = "server-reached";
// What is left to do when everything is judged.
export const AT_THE_END = "";
// What became of a decision that cannot be sent yet.
export const UNSAVED = "kept here, not saved yet";
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 15_000;

export class Outbox {
  /**
   * @param {string} owner  The account whose decisions these are: another who signs in here never sends them.
   * @param {OutboxEvents} events
   */
  constructor(owner, events) {
    this.owner = owner;
    this.place = `qassay-outbox-${owner}`;
    this.arrived = `qassay-arrived-${owner}`; // when the last decision arrived
    this.events = events;
    this.pause = FIRST_PAUSE;
    this.sending = false;
    this.timer = 0;
    this.signedOut = false;
    addEventListener("online", () => this.send());
    addEventListener("storage", ({ key }) => [this.place, placeOfRefusals(owner)].includes(key ?? "") && this.tell());
    addEventListener("beforeunload", (event) => {
      if (this.letters().length > 0 && !this.sending) event.preventDefault();
    });
  }

  /** @returns {PendingSave[]} */
  letters() {
    return recall(this.place);
  }

  /**
   * Keep a decision and send it as soon as its turn comes.
   * @param {string} url
   * @param {Record<string, unknown>} body
   * @param {string} [about]  The question that it is about.
   * @returns {string} Its key.
   */
  post(url, body, about) {
    const key = freshKey();
    const letter = { key, url, body: { ...body, key }, at: Date.now(), about };
    remember(this.place, [...this.letters(), letter]);
    this.tell();
    void this.send();
    return key;
  }

  /** Send what is waiting, oldest first. Of several tabs one sends at a time. */
  async send() {
    if (this.sending) return;
    this.sending = true;
    clearTimeout(this.timer);
    try {
      if (navigator.locks) await navigator.locks.request(this.place, () => this.deliver());
      else await this.deliver();
    } finally {
      this.sending = false;
      this.tell();
    }
  }

  async deliver() {
    for (let letter = this.letters()[0]; letter; letter = this.letters()[0]) {
      this.tell();
      const answer = await this.request(letter);
      if (answer === null) return;
      this.drop(letter);
      if (this.pause > FIRST_PAUSE) dispatchEvent(new Event(REACHED));
      this.pause = FIRST_PAUSE;
      if (answer.status < 300) this.events.delivered(letter, answer.body);
      else if (!this.events.refused(letter, answer.status, answer.body)) {
        keepRefusal(this.owner, letter, answer.body?.message ?? `the server refused it (${answer.status})`);
      }
    }
  }

  /**
   * @param {PendingSave} letter
   * @returns {Promise<{status: number, body: any} | null>} Nothing where it has to be tried again.
   */
  async request(letter) {
    try {
      const response = await fetch(letter.url, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(letter.body),
        credentials: "same-origin",
        signal: AbortSignal.timeout(20_000),
      });
      this.signedOut = response.status === 401;
      if (response.status >= 500 || response.status === 429 || response.status === 401) {
        this.later();
        return null;
      }
      return { status: response.status, body: await response.json().catch(() => null) };
    } catch {
      this.later();
      return null;
    }
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.send(), this.pause);
    this.pause = Math.min(this.pause * 2, LONGEST_PAUSE);
  }

  /** Wait until nothing is on its way; where the server is away, for as long as that takes. */
  async emptied() {
    while (this.letters().length > 0) {
      void this.send();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** @param {PendingSave} letter */
  drop(letter) {
    remember(this.place, this.letters().filter((waiting) => waiting.key !== letter.key));
    remember(this.arrived, [Date.now()]);
  }

  /** Whether a decision has arrived since this page was asked for: the page may have been made before that. */
  overtookPage() {
    return (recall(this.arrived)[0] ?? 0) >= performance.timeOrigin;
  }

  tell() {
    const waiting = this.letters().length;
    /** @type {OutboxState} */
    let state = refusals(this.owner).length > 0 ? "refused" : "saved";
    if (waiting > 0) state = this.signedOut ? "signed-out" : this.pause > FIRST_PAUSE ? "waiting" : "saving";
    showRefusals(this.owner, () => this.tell());
    this.events.state(state, waiting);
  }
}
