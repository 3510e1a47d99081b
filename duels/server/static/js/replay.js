// The page of a finished match: replay, graded moves, check of the dice.

import { html, useEffect, useMemo, useState } from './lib.js';
import { get } from './api.js';
import { accuracy, curve, decided, explored, given } from './graded.js';
import { fortune } from './banner.js';
import { checkDice } from './dice.js';
import { Graph } from './graph.js';
import { turnedUp } from './room-state.js';
import { Table, possessive } from './table.js';
import { dress, themeOf, themes } from './themes.js';
import { Copy, Trouble, outcome, sentence, useAsked } from './widgets.js';

/** @typedef {import('./protocol.js').Match} Match */
/** @typedef {import('./protocol.js').Analysis} Analysis */
/** @typedef {import('./protocol.js').ReplayStep} ReplayStep */
/** @typedef {import('./protocol.js').GradedMove} GradedMove */
/** @typedef {import('./wire.js').Seat} Seat */
/** @typedef {import('./wire.js').Entry} Entry */

/** @param {{ id: string }} props */
export function ReplayPage({ id }) {
  const at = `/api/matches/${encodeURIComponent(id)}`;
  const loaded = useAsked(() => Promise.all([get(at), get(`${at}/replay`), themes()]), [id]);
  const graded = useAsked(() => get(`${at}/analysis`), [id]);
  if (loaded.error) return html`<main id="main" class="list"><h1>Replay</h1><${Trouble}>${loaded.error}<//><p class="buttons">${loaded.status === 404 ? null : html`<a href=${`/match/${id}`}>Go to the match</a>`} <a href="/">All games</a></p></main>`;
  if (!loaded.data) return html`<main id="main"><h1>Replay</h1><p role="status">…</p></main>`;
  const [match, { steps }, looks] = loaded.data;
  return html`<${Replay} match=${match} steps=${steps} theme=${themeOf(looks, match.game.slug)} analysis=${graded.data} why=${graded.error} />`;
}

/**
 * @param {{ match: Match, steps: ReplayStep[], theme: import('./themes.js').Theme,
 *   analysis: Analysis | null, why: string }} props
 */
function Replay({ match, steps, theme, analysis, why }) {
  const last = steps.length - 1;
  const wanted = Number(new URLSearchParams(location.search).get('at') ?? last);
  const [moment, setMoment] = useState(Number.isInteger(wanted) && wanted >= 0 && wanted <= last ? wanted : last);
  const to = (/** @type {number} */ at) => setMoment(Math.max(0, Math.min(last, at)));
  useEffect(() => {
    document.title = `${match.game.title}, replay · Duels`;
    if (theme.styled) dress(match.game.slug);
  }, []);
  useEffect(() => {
    const press = (/** @type {KeyboardEvent} */ event) => {
      if (event.target instanceof HTMLElement && event.target.closest('input, select, textarea, [role=region]')) return;
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      const by = { ArrowLeft: -1, ArrowRight: 1, Home: -last, End: last }[event.key];
      if (by) {
        event.preventDefault();
        setMoment((old) => Math.max(0, Math.min(last, old + by)));
      }
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [last]);
  useEffect(() => {
    history.replaceState(null, '', moment === last ? location.pathname : `${location.pathname}?at=${moment}`);
  }, [moment]);
  const step = steps[moment];
  const nameOf = (/** @type {Seat} */ seat) => match.names[seat - 1];
  const events = steps.slice(1, moment + 1).flatMap((one) => (one.event ? [one.event] : []));
  // The next move and a better one are marked on the table before the move.
  const next = analysis?.moves.filter((move) => move.entry - 1 === moment) ?? [];
  const link = `${location.origin}/match/${match.id}/replay`;
  return html`<main id="main" class="room replay" data-game=${match.game.slug} style=${{ '--hue': theme.hue }} tabindex="-1">
    <h1 class="room-title">${match.game.title}<small>${nameOf(1)} against ${nameOf(2)}: ${outcome(match)}. ${match.outcome?.detail ?? ''}</small></h1>
    <div class="board">
      <${Table} parts=${step.table} you=${match.you} toMove=${step.to_move} nameOf=${nameOf} faces=${turnedUp(events).faces}
        touch=${marker(next)} fresh=${false} />
      <div class="steps">
        <button type="button" aria-label="To the start" onClick=${() => to(0)}>|◀</button>
        <button type="button" aria-label="Back one step" onClick=${() => to(moment - 1)}>◀</button>
        <input type="range" min="0" max=${last} value=${moment} aria-label="Step of the match" aria-valuetext=${`step ${moment} of ${last}`}
          onInput=${(/** @type {Event} */ event) => to(Number(/** @type {HTMLInputElement} */ (event.target).value))} />
        <button type="button" aria-label="Forward one step" onClick=${() => to(moment + 1)}>▶</button>
        <button type="button" aria-label="To the end" onClick=${() => to(last)}>▶|</button>
      </div>
      <p class="step-count">${moment} of ${last}${step.undone ? ', taken back later' : ''}</p>
      ${explored(match.game, events) ? html`<p class="buttons"><a class="button" href=${explored(match.game, events)}>Explore from here</a></p>` : null}
      <div class="log step-lines" role="status"><p class=${`line ${fortune(step.caption?.favours ?? null, match.you)}`}>${step.caption?.text ?? 'The start of the match'}${step.caption?.detail ? html` <small>${sentence(step.caption.detail)}</small>` : null}</p></div>
      ${next.map((move) => html`<p key=${move.player} class=${`verdict ${move.verdict ?? ''}`}>Next: ${nameOf(move.player)} plays <b>${move.move}</b>. ${analysis && verdictWords(move, analysis)}</p>`)}
    </div>
    <aside class="beside">
      ${analysis ? html`<${Graded} match=${match} steps=${steps} analysis=${analysis} moment=${moment} nameOf=${nameOf} to=${to} />`
        : html`<h2>Analysis</h2><p role="status">${why || 'The moves are being graded …'}</p>`}
      <h2>Keep and share</h2>
      <${Copy} label="Link to this replay" text=${link} />
      <p><a href=${`/api/matches/${match.id}/record?download=1`} download>Download the record</a></p>
      <${FairDice} match=${match} />
    </aside>
  </main>`;
}

/** @param {GradedMove} move @param {Analysis} analysis */
function verdictWords(move, analysis) {
  if (!move.verdict) return 'It could not be graded.';
  if (move.verdict === 'best') return 'No move is better.';
  const words = given(move, analysis);
  const lost = words && `, ${words} given away`;
  return `${move.verdict[0].toUpperCase()}${move.verdict.slice(1)}${lost}; ${move.best} was better.`;
}

/** Marks the cards of the next moves and of better ones. @param {GradedMove[]} moves @returns {import('./parts.js').Touch} */
function marker(moves) {
  return {
    how: () => '',
    picked: () => false,
    click: () => {},
    mark: (part, n) => {
      const items = part.type === 'tokens' ? part.items : part.type === 'hand' ? part.cards : [];
      const move = moves.find((one) => one.player === part.owner);
      if (!move) return '';
      const named = (/** @type {string} */ words) => {
        // Of equal cards, only as many as the move contains are marked.
        const before = items.slice(0, n).filter((item) => item.face === items[n].face && !item.spent).length;
        return !items[n].spent && words.split(' ').filter((word) => word === items[n].face).length > before;
      };
      const wrong = move.verdict && move.verdict !== 'best';
      const played = move.verdict === 'best' ? 'best' : 'played';
      return [named(move.move) ? played : '', wrong && named(move.best) ? 'better' : ''].join(' ').trim();
    },
  };
}

/**
 * @param {{ match: Match, steps: ReplayStep[], analysis: Analysis, moment: number,
 *   nameOf: (seat: Seat) => string, to: (moment: number) => void }} props
 */
function Graded({ match, steps, analysis, moment, nameOf, to }) {
  const own = match.you ?? 1;
  const points = useMemo(() => curve(analysis, steps.length - 1, own), [analysis]);
  const ends = decided(analysis, own);
  const bad = analysis.moves.filter((move) => move.verdict === 'blunder' || move.verdict === 'mistake').map((move) => move.entry - 1);
  const wins = (/** @type {number | null} */ value, sign = '') => (value === null ? 'not known' : `${sign && value > 0 ? sign : ''}${value.toFixed(2)}`);
  /** @type {Seat[]} */
  const seats = [1, 2];
  const what = analysis.unit ?? 'chance of winning';
  const most = analysis.highest_payoff;
  return html`
    <h2>${match.you ? 'Your' : possessive(nameOf(1))} ${what}</h2>
    <${Graph} points=${points} last=${steps.length - 1} moment=${moment} name=${what[0].toUpperCase() + what.slice(1)} most=${most} bad=${bad} onMoment=${to} />
    ${ends ? html`<p class="caveat">${ends(moment)}</p>` : null}
    <div class="wide" role="region" aria-label="Skill and luck" tabindex="0"><table>
      <thead><tr><th scope="col">Player</th><th scope="col">Accuracy</th><th scope="col">${most ? 'Payoff' : 'Wins'} given away</th><th scope="col">${most ? 'Payoff' : 'Wins'} by luck</th></tr></thead>
      <tbody>${seats.map((seat) => html`<tr key=${seat}><th scope="row" class="who">${nameOf(seat)}</th>
        <td>${accuracy(analysis, seat, match.you)}</td>
        <td>${wins(analysis.regret[seat])}</td><td>${wins(analysis.luck[seat], '+')}</td></tr>`)}</tbody>
    </table></div>
    <p class="buttons">${seats.map((seat) => {
      const entry = analysis.costliest?.[seat];
      return entry ? html`<button type="button" key=${seat} onClick=${() => to(entry - 1)}>Costliest move of ${nameOf(seat)}</button>` : null;
    })}</p>
    ${analysis.approximate ? html`<p>Perfect play in this game is known only approximately, so the grades are approximate too. ${analysis.caveat}</p>` : null}
    <h2>Moves</h2>
    <div class="wide moves" role="region" aria-label="Graded moves" tabindex="0"><table>
      <thead><tr><th scope="col">Step</th><th scope="col">Player</th><th scope="col">Move</th><th scope="col">Verdict</th><th scope="col">Better</th></tr></thead>
      <tbody>${analysis.moves.map((move) => html`<tr key=${`${move.entry} ${move.player}`} class=${move.verdict ?? ''} aria-current=${move.entry - 1 === moment ? 'true' : undefined}>
        <td><button type="button" class="plain" aria-label=${`Step ${move.entry}: show the table before it`} onClick=${() => to(move.entry - 1)}>${move.entry}</button></td>
        <td class="who">${nameOf(move.player)}</td><td>${move.move}</td><td class="verdict">${move.verdict ?? 'not graded'}</td>
        <td>${move.verdict && move.verdict !== 'best' ? move.best : ''}</td></tr>`)}</tbody>
    </table></div>`;
}

/** @param {{ match: Match }} props */
function FairDice({ match }) {
  const [found, setFound] = useState(/** @type {{ what: string, holds: boolean | null }[]} */ ([]));
  const [trouble, setTrouble] = useState('');
  const verify = async () => {
    try {
      setFound(await checkDice(match));
    } catch (error) {
      setTrouble(/** @type {Error} */ (error).message);
    }
  };
  return html`<h2>Fair dice</h2>
    <p>Before the first roll the server committed to a secret and each player to a nonce; only then were the nonces revealed. You can check here, or with <code>duels verify</code>, that every roll, deal and draw follows from them.</p>
    <button type="button" onClick=${verify}>Check all rolls, deals and draws</button>
    ${trouble ? html`<${Trouble}>${trouble}<//>` : null}
    <div role="status"><ul class="checks">${found.map(({ what, holds }) => html`<li key=${what} class=${holds === null ? '' : holds ? 'good' : 'bad'}>${holds === null ? '–' : holds ? '✓' : '✗'} ${what}</li>`)}</ul></div>`;
}
