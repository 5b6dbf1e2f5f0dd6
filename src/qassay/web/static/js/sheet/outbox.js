// In a sheet the outbox has nobody to send to: a decision is kept in the browser before the next one is shown.
import { ApiError, freshKey } from "../api.js";
import { decide, takeBack } from "./desk.js";
import { isFailing } from "./kept.js";

/**
 * @typedef {import("../outbox.js").Letter} Letter
 * @typedef {import("../outbox.js").OutboxEvents} OutboxEvents
 */

export const STATES = {
  saved: "Saved in this browser",
  saving: "Saving…",
  waiting: "Not saved: this browser keeps nothing for this page. Save your judgments to a file before you close it.",
  "signed-out": "",
};

export class Outbox {
  /**
   * @param {string} owner
   * @param {OutboxEvents} events
   */
  constructor(owner, events) {
    this.owner = owner;
    this.events = events;
  }

  /** @returns {Letter[]} */
  letters() {
    return [];
  }

  /**
   * @param {string} url
   * @param {Record<string, unknown>} body
   * @returns {string}
   */
  post(url, body) {
    const key = freshKey();
    const letter = { key, url, body: { ...body, key }, at: Date.now() };
    const [, , , number, deed] = url.split("/"); // "/api/judge/NUMBER/decisions"
    /** @type {any} */
    const sent = body;
    try {
      const answer = deed === "undo" ? takeBack(Number(number), sent) : decide(Number(number), sent);
      // The workbench first shows what was decided, then hears that it is kept.
      queueMicrotask(() => this.events.delivered(letter, answer));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      queueMicrotask(() => this.events.refused(letter, error.status, error.body ?? { message: error.message }));
    }
    this.tell();
    return key;
  }

  async send() {
    this.tell();
  }

  async emptied() {}

  tell() {
    this.events.state(isFailing() ? "waiting" : "saved", 0);
  }
}
