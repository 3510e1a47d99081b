// The result of a match, and the actions after it: rematch, replay, new match.

import { html, useEffect, useState } from './lib.js';
import { catalogue, get } from './api.js';
import { checkDice } from './dice.js';
import { go } from './router.js';
import { Copy, Trouble, useAsked } from './widgets.js';

/** @typedef {import('./room-state.js').Room} Room */
/** @typedef {import('./protocol.js').Match} Match */

/** @param {{ room: Room, match: Match, connection: import('./connection.js').Connection }} props */
export function Ended({ room, match, connection }) {
  const [trouble, setTrouble] = useState('');
  const [offered, setOffered] = useState(false);
  const [dice, setDice] = useState(/** @type {{ what: string, holds: boolean | null }[]} */ ([]));
  const [sharing, setSharing] = useState(false);
  // Loaded here, as the first page does not need it. Grades exist where a game is solved at once.
  const [found, setFound] = useState(/** @type {typeof import('./insight.js') | null} */ (null));
  useEffect(() => { import('./insight.js').then(setFound, () => {}); }, []);
  const games = useAsked(() => catalogue(), []);
  const game = games.data?.games.find((one) => one.slug === match.game.slug);
  const solved = game?.levels.includes('perfect') && game.options.every(({ name, default: usual }) => name === 'first' || match.game.options[name] === usual);
  const before = useAsked(() => (match.second && match.before ? get(`/api/matches/${match.before}`) : Promise.resolve(null)), [match.before]);
  const result = room.view?.result ?? match.result;
  useEffect(() => { checkDice(match).then(setDice, () => {}); }, [match.id]);
  useEffect(() => {
    if (room.rematch && offered) go(`/match/${room.rematch}`);
  }, [room.rematch, offered]);
  const rematch = async () => {
    setOffered(true);
    setTrouble('');
    const answer = await connection.command('rematch');
    if (answer.ok) return;
    setOffered(false);
    setTrouble(answer.reason ?? '');
  };
  const other = match.you && room.rematchOffers.some((seat) => seat !== match.you);
  const name = match.you && match.names[2 - match.you];
  return html`<section class=${`ended ${verdict(match.you, result)}`} aria-label="Result">
    <div role="status"><h2>${headline(match, result)}</h2>
    ${match.games === 2 ? html`<p>Game ${match.second ? 2 : 1} of 2. ${before.data ? total(match, result, before.data) : ''}</p>` : null}
    <p class="names">${match.names[0]} against ${match.names[1]}</p>
    <p>${match.outcome?.detail ?? ''}</p></div>
    ${match.you && found ? html`<${found.RatingChange} match=${match} seat=${match.you} now=${Date.now() / 1000 + room.skew} />
      ${solved ? html`<${found.Insight} match=${match} seat=${match.you} />` : null}` : null}
    <p class="buttons">
      ${match.you && !room.rematch && (match.games === 1 || match.second) ? html`<button type="button" class="main" disabled=${offered} onClick=${rematch}>${other ? `Accept ${name}’s rematch` : 'Rematch'}</button>` : null}
      ${room.rematch ? html`<a class="button main" href=${`/match/${room.rematch}`}>${match.games === 2 && !match.second ? 'Play game 2, seats swapped' : 'Go to the rematch'}</a>` : null}
      <a class="button" href=${`/match/${match.id}/replay`}>Replay and analysis</a>
      <a class="button" href=${`/explore/${match.game.slug}`}>Explore the game</a>
      <button type="button" aria-expanded=${String(sharing)} onClick=${() => setSharing(!sharing)}>Share</button>
      <a class="button" href="/">All games</a>
    </p>
    ${sharing ? html`<${Copy} label="Link to this replay" text=${`${location.origin}/match/${match.id}/replay`} />` : null}
    ${offered && !room.rematch ? html`<p role="status">Waiting for ${name} to agree to a rematch with seats swapped …</p>` : null}
    ${dice.filter(({ holds }) => holds === false).map(({ what }) => html`<${Trouble} key=${what}>${`The dice of this match are wrong. This check failed: ${what}`}<//>`)}
    ${dice.filter(({ holds }) => holds === null).map(({ what }) => html`<p key=${what}>${what}</p>`)}
    ${trouble ? html`<${Trouble}>${trouble}<//>` : null}
  </section>`;
}

/** The score of both games. @param {Match} match @param {import('./wire.js').Result | null} result @param {Match} first */
function total(match, result, first) {
  const points = (/** @type {import('./wire.js').Result | null} */ of, /** @type {number} */ seat) => (of?.winner ? Number(of.winner === seat) : 0.5);
  const one = points(result, 1) + points(first.result, 2); // the seats were swapped
  return `Both games: ${match.names[0]} ${one}, ${match.names[1]} ${2 - one}.`;
}

/** @param {number | null} you @param {import('./wire.js').Result | null} result */
function verdict(you, result) {
  if (!result || result.winner === null || !you) return 'even';
  return result.winner === you ? 'won' : 'lost';
}

/** @param {Match} match @param {import('./wire.js').Result | null} result */
function headline(match, result) {
  if (!result || result.winner === null) return 'There is no winner';
  if (match.you) return result.winner === match.you ? 'You have won' : 'You have lost';
  return `${match.names[result.winner - 1]} has won`;
}
