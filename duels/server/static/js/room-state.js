// The state of a match in the client, updated by messages. Pure: a message that is received twice changes
// nothing.

/** @typedef {import('./protocol.js').Message} Message */
/** @typedef {import('./protocol.js').Match} Match */
/** @typedef {import('./protocol.js').Update} Update */
/** @typedef {import('./wire.js').Entry} Entry */
/** @typedef {import('./wire.js').Passage} Passage */
/** @typedef {import('./wire.js').Seat} Seat */
/**
 * @typedef {object} Room
 * @property {import('./connection.js').ConnectionState} connection
 * @property {string} reason why the connection was refused
 * @property {Match | null} match
 * @property {import('./wire.js').View | null} view
 * @property {Seat[]} toMove
 * @property {Entry[]} events
 * @property {Passage[]} passages
 * @property {number} moment how many entries of the log are known
 * @property {number} heard when the view came, by this machine's clock in milliseconds
 * @property {number} skew seconds by which the server's clock is ahead
 * @property {import('./wire.js').Part[] | null} revealed the table with all hands open, after the end
 * @property {Seat[]} online
 * @property {number} spectators
 * @property {{ player: Seat, at: number } | null} claim
 * @property {Seat[]} rematchOffers
 * @property {string | null} rematch
 * @property {{ id: number, player: Seat | null, reaction: string } | null} reaction
 * @property {{ wrong: string, note: string }} dice what is wrong with the dice, and what to know of them
 * @property {boolean} caughtUp whether the last update brought news that were seen as they happened
 */

/** @type {Room} */
export const EMPTY = {
  connection: 'connecting', reason: '', match: null, view: null, toMove: [], events: [], passages: [],
  moment: 0, heard: 0, skew: 0, revealed: null, online: [], spectators: 0, claim: null,
  rematchOffers: [], rematch: null, reaction: null, dice: { wrong: '', note: '' }, caughtUp: false,
};

/** @param {Room} room @param {Message} message @returns {Room} */
export function heard(room, message) {
  switch (message.type) {
    case 'welcome':
      return { ...room, match: message.match, rematch: message.match.rematch, skew: message.now - Date.now() / 1000 };
    case 'match':
      return { ...room, match: message.match, rematch: message.match.rematch ?? room.rematch };
    case 'update': return updated(room, message);
    case 'presence':
      return { ...room, online: message.online, spectators: message.spectators, claim: message.claim };
    case 'rematch':
      return { ...room, rematchOffers: message.offers, rematch: message.match ?? room.rematch };
    case 'reaction': {
      const id = (room.reaction?.id ?? 0) + 1;
      return { ...room, reaction: { id, player: message.player, reaction: message.reaction } };
    }
    default: return room;
  }
}

/** @param {Room} room @param {Update} update @returns {Room} */
function updated(room, update) {
  if (update.moment < room.moment) return room;
  const events = room.events.concat(
    update.events.filter((entry) => entry.number >= room.events.length),
  );
  const passages = room.passages.concat(
    update.passages.filter((passage) => passage.lines.length && !isShown(room.passages, passage)),
  );
  const revealed = update.revealed ?? null;
  return {
    ...room,
    events,
    passages,
    view: update.view,
    match: revealed?.match ?? room.match,
    revealed: revealed?.table ?? room.revealed,
    toMove: update.to_move ?? room.match?.to_move ?? [],
    moment: update.moment,
    heard: Date.now(),
    skew: update.now - Date.now() / 1000,
    caughtUp: room.view !== null,
  };
}

/** @param {Passage[]} passages @param {Passage} passage */
function isShown(passages, passage) {
  return passages.some((known) => known.number === passage.number && known.kind === passage.kind);
}

/** The number of the last event that was left to chance; -1 before there is one. @param {Entry[]} events */
export function lastChance(events) {
  return events.reduce((last, entry) => (entry.type === 'chance' ? entry.number : last), -1);
}

/**
 * The faces of the sealed choices that were turned up last, and by which event; none if that was
 * taken back.
 * @param {Entry[]} events
 * @returns {{ faces: Record<string, string>, turned: number }}
 */
export function turnedUp(events) {
  /** @type {{ faces: Record<string, string>, turned: number }} */
  let last = { faces: {}, turned: -1 };
  for (const { type, moves, number } of events) {
    if (type === 'undo') last = { faces: {}, turned: -1 };
    if (type === 'pick' && moves && Object.keys(moves).length === 2) last = { faces: moves, turned: number };
  }
  return last;
}
