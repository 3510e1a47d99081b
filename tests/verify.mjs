// Checks the dice of records by docs/reference/dice.md alone: node verify.mjs RECORD.json...
// Prints a line for each, what holds or what is wrong, and exits with 1 if one is wrong.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const sha = (text) => createHash('sha256').update(text, 'utf8').digest('hex');
const integer = (text) => BigInt(`0x${sha(text)}`);
const gcd = (one, two) => (two ? gcd(two, one % two) : one);
const fail = (why) => { throw new Error(why); };

/** The n-th outcome of a seed; `tickets` are [outcome, how many], in order. */
function drawn(seed, n, tickets) {
  const common = tickets.map(([, count]) => count).reduce(gcd);
  const parts = tickets.map(([outcome, count]) => [outcome, BigInt(count / common)]);
  const whole = parts.reduce((sum, [, count]) => sum + count, 0n);
  const last = 2n ** 256n - (2n ** 256n % whole);
  for (let attempt = 0; ; attempt += 1) {
    const found = integer(`duels ${seed} ${n} ${attempt}`);
    if (found >= last) continue;
    let ticket = found % whole;
    for (const [outcome, count] of parts) {
      if (ticket < count) return outcome;
      ticket -= count;
    }
  }
}

/** The tickets of a pile of cards: its values in ascending order, each with its number of cards. */
function pile(cards) {
  const values = [...new Set(cards)].sort((one, two) => one - two);
  return values.map((value) => [String(value), cards.filter((card) => card === value).length]);
}

function without(cards, gone) {
  const left = [...cards];
  for (const card of gone) {
    if (!left.includes(card)) fail(`the card ${card} is not there`);
    left.splice(left.indexOf(card), 1);
  }
  return left;
}

const NO_CHANCE = { start: () => null, tickets: () => null, next: (state) => state };

// Each game: its first state, the tickets of the chance event that is due (null if none is), and
// the state after an entry. States are never changed, so that an undo can go back to one.
const GAMES = {
  'digit-duel': NO_CHANCE, 'number-clash': NO_CHANCE, 'number-wars': NO_CHANCE,

  'firewall-breach': {
    start: () => ({ rolling: false }),
    tickets: ({ rolling }) => (rolling ? ['1', '2', '3', '4', '5', '6'].map((face) => [face, 1]) : null),
    next: (state, entry) => ({ rolling: entry.type === 'pick' && Object.values(entry.moves)[0] === 'attack' }),
  },

  'cipher-siege': {
    start({ values, copies, first, hand }) {
      const deck = Array.from({ length: values * copies }, (_, n) => 1 + Math.floor(n / copies));
      return { deck, discard: [], hands: [[], []], mover: first - 1, phase: 'deal', left: 2 * hand };
    },
    tickets({ deck, discard, hands, mover, phase }, options) {
      if (phase === 'swap') return options.swap === 'random' ? pile(hands[1 - mover]) : null;
      if (phase === 'act') return null;
      return deck.length ? pile(deck) : discard.length ? pile(discard) : null;
    },
    next(state, entry) {
      let { deck, discard, hands, mover, phase, left, offered } = state;
      const [word, ...cards] = entry.type === 'chance' ? [entry.outcome] : Object.values(entry.moves ?? { 1: '' })[0].split(' ');
      const mine = (own, theirs = hands[1 - mover]) => (mover === 0 ? [own, theirs] : [theirs, own]);
      const turn = { mover: 1 - mover, phase: 'draw' };
      if (phase === 'swap') {
        const own = [...without(hands[mover], [offered]), Number(word)];
        const theirs = [...without(hands[1 - mover], [Number(word)]), offered];
        return { ...state, hands: mine(own, theirs), ...turn };
      }
      if (entry.type === 'chance') {
        if (!deck.length) [deck, discard] = [discard, []];
        const drew = { ...state, deck: without(deck, [Number(word)]), discard, hands: mine([...hands[mover], Number(word)]) };
        if (phase !== 'deal') return { ...drew, phase: 'act' };
        return { ...drew, left: left - 1, mover: 1 - mover, phase: left > 1 ? 'deal' : 'draw' };
      }
      if (entry.type !== 'pick') return state; // the match is over
      if (word === 'swap') return { ...state, phase: 'swap', offered: Number(cards[0]) };
      const used = cards.map(Number);
      return { ...state, hands: mine(without(hands[mover], used)), discard: [...discard, ...used], ...turn };
    },
  },
};

/** Check every chance event of a record; how many there are. */
function checkEvents({ game, options, seed, entries }) {
  const rules = GAMES[game] ?? fail(`docs/reference/dice.md does not know the game ${game}`);
  const numbers = new Map(); // of chance events, by line
  const before = []; // each entry: the state and the line it was added to
  let [state, line, events] = [rules.start(options), [], 0];
  entries.forEach(({ at, spent, ...entry }, number) => {
    before.push({ state, line });
    const tickets = rules.tickets(state, options);
    if ((entry.type === 'chance') !== (tickets !== null)) fail(`entry ${number}: chance ${tickets ? 'is due' : 'is not due'}`);
    if (entry.type === 'undo') {
      ({ state, line } = before[entry.to] ?? fail(`entry ${number} takes back what is not there`));
      return;
    }
    if (entry.type === 'pause' || entry.type === 'resume') return;
    if (tickets !== null) {
      const place = JSON.stringify(line);
      if (!numbers.has(place)) numbers.set(place, numbers.size + 1);
      const expected = drawn(seed, numbers.get(place), tickets);
      if (expected !== entry.outcome) fail(`entry ${number}: the record has ${entry.outcome}, the seed gives ${expected}`);
      events += 1;
    }
    state = rules.next(state, entry);
    line = [...line, entry];
  });
  return events;
}

/** Check where the seed comes from; what that shows. */
function checkSeed({ id, seed, about: { fair }, options, entries }) {
  if (!fair) return seed === null ? fail('there is no seed') : 'a local seed, of which it is not shown that it was chosen fairly';
  const { commitment, secret, hashes, nonces, first } = fair;
  if (sha(`duels commitment ${secret}`) !== commitment) fail('the secret does not match the commitment');
  hashes?.forEach((hash, seat) => {
    const nonce = nonces[seat];
    if (nonce === null || (nonce === '' && hash === '')) return; // withheld; a computer
    if (!/^[0-9a-f]{32,64}$/.test(nonce)) fail(`the nonce of player ${seat + 1} is none`);
    if (sha(`duels nonce ${id} ${seat + 1} ${commitment} ${nonce}`) !== hash) fail(`the nonce of player ${seat + 1} does not match its hash`);
  });
  if (hashes && nonces.includes(null)) {
    const [{ type, players }] = entries;
    if (seed !== null || entries.length !== 1 || type !== 'forfeit' || nonces[players[0] - 1] !== null) fail('a nonce is missing and its player has not forfeited');
    return 'no seed, as a player forfeited by withholding a nonce';
  }
  if (String(integer(`duels seed ${secret} ${nonces[0]} ${nonces[1]}`)) !== seed) fail('the seed does not follow');
  if (first === 'random' && options.first !== String((integer(`duels ${seed} first 0`) % 2n) + 1n)) fail('who starts does not follow');
  return hashes ? 'a seed from the secret and the nonces, which match their hashes' : 'a seed from the secret and nonces without hashes (weaker: docs/reference/dice.md)';
}

for (const path of process.argv.slice(2)) {
  try {
    const record = JSON.parse(readFileSync(path, 'utf8'));
    const shown = checkSeed(record);
    console.log(`${record.seed === null ? 0 : checkEvents(record)} chance events follow from ${shown}.`);
  } catch (error) {
    console.log(`wrong: ${error.message}`);
    process.exitCode = 1;
  }
}
