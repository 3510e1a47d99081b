// The connection to the server for one match: reconnects automatically, resumes after the last known
// event, and repeats unanswered commands with the same id, so that each is executed once.

import { key, newId } from './store.js';

/** @typedef {import('./protocol.js').Message} Message */
/** @typedef {import('./protocol.js').Answer} Answer */
/** @typedef {'connecting' | 'live' | 'reconnecting' | 'refused'} ConnectionState */
/**
 * @typedef {object} Hooks
 * @property {(message: Message) => void} message
 * @property {(state: ConnectionState, reason: string) => void} state
 * @property {() => number} since how many entries of the log are known
 */
/** @typedef {{ text: string, settle: (answer: Answer) => void }} Command */

const PROTOCOL = 3;
const RELOAD_AGAIN = 60000; // milliseconds
const PING_EVERY = 5000;
const PATIENCE = 4000; // milliseconds without a response after which the connection is lost
const OPENING = 8000; // milliseconds that a new connection may take
const SHORTEST = 250;
const LONGEST = 5000;

export class Connection {
  /** @param {string} id of the match @param {Hooks} hooks */
  constructor(id, hooks) {
    this.id = id;
    this.hooks = hooks;
    /** @type {Map<string, Command>} unanswered commands by id */
    this.commands = new Map();
    /** @type {WebSocket | null} */
    this.socket = null;
    this.delay = SHORTEST;
    this.closed = false;
    this.welcomed = false;
    this.timer = 0;
    this.heard = 0;
    /** @type {number | undefined} when the oldest unanswered message was sent */
    this.asked = undefined;
    this.pinger = setInterval(() => this.check(), 1000);
    this.wake = () => document.visibilityState === 'visible' && this.hurry();
    this.offline = () => this.drop();
    addEventListener('online', this.wake);
    addEventListener('offline', this.offline);
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
      const hello = { type: 'hello', protocol: PROTOCOL, changes: true, captions: true, key: key(), since: this.hooks.since() };
      socket.send(JSON.stringify(hello));
    };
    socket.onmessage = (event) => socket === this.socket && this.receive(JSON.parse(event.data));
    socket.onclose = () => socket === this.socket && this.lost();
  }

  /** @param {Message} message */
  receive(message) {
    this.heard = Date.now();
    if (message.type === 'welcome') {
      this.welcomed = true;
      this.delay = SHORTEST;
      for (const command of this.commands.values()) this.socket?.send(command.text);
      this.hooks.message(message);
      this.hooks.state('live', '');
      return;
    }
    if (message.type === 'refusal') {
      this.end();
      if (message.reload && reloadsOnce()) return;
      this.hooks.state('refused', message.reason);
      return;
    }
    if (message.type === 'bye') this.delay = Math.max(SHORTEST, 1000 * message.after);
    if (message.type === 'answer') {
      this.commands.get(message.id)?.settle(message);
      this.commands.delete(message.id);
    }
    this.hooks.message(message);
  }

  lost() {
    this.socket = null;
    if (this.closed) return;
    this.hooks.state('reconnecting', '');
    this.timer = setTimeout(() => this.open(), this.delay * (0.75 + Math.random() / 2));
    this.delay = Math.min(LONGEST, 2 * this.delay);
  }

  /** Reconnect at once, because the player is waiting. */
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

  /** Give up the connection and make a new one. */
  drop() {
    if (this.closed || this.socket === null) return;
    this.asked = undefined;
    const dead = this.socket;
    this.socket = null;
    dead.close();
    this.lost();
  }

  /** Detect a lost network, which does not close the connection. */
  check() {
    const silent = Date.now() - this.heard;
    if (this.asked && this.heard >= this.asked) this.asked = undefined;
    const waiting = this.asked && Date.now() - this.asked > PATIENCE;
    const unopened = this.socket && !this.welcomed && silent > OPENING;
    if (waiting || unopened) this.drop();
    else if (this.welcomed && silent > PING_EVERY) this.ping();
  }

  /**
   * Send a command and wait for its answer, across reconnections.
   * @param {string} type
   * @param {Record<string, unknown>} [fields]
   * @returns {Promise<Answer>}
   */
  command(type, fields = {}) {
    const id = newId();
    const text = JSON.stringify({ type, id, ...fields });
    return new Promise((settle) => {
      this.commands.set(id, { text, settle });
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
    removeEventListener('offline', this.offline);
    document.removeEventListener('visibilitychange', this.wake);
    this.socket?.close();
    this.socket = null;
  }
}

/**
 * Reload this page, which is of another version than the server; not twice in a row, in case that the
 * reloaded page is of the same version.
 */
function reloadsOnce() {
  const last = Number(sessionStorage.getItem('reloaded') ?? 0);
  if (Date.now() - last < RELOAD_AGAIN) return false;
  sessionStorage.setItem('reloaded', String(Date.now()));
  location.reload();
  return true;
}
