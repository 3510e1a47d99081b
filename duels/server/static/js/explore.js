// The explorer: any position of a game with the exact value of everything that can happen next.
// The address contains the position, so that links, back and forward work.

import { html, useEffect, useState } from './lib.js';
import { catalogue, get } from './api.js';
import { OptionField } from './create.js';
import { go, onPage } from './router.js';
import { addStyle } from './styles.js';
import { Table } from './table.js';
import { dress, themeOf, themes } from './themes.js';
import { exactOf, percent, share } from './values.js';
import { Worths } from './worths.js';
import { Copy, Trouble, sentence, useAsked } from './widgets.js';

/** @typedef {import('./protocol.js').Position} Position */
/** @typedef {import('./protocol.js').Game} Game */
/** @typedef {import('./wire.js').Seat} Seat */
/** @typedef {{ options: Record<string, string>, after: string[] }} Place the options and what has happened */

/** @param {string} search @returns {Place} */
export function placeOf(search) {
  const query = new URLSearchParams(search);
  return { options: Object.fromEntries([...query].filter(([name]) => name !== 'after')), after: query.getAll('after') };
}

/** @param {Place} place */
function queryOf({ options, after }) {
  const query = new URLSearchParams(options);
  for (const word of after) query.append('after', word);
  const text = query.toString();
  return text && `?${text}`;
}

/** The address of a position. @param {string} slug @param {Place} place */
export const addressOf = (slug, place) => `/explore/${encodeURIComponent(slug)}${queryOf(place)}`;
/** @param {string} slug @param {Place} place @returns {Promise<Position>} */
const ask = (slug, place) => get(`/api/value/${encodeURIComponent(slug)}${queryOf(place)}`);
const nameOf = (/** @type {Seat} */ seat) => `Player ${seat}`;

/** @param {{ slug: string }} props */
export function ExplorePage({ slug }) {
  const [search, setSearch] = useState(location.search);
  useEffect(() => onPage(() => location.pathname.startsWith('/explore/') && setSearch(location.search)), []);
  useEffect(() => addStyle('explore.css'), []);
  const shared = useAsked(() => Promise.all([catalogue(), themes()]), []);
  const place = placeOf(search);
  const found = useAsked(async () => ({ search, position: await ask(slug, place) }), [slug, search]);
  const game = shared.data?.[0].games.find((one) => one.slug === slug);
  const theme = themeOf(shared.data?.[1] ?? {}, slug);
  useEffect(() => {
    if (game) document.title = `Explore ${game.title} · Duels`;
    if (theme.styled) dress(slug);
  }, [game]);
  if (shared.error || (shared.data && !game)) {
    return html`<main id="main" class="list" tabindex="-1"><h1>${game || shared.error ? 'Explore' : 'There is no such game'}</h1>
      ${shared.error ? html`<${Trouble}>${shared.error}<//>` : null}<p><a href="/">All games</a></p></main>`;
  }
  const current = found.data?.search === search ? found.data.position : null;
  const shown = current ?? found.data?.position ?? null; // the last position stays until the next one is known
  return html`<main id="main" class="room explore" data-game=${slug} style=${{ '--hue': theme.hue }} tabindex="-1">
    <h1 class="room-title">Explore ${game?.title ?? ''}<small>Play both sides and see what every choice is worth.</small></h1>
    <div class="board" aria-busy=${current || found.error ? 'false' : 'true'}>
      ${found.error ? html`<${Trouble}>${found.error}<//>` : null}
      ${shown ? html`<${Balance} position=${shown} />
        <${Table} parts=${shown.table} you=${null} toMove=${shown.to_move} nameOf=${nameOf} faces=${{}} fresh=${false} />`
      : found.error ? null : html`<p role="status">…</p>`}
    </div>
    <aside class="beside">
      ${shown && current ? html`<${Next} slug=${slug} place=${place} position=${current} />` : null}
      <${Trail} slug=${slug} place=${place} />
      ${game ? html`<${SetUp} key=${search} game=${game} place=${place} />` : null}
      <h2>Share</h2>
      <${Copy} label="Link to this position" text=${location.origin + addressOf(slug, place)} />
    </aside>
  </main>`;
}

/** Who is ahead, as a number and a bar. @param {{ position: Position }} props */
function Balance({ position }) {
  const { result, value, unit } = position;
  if (result) return html`<p class="balance" role="status"><strong>${result.winner ? `${nameOf(result.winner)} has won` : 'There is no winner'}</strong> ${sentence(result.reason)}</p>`;
  if (value === null) return html`<p class="balance" role="status">${sentence(position.why || 'The value of this position is not known')}</p>`;
  const known = position.open_hands ? ' if both hands are known' : '';
  if (unit) return html`<p class="balance" role="status"><strong>${value.toFixed(4)}</strong> Player 1’s ${unit} with perfect play${known}${exactOf(position)}</p>`;
  const ahead = /** @type {Seat} */ (value >= 0.5 ? 1 : 2);
  return html`<div class="balance" role="status">
    <p><strong>${nameOf(ahead)}: ${percent(share(position, ahead))}</strong>${exactOf(position, ahead)} with perfect play${known}${position.distance ? `, ${position.distance} to the end` : ''}</p>
    <div class="scale" aria-hidden="true"><i style=${{ width: `${100 * value}%` }}></i></div>
    <p class="ends" aria-hidden="true"><span>Player 1</span><span>Player 2</span></p>
    ${position.caveat ? html`<p class="caveat">${position.caveat}</p>` : null}
  </div>`;
}

/** What can happen next. @param {{ slug: string, place: Place, position: Position }} props */
function Next({ slug, place, position }) {
  if (position.chance) return html`<${Outcomes} slug=${slug} place=${place} position=${position} />`;
  if (position.choices.length === 2) return html`<${Sealed} key=${place.after.length} slug=${slug} place=${place} position=${position} />`;
  return position.choices.map((choice) => html`<section key=${choice.player} aria-label=${`Choices of ${nameOf(choice.player)}`}>
    <h2>${nameOf(choice.player)} chooses</h2>
    <${Worths} unit=${position.unit} choice=${choice} href=${(/** @type {string} */ move) => addressOf(slug, { ...place, after: [...place.after, move] })} />
  </section>`);
}

/** A simultaneous choice: one move of each player. @param {{ slug: string, place: Place, position: Position }} props */
function Sealed({ slug, place, position }) {
  const [picked, setPicked] = useState(/** @type {Record<string, string>} */ ({}));
  const both = position.choices.map((choice) => picked[choice.player]);
  const ready = both.every(Boolean);
  return html`<section class="both" aria-label="Choices of both players">
    <h2>Both choose at once</h2>
    <p>Perfect play draws among the marked moves, with the probabilities shown.</p>
    <div class="columns">${position.choices.map((choice) => html`<div key=${choice.player}><h3>${nameOf(choice.player)}</h3>
      <${Worths} unit=${position.unit} choice=${choice} picked=${[picked[choice.player]]} onPick=${(/** @type {string} */ move) => setPicked((old) => ({ ...old, [choice.player]: move }))} /></div>`)}</div>
    <p class="buttons">${ready
      ? html`<a class="button main" href=${addressOf(slug, { ...place, after: [...place.after, both.join('/')] })}>Play ${both.join(' against ')}</a>`
      : 'Pick a move of each player to go on.'}</p>
  </section>`;
}

/** The outcomes of a chance event; each can be expanded. @param {{ slug: string, place: Place, position: Position }} props */
function Outcomes({ slug, place, position }) {
  const { by, outcomes } = /** @type {NonNullable<Position['chance']>} */ (position.chance);
  return html`<section aria-label="Chance">
    <h2>Chance decides${by ? ` for ${nameOf(by)}` : ''}</h2>
    <ul class="worths chances">${Object.entries(outcomes).map(([outcome, about]) => {
      const then = { ...place, after: [...place.after, outcome] };
      const seat = by ?? 1;
      return html`<li key=${outcome}><a href=${addressOf(slug, then)} data-move=${outcome}><b class="move">${outcome}</b>
        <span class="worth">${about.value === null ? 'not known' : position.unit ? about.value.toFixed(4) : `${nameOf(seat)} ${percent(share(about, seat))}`}<small>${exactOf(about, position.unit ? 1 : seat)}</small></span>
        <span class="mix">probability ${about.probability}</span></a>
        <${Branch} key=${outcome} slug=${slug} place=${then} label=${`What follows ${outcome}`} /></li>`;
    })}</ul>
  </section>`;
}

/** What follows an outcome, requested when it is expanded. @param {{ slug: string, place: Place, label: string }} props */
function Branch({ slug, place, label }) {
  const [open, setOpen] = useState(false);
  return html`<details onToggle=${(/** @type {Event} */ event) => setOpen(/** @type {HTMLDetailsElement} */ (event.target).open)}>
    <summary aria-label=${label}>then</summary>${open ? html`<${Follows} slug=${slug} place=${place} />` : null}</details>`;
}

/** @param {{ slug: string, place: Place }} props */
function Follows({ slug, place }) {
  const found = useAsked(() => ask(slug, place), []);
  if (found.error) return html`<${Trouble}>${found.error}<//>`;
  if (!found.data) return html`<p role="status">…</p>`;
  if (found.data.result) return html`<${Balance} position=${found.data} />`;
  return html`<${Next} slug=${slug} place=${place} position=${found.data} />`;
}

/** What has happened; each step is a link. @param {{ slug: string, place: Place }} props */
function Trail({ slug, place }) {
  const { after, options } = place;
  return html`<nav class="trail" aria-label="What has happened"><ol>
    <li><a href=${addressOf(slug, { options, after: [] })} aria-current=${after.length ? undefined : 'step'}>Start</a></li>
    ${after.map((word, n) => html`<li key=${n}><a href=${addressOf(slug, { options, after: after.slice(0, n + 1) })}
      aria-current=${n === after.length - 1 ? 'step' : undefined}>${word}</a></li>`)}
  </ol></nav>`;
}

/** Set up a position by typing, and the options of the game. @param {{ game: Game, place: Place }} props */
function SetUp({ game, place }) {
  const usual = Object.fromEntries(game.options.map((option) => [option.name, option.default]));
  const [typed, setTyped] = useState(place.after.join(', '));
  const [options, setOptions] = useState({ ...usual, ...place.options });
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    const changed = Object.fromEntries(Object.entries(options).filter(([name, value]) => value.trim() && value !== usual[name]));
    go(addressOf(game.slug, { options: changed, after: typed.split(',').map((word) => word.trim()).filter(Boolean) }));
  };
  return html`<details class="set-up"><summary>Set up a position</summary><form class="create" onSubmit=${submit}>
    <label class="field"><span>Moves and chance outcomes in order, with commas; simultaneous moves as 7/8</span>
      <input value=${typed} maxlength="4000" autocomplete="off" autocapitalize="off" spellcheck=${false}
        onInput=${(/** @type {Event} */ event) => setTyped(/** @type {HTMLInputElement} */ (event.target).value)} /></label>
    <fieldset><legend>Options of the game</legend>
      ${game.options.map((option) => html`<${OptionField} key=${option.name} option=${option} value=${options[option.name]} fixed=${true}
        onValue=${(/** @type {string} */ value) => setOptions((old) => ({ ...old, [option.name]: value }))} />`)}
    </fieldset>
    <p class="buttons"><button type="submit" class="main">Show this position</button></p>
  </form></details>`;
}
