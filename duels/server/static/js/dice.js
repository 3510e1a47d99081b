// The client's side of the commitment scheme (docs/reference/dice.md): commits, reveals, and checks the server.
// duels/core/commitment_client.py is the same for terminals and bots.

import { get } from './api.js';
import { check, nonceHash } from './fair.js';
import { saveItem, loadObject, randomHex } from './store.js';

/** @typedef {import('./protocol.js').Match} Match */
/**
 * @typedef {object} Known the stored state of the scheme for one seat of a match
 * @property {string} commitment
 * @property {string} nonce
 * @property {(string | null)[]} hashes received so far
 * @property {string[]} sent of "commit" and "reveal"
 * @property {string[]} granted
 * @property {boolean} random whether the seed decides which player starts
 */

/** The server has contradicted itself or violated the scheme. */
export class Unfair extends Error {}

/** @param {Match} match */
const begins = (match) => match.state === 'waiting' || match.state === 'starting';

/** The initial state for a seat without a hash; null if this client has no such seat. @param {Match} match @returns {Known | null} */
export function newShare(match) {
  if (!match.you || !begins(match) || match.hashes[match.you - 1] !== null) return null;
  if (!/^[0-9a-f]{64}$/.test(match.commitment ?? '')) throw new Unfair('The server has not committed to a secret.');
  return {
    commitment: match.commitment ?? '', nonce: randomHex(16), hashes: [null, null], sent: [], granted: [],
    random: match.game.options.first === 'random',
  };
}

/**
 * Process a match received from the server; returns the new state, and the command to send.
 * @param {Known} known @param {Match} match
 * @returns {{ known: Known, send: { type: 'commit' | 'reveal', fields: Record<string, string> } | null }}
 */
export function see(known, match) {
  const own = /** @type {number} */ (match.you) - 1;
  const mine = nonceHash(match.id, own, known.commitment, known.nonce);
  if (match.commitment !== known.commitment) throw new Unfair('The server has changed its commitment.');
  known.hashes.forEach((hash, seat) => {
    // Hashes may be added until the nonce is sent, and none after that.
    if (match.hashes[seat] !== hash && (hash !== null || known.sent.includes('reveal'))) {
      throw new Unfair(`The server has changed the hash of Player ${seat + 1}.`);
    }
  });
  if (match.hashes[own] !== null && match.hashes[own] !== mine) {
    throw new Unfair('The server has a hash for your seat that this browser did not give. If you have not opened the match elsewhere, its dice cannot be trusted.');
  }
  const now = { ...known, hashes: match.hashes };
  if (match.state === 'playing' || match.state === 'over') {
    if (!match.nonces || (match.nonces.includes(null) && match.state !== 'over')) {
      throw new Unfair('The server has begun the match without the nonces of both players.');
    }
    checkNonces(now, match, own);
  }
  if (match.state === 'closed' && known.granted.includes('reveal')) {
    throw new Unfair('The server has closed the match after it received your nonce. It should have been played, or forfeited by the player who withheld a nonce.');
  }
  if (!begins(match)) return { known: now, send: null };
  const step = (/** @type {'commit' | 'reveal'} */ type, /** @type {Record<string, string>} */ fields) => (
    { known: { ...now, sent: [...new Set([...now.sent, type])] }, send: { type, fields } });
  if (match.hashes[own] === null) return step('commit', { hash: mine });
  const complete = match.seats.every((seat, n) => seat && (seat.kind === 'computer' || match.hashes[n] !== null));
  const given = match.revealed.some((player) => player === match.you);
  return complete && !given ? step('reveal', { nonce: known.nonce }) : { known: now, send: null };
}

/** @param {Known} known @param {Match} match @param {number} own */
function checkNonces(known, match, own) {
  const nonces = /** @type {(string | null)[]} */ (match.nonces);
  const [mine, theirs, hash] = [nonces[own], nonces[1 - own], known.hashes[1 - own]];
  if (mine !== known.nonce && (mine !== null || known.granted.includes('reveal'))) {
    throw new Unfair('The server has a different nonce for your seat from the one you revealed.');
  }
  const fits = hash === null ? theirs === '' : theirs === null || nonceHash(match.id, 1 - own, known.commitment, theirs) === hash;
  if (!fits) throw new Unfair(`The nonce of Player ${2 - own} does not match the hash sent before.`);
}

/** @param {Match} match */
const nameOf = (match) => `duels.dice.${match.id}.${match.you}`;

/** The stored state for a match; null if this client has committed to no nonce. @param {Match} match @returns {Known | null} */
export function known(match) {
  const known = loadObject(nameOf(match));
  const whole = known && [known.hashes, known.sent, known.granted].every(Array.isArray) && typeof known.nonce === 'string';
  return whole ? known : null;
}

/** Sends the commands of the commitment scheme over a connection when they are due. */
export class Share {
  /** @param {import('./connection.js').Connection} connection */
  constructor(connection) {
    this.connection = connection;
    /** @type {Set<string>} commands that were sent and not yet answered */
    this.sending = new Set();
  }

  /**
   * Process a received match; returns an error message and a note for the player, or empty texts.
   * @param {Match} match
   * @returns {{ wrong: string, note: string }}
   */
  hear(match) {
    if (!match.you) return { wrong: '', note: '' };
    try {
      const before = known(match) ?? newShare(match);
      if (!before) {
        const elsewhere = 'Your share of the dice was given in another browser, which must be open for the match to start. If there is none, the dice cannot be trusted.';
        return { wrong: '', note: match.state === 'starting' ? elsewhere : '' };
      }
      const { known: after, send } = see(before, match);
      saveItem(nameOf(match), JSON.stringify(after));
      if (send && !this.sending.has(send.type)) this.send(match, send.type, send.fields);
    } catch (error) {
      if (error instanceof Unfair) return { wrong: error.message, note: '' };
      throw error;
    }
    return { wrong: '', note: '' };
  }

  /** @param {Match} match @param {'commit' | 'reveal'} type @param {Record<string, string>} fields */
  async send(match, type, fields) {
    this.sending.add(type);
    const answer = await this.connection.command(type, fields);
    if (answer.again && !this.connection.closed) {
      setTimeout(() => this.send(match, type, fields), 1000);
      return;
    }
    this.sending.delete(type);
    const now = known(match);
    if (answer.ok && now) saveItem(nameOf(match), JSON.stringify({ ...now, granted: [...new Set([...now.granted, type])] }));
  }
}

/** Fetch the dice of a finished match and check them. @param {Match} match */
export async function checkDice(match) {
  return check(await get(`/api/matches/${match.id}/fair`), match, known(match));
}
