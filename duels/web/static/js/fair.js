// Were the dice fair? Everything is computed again here, from what the server tells at the end:
// docs/protocol.md says how, `duels verify` does the same.

/** @typedef {import('./protocol.js').Fair} Fair */

/** The first 32 bits of the fractional parts of roots of primes: the constants of SHA-256. */
const PRIMES = Array.from({ length: 312 }, (_, n) => n).filter((n) => n > 1 && !Array.from({ length: n }, (_, d) => d).some((d) => d > 1 && n % d === 0)).slice(0, 64);
const fraction = (/** @type {number} */ x) => ((x - Math.floor(x)) * 2 ** 32) | 0;
const ROUNDS = PRIMES.map((prime) => fraction(Math.cbrt(prime)));
const START = PRIMES.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));

/**
 * SHA-256 of a text, in hexadecimal. The browser's own is missing on pages without TLS.
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

/** The n-th outcome of a match with this seed: docs/records.md. @param {string} seed @param {number} n @param {[string, number, number][]} odds */
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

/**
 * What was checked, and whether it holds.
 * @param {Fair} fair
 * @param {{ commitment: string | null, nonce: string | null, you: number | null }} own what this browser kept
 * @returns {{ what: string, holds: boolean }[]}
 */
export function check(fair, own) {
  const seed = BigInt(`0x${sha256(`duels seed ${fair.secret} ${fair.nonces[0]} ${fair.nonces[1]}`)}`).toString();
  const wrong = fair.draws.filter((draw) => drawn(seed, draw.n, draw.odds) !== draw.outcome);
  const found = [
    { what: 'The secret is the one that was committed to before the start.', holds: sha256(`duels commitment ${fair.secret}`) === fair.commitment },
    { what: 'The seed follows from the secret and both players’ numbers.', holds: seed === fair.seed },
    { what: drawsWords(fair.draws.length), holds: !wrong.length },
  ];
  if (own.commitment) found.push({ what: 'The commitment is the one this browser was shown.', holds: own.commitment === fair.commitment });
  if (own.nonce && own.you) found.push({ what: 'Your number is the one this browser gave.', holds: own.nonce === fair.nonces[own.you - 1] });
  return found;
}
