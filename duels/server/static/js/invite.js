// The page of a match that has not started: the link to invite a friend, or the free seat to take.

import { html, useEffect, useRef, useState } from './lib.js';
import { get, post } from './api.js';
import { Rules } from './rules.js';
import { Table } from './table.js';
import { Copy, Trouble, apart, seatName, useAsked } from './widgets.js';

/** @typedef {import('./protocol.js').Match} Match */

/** @param {{ match: Match, onMatch: (match: Match) => void }} props */
export function Invite({ match, onMatch }) {
  const [trouble, setTrouble] = useState('');
  const act = (/** @type {string} */ what) => async () => {
    try {
      onMatch(await post(`/api/matches/${match.id}/${what}`));
    } catch (error) {
      setTrouble(/** @type {Error} */ (error).message);
    }
  };
  const host = match.seats.find(Boolean);
  const link = `${location.origin}/match/${match.id}`;
  return html`<div class="invite card-panel">
    ${match.state === 'closed' ? html`<h2>This match was not played</h2><p>${match.reason ?? ''}</p><p><a href="/">All games</a></p>` : null}
    ${match.state === 'starting' ? html`<h2>Starting …</h2><p role="status">Both sides contribute to the dice, so that neither can choose them.${match.reveal_by ? ` A player who has not done so by ${new Date(1000 * match.reveal_by).toLocaleString()} forfeits the match.` : ''}</p>` : null}
    ${match.state === 'waiting' && match.you ? html`
      <h2>Invite a friend</h2>
      <p>The first player to open this link can take the other seat${match.open ? '; the match is also listed as an open challenge' : ''}.</p>
      <${Copy} label="Link to this match" text=${link} />
      <${Qr} text=${link} />
      <p role="status" class="waiting">Waiting for an opponent to join …</p>
      <button type="button" class="plain" onClick=${act('leave')}>Withdraw</button>` : null}
    ${match.state === 'waiting' && !match.you ? html`
      <h2>${host ? apart(host.name) : 'A player'} invites you to ${match.game.title}</h2>
      <p>${host?.player === 1 ? 'You would be Player 2.' : 'You would be Player 1.'} ${timeWords(match.time)}</p>
      <button type="button" class="main" onClick=${act('join')}>Join</button>` : null}
    ${trouble ? html`<${Trouble}>${trouble}<//>` : null}
    ${match.state === 'waiting' ? html`<${Preview} match=${match} />` : null}
    ${match.state === 'waiting' ? html`<details open=${!match.you}><summary>Rules of ${match.game.title}</summary><${Rules} game=${match.game} /></details>` : null}
  </div>`;
}

/** The table at the start of the match. @param {{ match: Match }} props */
function Preview({ match }) {
  const known = Object.entries(match.game.options).filter(([, value]) => value !== 'random');
  const query = new URLSearchParams(known).toString();
  const asked = useAsked(() => get(`/api/games/${encodeURIComponent(match.game.slug)}/rules?${query}`), [query]);
  if (!asked.data?.table) return null;
  return html`<${Table} parts=${asked.data.table} you=${match.you} toMove=${[]} faces=${{}}
    nameOf=${(/** @type {import('./wire.js').Seat} */ seat) => seatName(match, seat)} />`;
}

/** @param {import('./protocol.js').Time | null} time */
export function timeWords(time) {
  if (!time) return 'No clock.';
  const words = [];
  if (time.limit) words.push(`${duration(time.limit)} for each choice`);
  if (time.budget) words.push(`${duration(time.budget)} in all${time.increment ? `, and ${duration(time.increment)} more for each choice` : ''}`);
  return `${words.join(', ')}.`;
}

/** A duration in minutes and seconds. @param {number} seconds */
function duration(seconds) {
  const minutes = Math.floor(seconds / 60);
  const rest = Math.round(10 * (seconds - 60 * minutes)) / 10;
  const count = (/** @type {number} */ n, /** @type {string} */ unit) => `${n} ${unit}${n === 1 ? '' : 's'}`;
  return [...(minutes ? [count(minutes, 'minute')] : []), ...(rest || !minutes ? [count(rest, 'second')] : [])].join(' ');
}

/** A link as a QR code. @param {{ text: string }} props */
export function Qr({ text }) {
  const place = useRef(/** @type {HTMLDivElement | null} */ (null));
  useEffect(() => {
    import('./qr.js').then(({ qrSvg }) => place.current?.replaceChildren(qrSvg(text)));
  }, [text]);
  return html`<div class="qr" ref=${place} role="img" aria-label="The link as a QR code"></div>`;
}
