// After a match: one sentence about the player's moves, and the change of the rating.

import { html } from './lib.js';
import { get } from './api.js';
import { accuracy, given, mistakes } from './graded.js';
import { useAsked } from './widgets.js';

/** @typedef {import('./protocol.js').Match} Match */
/** @typedef {import('./protocol.js').Analysis} Analysis */
/** @typedef {import('./wire.js').Seat} Seat */

const PATIENCE = [300, 1000, 3000]; // milliseconds between questions for the new rating
const RECENT = 300; // seconds after which a rating may have changed by other matches

/** One sentence about the moves of a player. @param {Analysis} analysis @param {Seat} seat */
export function insight(analysis, seat) {
  const entry = analysis.costliest?.[seat];
  const move = analysis.moves.find((one) => one.entry === entry && one.player === seat);
  if (!move || !move.regret) {
    const words = accuracy(analysis, seat, seat);
    return words === '100 %' ? 'You made no mistake.' : words.endsWith('.') ? words : `Your accuracy was ${words}.`;
  }
  const number = analysis.moves.filter((one) => one.player === seat && one.entry <= move.entry).length;
  return `You gave away ${given(move, analysis)} with choice ${number} by playing ${move.move} instead of ${move.best}.`;
}

/** @param {{ match: Match, seat: Seat }} props */
export function Insight({ match, seat }) {
  const graded = useAsked(() => get(`/api/matches/${match.id}/analysis`), [match.id]);
  if (!graded.data) return html`<p role="status">${graded.error ? '' : 'Your moves are being graded …'}</p>`;
  const count = mistakes(graded.data, seat).length;
  return html`<p role="status">${insight(graded.data, seat)}</p>
    ${count ? html`<p><a class="button" href=${`/match/${match.id}/mistakes`}>Learn from ${count === 1 ? 'your mistake' : `${count} mistakes`}</a></p>` : null}`;
}

/** The player's rating after the match. @param {{ match: Match, seat: Seat, now: number }} props now: of the server */
export function RatingChange({ match, seat, now }) {
  const before = match.seats[seat - 1]?.rating ?? null;
  const recent = match.ended !== null && now - match.ended < RECENT;
  const asked = useAsked(() => (recent ? changed(match.game.slug, before) : Promise.resolve(null)), [match.id, recent]);
  const after = asked.data;
  if (after === null) return null;
  const by = after - (before ?? 1500);
  return html`<p>Rating ${after}${before === null ? ', your first in this game' : ` (${by >= 0 ? '+' : '−'}${Math.abs(by)})`}</p>`;
}

/** The rating once it differs from before; null if it does not change. @param {string} slug @param {number | null} before @returns {Promise<number | null>} */
async function changed(slug, before) {
  for (const wait of PATIENCE) {
    await new Promise((resolve) => { setTimeout(resolve, wait); });
    /** @type {import('./protocol.js').Me} */
    const me = await get('/api/me');
    const found = me.ratings.find((rating) => rating.game === slug)?.rating ?? null;
    if (found !== null && found !== before) return found;
  }
  return null;
}
