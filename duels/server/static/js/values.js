// Values of positions as text. The API states Player 1's value; pages show it for any player.

/** @typedef {{ value: number | null, exact?: string, standard_error?: number }} Valued */

/** The score of a player. @param {Valued} valued @param {number} player */
export function share({ value }, player) {
  return value === null ? 0 : Math.max(0, Math.min(1, player === 2 ? 1 - value : value));
}

/**
 * A probability with two decimals, never as 0 or 100 % if it is neither.
 * @param {number} part
 */
export function percent(part) {
  const text = (100 * part).toFixed(2);
  if (text === '0.00' && part > 0) return '< 0.01 %';
  if (text === '100.00' && part < 1 - 1e-12) return '> 99.99 %';
  return `${text === '0.00' || text === '100.00' ? text.slice(0, -3) : text} %`;
}

const LONGEST = 24; // characters of a fraction that is shown

/**
 * The fraction or the error of a value in brackets, for a player; empty if neither adds anything.
 * @param {Valued} valued
 * @param {number} [player]
 */
export function exactOf({ exact, standard_error: error }, player = 1) {
  if (error !== undefined) return error ? ` (± ${(196 * error).toFixed(1)} %)` : '';
  if (!exact?.includes('/')) return '';
  const [above, below] = exact.split('/').map(BigInt);
  const text = `${player === 2 ? below - above : above}/${below}`;
  return text.length > LONGEST ? '' : ` (${text})`;
}
