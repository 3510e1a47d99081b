// The first page: the player's matches, the games, open challenges.

import { html, useEffect, useRef, useState } from './lib.js';
import { catalogue, get, post } from './api.js';
import { Create } from './create.js';
import { Pairing } from './pairing.js';
import { go } from './router.js';
import { saveItem, loadItem, newId } from './store.js';
import { themeOf, themes } from './themes.js';
import { BASE } from './version.js';
import { Dialog, Trouble, seatName, useAsked } from './widgets.js';
import { timeWords } from './invite.js';

/** @typedef {import('./protocol.js').Game} Game */
/** @typedef {import('./protocol.js').Level} Level */
/** @typedef {import('./protocol.js').Match} Match */

const USUAL_LEVEL = 'medium';

export function HomePage() {
  const shared = useAsked(() => Promise.all([catalogue(), themes()]), []);
  const matches = useAsked(() => get('/api/matches'), []);
  const [trouble, setTrouble] = useState('');
  const [leaving, setLeaving] = useState(/** @type {Match | null} */ (null));
  const leave = async (/** @type {Match} */ match) => {
    setLeaving(null);
    try {
      await post(`/api/matches/${match.id}/${match.state === 'playing' ? 'resign' : 'leave'}`);
    } catch (error) {
      setTrouble(/** @type {Error} */ (error).message);
    }
    matches.refresh();
  };
  const [creating, setCreating] = useState(/** @type {Game | null} */ (null));
  useEffect(() => {
    document.title = 'Duels';
    const timer = setInterval(() => document.visibilityState === 'visible' && matches.refresh(), 5000);
    return () => clearInterval(timer);
  }, []);
  useEffect(() => {
    if (!shared.error) return undefined;
    const timer = setTimeout(shared.refresh, 3000);
    return () => clearTimeout(timer);
  }, [shared.error, shared.tries]);
  const starting = useRef(false);
  const start = async (/** @type {Record<string, unknown>} */ wanted) => {
    if (starting.current) return; // ignore a double click
    starting.current = true;
    try {
      const match = await post('/api/matches', { request: newId(), ...wanted });
      go(`/match/${match.id}`);
    } catch (error) {
      setTrouble(/** @type {Error} */ (error).message);
    } finally {
      starting.current = false;
    }
  };
  const join = async (/** @type {Match} */ match) => {
    try {
      await post(`/api/matches/${match.id}/join`);
      go(`/match/${match.id}`);
    } catch (error) {
      setTrouble(/** @type {Error} */ (error).message);
      matches.refresh();
    }
  };
  const showDialog = (/** @type {Game | null} */ game) => {
    setTrouble('');
    setCreating(game);
  };
  const [games, looks] = shared.data ?? [null, {}];
  /** @type {Match[]} */
  const mine = matches.data?.mine ?? [];
  /** @type {Match[]} */
  const open = (matches.data?.open ?? []).filter((/** @type {Match} */ match) => !match.you);
  return html`<main id="main" class="home" tabindex="-1">
    <h1>Number games, played right</h1>
    ${(trouble && !creating) || shared.error ? html`<${Trouble}>${trouble || shared.error}<//>` : null}
    ${mine.length ? html`<section aria-labelledby="mine"><h2 id="mine">Your matches</h2><ul class="matches">
      ${mine.map((match) => html`<li key=${match.id} class="mine"><a href=${`/match/${match.id}`}><b>${match.game.title}</b> <span>${against(match)}</span> <em>${stateWords(match)}</em></a>
        <button type="button" class="plain" aria-label=${`${match.state === 'playing' ? 'Resign' : 'Withdraw'} ${match.game.title} ${against(match)}`} onClick=${() => setLeaving(match)}>✕</button></li>`)}
    </ul></section>` : null}
    <section aria-labelledby="open"><h2 id="open">Open challenges</h2>
      <${Pairing} games=${games?.games ?? []} open=${open} onTrouble=${setTrouble} />
      ${open.length ? html`<ul class="matches">${open.map((match) => html`<li key=${match.id}><div><b>${match.game.title}</b> <span>${against(match)}</span> <em>${match.time ? timeWords(match.time) : ''}</em>
        <button type="button" onClick=${() => join(match)}>Join</button></div></li>`)}</ul>`
      : html`<p role="status">${matches.data ? 'None at the moment.' : matches.error || '…'} <a href="/live">Live games</a></p>`}
    </section>
    <section aria-labelledby="games"><h2 id="games" class="unseen">Games</h2>
      <ul class="games">${(games?.games ?? []).map((game) => html`<${GameCard} key=${game.slug} game=${game} levels=${games?.levels ?? []}
        look=${themeOf(looks, game.slug)} onStart=${start} onMore=${() => showDialog(game)} />`)}</ul>
    </section>
    ${leaving ? html`<${Dialog} title=${leaving.state === 'playing' ? 'Resign this match?' : 'Withdraw this match?'} onClose=${() => setLeaving(null)}>
      <p>${leaving.game.title}, ${against(leaving)}. ${leaving.state === 'playing' ? 'Your opponent wins it.' : 'It has not started and will not be played.'}</p>
      <p class="buttons"><button type="button" class="main danger" onClick=${() => leave(leaving)}>${leaving.state === 'playing' ? 'Resign' : 'Withdraw'}</button>
      <button type="button" class="plain" onClick=${() => setLeaving(null)}>Keep it</button></p><//>` : null}
    ${creating && games ? html`<${Dialog} title=${creating.title} onClose=${() => showDialog(null)}>
      <${Create} game=${creating} levels=${games.levels} trouble=${trouble} onStart=${start} /><//>` : null}
  </main>`;
}

/** @param {Match} match */
function against(match) {
  const others = match.seats.flatMap((seat) => (seat && !seat.you ? [seatName(match, seat.player)] : []));
  return others.length ? `against ${others.join(' and ')}` : 'no opponent yet';
}

/** @param {Match} match */
function stateWords(match) {
  if (match.state !== 'playing') return 'not started yet';
  return match.you && match.to_move.includes(match.you) ? 'your turn' : 'waiting for your opponent';
}

/** @param {Level} level */
const option = ({ name, about, more }) => html`<option key=${name} value=${name} title=${about}>${more ? name : name[0].toUpperCase() + name.slice(1)}</option>`;

/**
 * @param {{ game: Game, levels: Level[], look: import('./themes.js').Theme,
 *   onStart: (wanted: Record<string, unknown>) => void, onMore: () => void }} props
 */
function GameCard({ game, levels, look, onStart, onMore }) {
  const name = `duels.level.${game.slug}`;
  const fit = levels.filter((level) => game.levels.includes(level.name));
  const usual = fit.some((level) => level.name === USUAL_LEVEL) ? USUAL_LEVEL : fit.at(-1)?.name ?? '';
  const before = loadItem(name);
  const [level, setLevel] = useState(fit.some((one) => one.name === before) ? before : usual);
  const choose = (/** @type {Event} */ event) => {
    const chosen = /** @type {HTMLSelectElement} */ (event.target).value;
    saveItem(name, chosen);
    setLevel(chosen);
  };
  return html`<li class="game" style=${{ '--hue': look.hue }} data-slug=${game.slug}>
    <div class="picture" aria-hidden="true">${look.styled
      ? html`<img src=${`${BASE}themes/${game.slug}.svg`} alt="" width="320" height="160" />`
      : html`<span>${game.title.split(/\s+/).map((word) => word[0]).join('')}</span>`}</div>
    <h3>${game.title}</h3>
    <p>${game.summary}</p>
    <div class="actions">
      <div class="against">
        <button type="button" class="main" onClick=${() => onStart({ game: game.slug, opponent: level })}>Play the computer</button>
        <select aria-label=${`Level of the computer in ${game.title}`} value=${level} onChange=${choose}>
          ${fit.filter((one) => !one.more).map(option)}
          ${fit.some((one) => one.more) ? html`<optgroup label="More">${fit.filter((one) => one.more).map(option)}</optgroup>` : null}
        </select>
      </div>
      <button type="button" onClick=${() => onStart({ game: game.slug, opponent: 'friend' })}>Invite a friend</button>
      <button type="button" class="plain" aria-label=${`More ways to play ${game.title}`} onClick=${onMore}>More …</button>
      <a class="explore-link" href=${`/learn/${game.slug}`} aria-label=${`Learn ${game.title}`}>Learn</a>
      <a class="explore-link" href=${`/explore/${game.slug}`} aria-label=${`Explore ${game.title}: the value of every move`}>Explore</a>
    </div>
  </li>`;
}
