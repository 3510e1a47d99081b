// The line to the server of one match: it connects again by itself, goes on where it was, and sends
// what was not answered once more under the same id, so that nothing is done twice.

import { key, newId } from './store.js';

/** @typedef {import('./protocol.js').Frame} Frame */
/** @typedef {import('./protocol.js').Answer} Answer */
/** @typedef {'connecting' | 'live' | 'reconnecting' | 'refused'} LineState */
/**
 * @typedef {object} Hooks
 * @property {(frame: Frame) => void} frame
 * @property {(state: LineState, reason: string) => void} state
 * @property {() => number} since how many entries of the log are known
 */
/** @typedef {{ text: string, settle: (answer: Answer) => void }} Wish */

const PING_EVERY = 10000;
const PATIENCE = 5000; // without an answer for so long, the line is dead
const SHORTEST = 250;
const LONGEST = 5000;

export class Line {
  /** @param {string} id of the match @param {Hooks} hooks */
  constructor(id, hooks) {
    this.id = id;
    this.hooks = hooks;
    /** @type {Map<string, Wish>} what was sent and not answered */
    this.wishes = new Map();
    /** @type {WebSocket | null} */
    this.socket = null;
    this.delay = SHORTEST;
    this.closed = false;
    this.welcomed = false;
    this.timer = 0;
    this.heard = 0;
    /** @type {number | undefined} when something was sent that nothing has answered */
    this.asked = undefined;
    this.pinger = setInterval(() => this.check(), 2000);
    this.wake = () => document.visibilityState === 'visible' && this.hurry();
    addEventListener('online', this.wake);
    document.addEventListener('visibilitychange', this.wake);
    hooks.state('connecting', '');
    this.open();
  }

  open() {
    clearTimeout(this.timer);
    const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
    const socket = new WebSocket(`${scheme}://${location.host}/ws/${this.id}`);
    this.socket = socket;
    this.welcomed = false;
    this.heard = Date.now();
    socket.onopen = () => {
      socket.send(JSON.stringify({ type: 'hello', key: key(), since: this.hooks.since() }));
    };
    socket.onmessage = (message) => socket === this.socket && this.receive(JSON.parse(message.data));
    socket.onclose = () => socket === this.socket && this.lost();
  }

  /** @param {Frame} frame */
  receive(frame) {
    this.heard = Date.now();
    if (frame.type === 'welcome') {
      this.welcomed = true;
      this.delay = SHORTEST;
      for (const wish of this.wishes.values()) this.socket?.send(wish.text);
      this.hooks.frame(frame);
      this.hooks.state('live', '');
      return;
    }
    if (frame.type === 'refusal') {
      this.end();
      this.hooks.state('refused', frame.reason);
      return;
    }
    if (frame.type === 'bye') this.delay = Math.max(SHORTEST, 1000 * frame.after);
    if (frame.type === 'answer') {
      this.wishes.get(frame.id)?.settle(frame);
      this.wishes.delete(frame.id);
    }
    this.hooks.frame(frame);
  }

  lost() {
    this.socket = null;
    if (this.closed) return;
    this.hooks.state('reconnecting', '');
    this.timer = setTimeout(() => this.open(), this.delay * (0.75 + Math.random() / 2));
    this.delay = Math.min(LONGEST, 2 * this.delay);
  }

  /** Someone is waiting: try at once. */
  hurry() {
    if (this.closed) return;
    if (this.socket === null) {
      this.delay = SHORTEST;
      this.open();
    } else if (this.welcomed) this.ping();
  }

  ping() {
    if (this.socket?.readyState === WebSocket.OPEN) {
      this.socket.send(JSON.stringify({ type: 'ping', id: newId() }));
      this.asked ??= Date.now();
    }
  }

  /** A network that went away does not close a line; silence tells. */
  check() {
    const silent = Date.now() - this.heard;
    if (this.asked && this.heard >= this.asked) this.asked = undefined;
    const waiting = this.asked && Date.now() - this.asked > PATIENCE;
    const unopened = this.socket && !this.welcomed && silent > PATIENCE;
    if (waiting || unopened) {
      this.asked = undefined;
      const dead = this.socket;
      this.socket = null;
      dead?.close();
      this.lost();
    } else if (this.welcomed && silent > PING_EVERY) this.ping();
  }

  /**
   * Wish for something, and hear what came of it; however often the line breaks meanwhile.
   * @param {string} type
   * @param {Record<string, unknown>} [fields]
   * @returns {Promise<Answer>}
   */
  wish(type, fields = {}) {
    const id = newId();
    const text = JSON.stringify({ type, id, ...fields });
    return new Promise((settle) => {
      this.wishes.set(id, { text, settle });
      if (this.welcomed && this.socket?.readyState === WebSocket.OPEN) {
        this.socket.send(text);
        this.asked ??= Date.now();
      }
    });
  }

  end() {
    this.closed = true;
    clearInterval(this.pinger);
    clearTimeout(this.timer);
    removeEventListener('online', this.wake);
    document.removeEventListener('visibilitychange', this.wake);
    this.socket?.close();
    this.socket = null;
  }
}
