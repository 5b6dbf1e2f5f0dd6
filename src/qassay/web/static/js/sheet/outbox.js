// In a sheet the outbox has nobody to send to: a decision is kept in the browser before the next one is shown.
import { ApiError, freshKey } from "../api.js";
import { keepRefusal, refusals, showRefusals } from "../refusals.js";
import { decide, flag, takeBack } from "./local_server.js";
import { isFailing } from "./storage.js";

/**
 * @typedef {import("../outbox.js").PendingSave} PendingSave
 * @typedef {import("../outbox.js").OutboxEvents} OutboxEvents
 */

// Nobody signs in to a sheet.
export const SIGN_IN = "";

export const STATES = {
  saved: "Saved in this browser",
  saving: "Saving…",
  waiting: "Not saved: this browser keeps nothing for this page. Save your judgments to a file before you close it.",
  "signed-out": "",
  refused: "Not everything was saved: see above.",
};

export const AT_THE_END = "Save your judgments to a file and send it to the person who gave you this sheet.";
export const UNSAVED = "not saved";
// Nothing that fails here is tried again.
export const REACHED = "server-reached";

export class Outbox {
  /**
   * @param {string} owner
   * @param {OutboxEvents} events
   */
  constructor(owner, events) {
    this.owner = owner;
    this.events = events;
  }

  /** @returns {PendingSave[]} */
  letters() {
    return [];
  }

  overtookPage() {
    return false;
  }

  /**
   * @param {string} url
   * @param {Record<string, unknown>} body
   * @param {string} [about]
   * @returns {string}
   */
  post(url, body, about) {
    const key = freshKey();
    const letter = { key, url, body: { ...body, key }, at: Date.now(), about };
    const [, , , number, deed] = url.split("/"); // "/api/judge/NUMBER/decisions"
    /** @type {any} */
    const sent = body;
    try {
      const deeds = /** @type {Record<string, (number: number, sent: any) => any>} */ ({ undo: takeBack, flags: flag });
      const answer = (deeds[deed] ?? decide)(Number(number), sent);
      // The workbench first shows what was decided, then hears that it is kept.
      queueMicrotask(() => this.events.delivered(letter, answer));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      queueMicrotask(() => {
        if (!this.events.refused(letter, error.status, error.body ?? { message: error.message })) keepRefusal(this.owner, letter, error.message);
        this.tell();
      });
    }
    this.tell();
    return key;
  }

  async send() {
    this.tell();
  }

  async emptied() {}

  tell() {
    showRefusals(this.owner, () => this.tell());
    this.events.state(isFailing() ? "waiting" : refusals(this.owner).length > 0 ? "refused" : "saved", 0);
  }
}
