// Checks the dice of a finished match: recomputes them from the data that the server sends at the end
// (docs/reference/protocol.md), as `duels verify` does.

/** @typedef {import('./protocol.js').Fair} Fair */

/** The first 32 bits of the fractional parts of roots of primes: the constants of SHA-256. */
const PRIMES = Array.from({ length: 312 }, (_, n) => n).filter((n) => n > 1 && !Array.from({ length: n }, (_, d) => d).some((d) => d > 1 && n % d === 0)).slice(0, 64);
const fraction = (/** @type {number} */ x) => ((x - Math.floor(x)) * 2 ** 32) | 0;
const ROUNDS = PRIMES.map((prime) => fraction(Math.cbrt(prime)));
const START = PRIMES.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));

/**
 * SHA-256 of a text, in hexadecimal. The browser's implementation is missing on pages without TLS.
 * @param {string} text
 */
export function sha256(text) {
  const bytes = new TextEncoder().encode(text);
  const padded = new Uint8Array(((bytes.length + 8) >> 6 << 6) + 64);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const words = new DataView(padded.buffer);
  words.setUint32(padded.length - 4, 8 * bytes.length);
  const state = [...START];
  const turn = (/** @type {number} */ x, /** @type {number} */ n) => (x >>> n) | (x << (32 - n));
  for (let block = 0; block < padded.length; block += 64) {
    const w = Array.from({ length: 16 }, (_, n) => words.getInt32(block + 4 * n));
    for (let n = 16; n < 64; n += 1) {
      const [a, b] = [w[n - 15], w[n - 2]];
      w[n] = (w[n - 16] + (turn(a, 7) ^ turn(a, 18) ^ (a >>> 3)) + w[n - 7] + (turn(b, 17) ^ turn(b, 19) ^ (b >>> 10))) | 0;
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let n = 0; n < 64; n += 1) {
      const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + ROUNDS[n] + w[n]) | 0;
      const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [a, b, c, d, e, f, g, h] = [(one + two) | 0, a, b, c, (d + one) | 0, e, f, g];
    }
    [a, b, c, d, e, f, g, h].forEach((value, n) => { state[n] = (state[n] + value) | 0; });
  }
  return state.map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

/** @param {bigint} one @param {bigint} two @returns {bigint} */
const gcd = (one, two) => (two ? gcd(two, one % two) : one);

/** The n-th outcome of a match with this seed: docs/reference/records.md. @param {string} seed @param {number} n @param {[string, number, number][]} odds */
export function drawn(seed, n, odds) {
  const whole = odds.map(([, , below]) => BigInt(below)).reduce((all, one) => (all * one) / gcd(all, one), 1n);
  const span = 2n ** 256n;
  const last = span - (span % whole);
  for (let attempt = 0; ; attempt += 1) {
    const number = BigInt(`0x${sha256(`duels ${seed} ${n} ${attempt}`)}`);
    if (number < last) {
      let ticket = number % whole;
      for (const [outcome, above, below] of odds) {
        ticket -= BigInt(above) * (whole / BigInt(below));
        if (ticket < 0n) return outcome;
      }
      return '';
    }
  }
}

/** @param {number} count */
function drawsWords(count) {
  if (!count) return 'Nothing in this match was left to chance.';
  return count === 1 ? 'The only roll, deal or draw follows from the seed.' : `All ${count} rolls, deals and draws follow from the seed.`;
}

/** The hash by which a seat, 0 or 1, commits to a nonce. @param {string} match @param {number} seat @param {string} commitment @param {string} nonce */
export function nonceHash(match, seat, commitment, nonce) {
  return sha256(`duels nonce ${match} ${seat + 1} ${commitment} ${nonce}`);
}

/**
 * The checks and their results; null for a check that is not possible for this match.
 * @param {Fair} fair
 * @param {import('./protocol.js').Match} match
 * @param {import('./dice.js').Known | null} own the stored state of this client
 * @returns {{ what: string, holds: boolean | null }[]}
 */
export function check(fair, match, own) {
  /** @type {{ what: string, holds: boolean | null }[]} */
  const found = [
    { what: 'The secret is the one that was committed to before the start.', holds: sha256(`duels commitment ${fair.secret}`) === fair.commitment },
  ];
  fair.hashes?.forEach((hash, seat) => {
    const nonce = fair.nonces[seat];
    if (!hash && nonce === '') return; // a computer
    if (nonce === null) found.push({ what: `Player ${seat + 1} did not reveal a nonce, and forfeited.`, holds: fair.seed === null });
    else found.push({ what: `The nonce of Player ${seat + 1} matches the hash given before any nonce was revealed.`, holds: nonceHash(match.id, seat, fair.commitment, nonce) === hash });
  });
  if (!fair.hashes) found.push({ what: 'The match has no hashes of the nonces, as it began before protocol 2: it cannot be shown that each nonce was chosen before the other was known.', holds: null });
  if (fair.seed !== null || !fair.hashes) found.push(...checkSeed(fair, match));
  if (own) {
    found.push({ what: 'The commitment is the one this browser was shown.', holds: own.commitment === fair.commitment });
    found.push({ what: 'The hashes are those this browser was shown.', holds: own.hashes.every((hash, seat) => (hash ?? '') === fair.hashes?.[seat]) });
    const mine = fair.nonces[(match.you ?? 1) - 1];
    found.push({ what: 'Your nonce is the one this browser gave.', holds: mine === own.nonce || (mine === null && !own.granted.includes('reveal')) });
    found.push({ what: 'The starting player was decided as agreed when you joined.', holds: own.random === (fair.first === 'random') });
  } else if (match.you) found.push({ what: 'This browser gave no share of these dice, so it cannot tell whether they were agreed on before the match.', holds: null });
  return found;
}

/** @param {Fair} fair @param {import('./protocol.js').Match} match @returns {{ what: string, holds: boolean }[]} */
function checkSeed(fair, match) {
  const seed = BigInt(`0x${sha256(`duels seed ${fair.secret} ${fair.nonces[0]} ${fair.nonces[1]}`)}`).toString();
  const wrong = fair.draws.filter((draw) => drawn(seed, draw.n, draw.odds) !== draw.outcome);
  const found = [
    { what: 'The seed follows from the secret and the nonces.', holds: seed === fair.seed },
    { what: drawsWords(fair.draws.length), holds: !wrong.length },
  ];
  if (fair.first === 'random') {
    const first = BigInt(`0x${sha256(`duels ${seed} first 0`)}`) % 2n;
    found.push({ what: 'The starting player follows from the seed.', holds: match.game.options.first === String(first + 1n) });
  }
  return found;
}
