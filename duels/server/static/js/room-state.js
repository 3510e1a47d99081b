// The state of a match in the client, updated by messages. Pure: a message that is received twice changes
// nothing.

/** @typedef {import('./protocol.js').Message} Message */
/** @typedef {import('./protocol.js').Match} Match */
/** @typedef {import('./protocol.js').Update} Update */
/** @typedef {import('./wire.js').Entry} Entry */
/** @typedef {import('./wire.js').Caption} Caption */
/** @typedef {import('./wire.js').Seat} Seat */
/** @typedef {import('./wire.js').View} View */
/**
 * @typedef {object} Room
 * @property {import('./connection.js').ConnectionState} connection
 * @property {string} reason why the connection was refused
 * @property {Match | null} match
 * @property {import('./wire.js').View | null} view
 * @property {Seat[]} toMove
 * @property {Entry[]} events
 * @property {Caption[]} captions of the events
 * @property {number} moment how many entries of the log are known
 * @property {number} heard when the view was received, by the clock of this machine, in milliseconds
 * @property {number} skew seconds by which the server's clock is ahead
 * @property {import('./wire.js').Part[] | null} revealed the table with all hands open, after the end
 * @property {Seat[]} online
 * @property {number} spectators
 * @property {{ player: Seat, at: number } | null} claim
 * @property {Seat[]} rematchOffers
 * @property {string | null} rematch
 * @property {{ id: number, player: Seat | null, reaction: string } | null} reaction
 * @property {{ wrong: string, note: string }} dice an error message about the dice, and a note
 * @property {boolean} caughtUp whether the last update followed another, so that its events have just happened
 */

/** @type {Room} */
export const EMPTY = {
  connection: 'connecting', reason: '', match: null, view: null, toMove: [], events: [], captions: [],
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
    case 'answer': return message.events ? withEarlier(room, message.events, message.captions ?? []) : room;
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
  const behind = update.moment < room.moment; // an older version of the match was restored
  // An update of a long match may leave out earlier events: the log then starts again.
  const known = behind || update.since > room.moment ? EMPTY : room;
  const next = (known.events.at(-1)?.number ?? update.since - 1) + 1;
  const events = known.events.concat(update.events.filter((entry) => entry.number >= next));
  const told = known.captions.at(-1)?.number ?? -1;
  const captions = known.captions.concat(update.captions.filter((caption) => caption.number > told));
  const revealed = update.revealed ?? null;
  return {
    ...room,
    events,
    captions,
    view: update.view ?? changed(room.view, update),
    match: revealed?.match ?? room.match,
    revealed: revealed?.table ?? room.revealed,
    toMove: update.to_move ?? room.match?.to_move ?? [],
    moment: update.moment,
    heard: Date.now(),
    skew: update.now - Date.now() / 1000,
    caughtUp: room.view !== null,
  };
}

/**
 * A view with the changes of an update.
 * @param {View | null} view @param {Update} update @returns {View | null}
 */
function changed(view, { changes = {}, moment }) {
  if (view === null) return null;
  const { table: parts = view.table, observation, ...fields } = changes;
  const table = Array.isArray(parts) ? parts : view.table.map((part) => parts[part.id] ?? part);
  const seen = { ...view.observation, fields: { ...view.observation.fields, ...observation } };
  return { ...view, ...fields, table, observation: seen, moment };
}

/** The number of the first event in the log; earlier ones can be requested. @param {Room} room */
export function firstNumber(room) {
  return room.events[0]?.number ?? 0;
}

/** Add a page of earlier events. @param {Room} room @param {Entry[]} events @param {Caption[]} captions @returns {Room} */
function withEarlier(room, events, captions) {
  if ((events.at(-1)?.number ?? -1) + 1 !== firstNumber(room)) return room;
  return { ...room, events: events.concat(room.events), captions: captions.concat(room.captions) };
}

/** The number of the last chance event; -1 if there is none. @param {Entry[]} events */
export function lastChance(events) {
  return events.reduce((last, entry) => (entry.type === 'chance' ? entry.number : last), -1);
}

/**
 * The faces of the sealed choices that were revealed last, and the number of the event; none if the
 * event was undone.
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
