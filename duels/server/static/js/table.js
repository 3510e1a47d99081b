// The table: the opponent's parts on top, the player's at the bottom, shared ones between.

import { html, useEffect, useState } from './lib.js';
import { PartView } from './parts.js';

/** @typedef {import('./wire.js').Part} Part */
/** @typedef {import('./wire.js').Seat} Seat */
/** @typedef {import('./parts.js').Touch} Touch */
/**
 * @typedef {object} Setting
 * @property {Part[]} parts
 * @property {Seat | null} you
 * @property {Seat[]} toMove
 * @property {(seat: Seat) => string} nameOf
 * @property {Record<string, string>} faces of the sealed choices that were revealed last
 * @property {number} [turned] the number of the event that revealed them
 * @property {Seat | null} [won] the player whose choice won then
 * @property {unknown} [banner] the last event, shown in the middle
 * @property {string} [mine] the player's own sealed choice
 * @property {Touch} [touch]
 * @property {string} [asked] the kind of the current step, for style sheets
 * @property {Clock | null} [clock]
 * @property {Seat[]} [online] players who are connected; omitted in replays
 * @property {(seat: Seat) => unknown} [beside] additional content beside a name
 * @property {boolean} [fresh] whether the state has just changed, so that changes are animated
 * @property {number} [rolled] the number of the last chance event; a new one animates the die
 */
/** @typedef {{ left: [number | null, number | null], at: number, running: Seat[] }} Clock */

/** @type {Touch} */
const UNTOUCHED = { how: () => '', picked: () => false, click: () => {} };

/** @param {Setting} setting */
export function Table(setting) {
  const below = setting.you ?? 1;
  const above = /** @type {Seat} */ (3 - below);
  const between = [...setting.parts.filter(isBetween), ...lastTurnedUp(setting)];
  return html`<div class="table" data-asked=${setting.asked || undefined}>
    <${Side} seat=${above} ...${setting} where="above" />
    <div class=${`centre ${setting.banner && (between.length > 2 || between.some((part) => part.type === 'pile')) ? 'crowded' : ''}`}>
      ${setting.banner}
      <div class="between">
        ${between.map((part) => html`<${Owned} key=${keyOf(part, setting)} part=${part} ...${setting} />`)}
      </div>
    </div>
    <${Side} seat=${below} ...${setting} where="below" />
  </div>`;
}

/**
 * Places for the choices that were revealed last, if the table has no sealed choices any more, as at the
 * end of a match.
 * @param {Setting} setting
 * @returns {Part[]}
 */
function lastTurnedUp({ parts, faces }) {
  if (!faces['1'] || parts.some((part) => part.type === 'sealed')) return [];
  return [1, 2].map((owner) => /** @type {Part} */ ({
    type: 'sealed', id: `sealed-${owner}-1`, label: 'Choice', placed: false, owner,
  }));
}

/** @param {Part} part */
function isBetween(part) {
  return part.owner === null || part.type === 'die' || part.type === 'sealed' || part.type === 'played';
}

/** The key of a part: a die gets a new key for each roll, so that its animation restarts. @param {Part} part @param {Setting} setting */
function keyOf(part, setting) {
  return part.type === 'die' && setting.fresh ? `${part.id} ${setting.rolled}` : part.id;
}

/** @param {Setting & { seat: Seat, where: string }} props */
function Side({ seat, where, ...setting }) {
  const { nameOf, toMove, online, clock, you } = setting;
  const own = setting.parts.filter((part) => part.owner === seat && !isBetween(part));
  const chooses = toMove.includes(seat);
  const away = online && !online.includes(seat);
  return html`<section class=${`side ${where} ${chooses ? 'chooses' : ''}`} aria-label=${seat === you ? 'You' : nameOf(seat)}>
    <header>
      <h2><span class="seat">${seat}</span> <span class="name">${nameOf(seat)}</span>${seat === you ? html` <small>(you)</small>` : null}</h2>
      ${chooses ? html`<span class="turn">${seat === you ? 'your turn' : 'to move'}</span>` : null}
      ${away ? html`<span class="away">away</span>` : null}
      ${clock ? html`<${ClockView} clock=${clock} seat=${seat} />` : null}
      ${setting.beside?.(seat)}
    </header>
    <div class="parts">${own.map((part) => html`<${Owned} key=${part.id} part=${part} ...${setting} />`)}</div>
  </section>`;
}

/** @param {Setting & { part: Part }} props */
function Owned({ part, you, nameOf, faces, mine, turned, won, touch, fresh }) {
  const whose = part.owner === null ? '' : part.owner === you ? 'Your' : possessive(nameOf(part.owner));
  const sealed = part.type === 'sealed' && part.placed && part.owner === you ? mine : '';
  return html`<${PartView} part=${part} whose=${whose} touch=${touch ?? UNTOUCHED} face=${faces[String(part.owner)] ?? ''}
    mine=${sealed} turned=${turned} won=${won !== undefined && won === part.owner} fresh=${fresh} />`;
}

/** @param {string} name */
export function possessive(name) {
  return `${name}${name.endsWith('s') ? '’' : '’s'}`;
}

/** @param {{ clock: Clock, seat: Seat }} props */
function ClockView({ clock, seat }) {
  const left = clock.left[seat - 1];
  const runs = left !== null && clock.running.includes(seat);
  const [, tick] = useState(0);
  useEffect(() => {
    if (!runs) return undefined;
    const timer = setInterval(() => tick((n) => n + 1), 200);
    return () => clearInterval(timer);
  }, [runs, clock.at]);
  if (left === null) return null;
  const seconds = Math.max(0, left - (runs ? (Date.now() - clock.at) / 1000 : 0));
  const whole = Math.ceil(seconds);
  const shown = `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
  return html`<span class=${`clock ${runs ? 'runs' : ''} ${whole <= 10 ? 'short' : ''}`} role="timer" aria-label=${`${shown} left`}>${shown}</span>`;
}
