// Components that draw the parts of a table for all games; themes style them.

import { html, useEffect, useRef, useState } from './lib.js';

/** @typedef {import('./wire.js').Part} Part */
/** @typedef {import('./wire.js').Item} Item */
/** @typedef {import('./wire.js').Meter} MeterPart */
/** @typedef {import('./wire.js').Tokens} TokensPart */
/** @typedef {import('./wire.js').Hand} HandPart */
/** @typedef {import('./wire.js').Pile} PilePart */
/** @typedef {import('./wire.js').Die} DiePart */
/** @typedef {import('./wire.js').Played} PlayedPart */
/** @typedef {import('./wire.js').Score} ScorePart */
/** @typedef {import('./wire.js').Sealed} SealedPart */
/**
 * The state of the cards of a table, and the handler of clicks on them.
 * @typedef {object} Touch
 * @property {(item: Item) => '' | 'now' | 'ahead' | 'refused'} how
 * @property {(key: string) => boolean} picked
 * @property {(key: string, item: Item) => void} click
 * @property {(part: Part, n: number) => string} [mark] how the n-th card of a part is marked
 * @property {(item: Item) => string} [effect] what the choice of a card brings
 */
/** @typedef {{ whose: string, touch: Touch, face?: string, mine?: string, turned?: number, won?: boolean, fresh?: boolean }} Around */

const MOST_CELLS = 40; // a meter with more is drawn as a bar
const MOST_POINTS = 12; // a score with a higher goal is drawn as a number
const HELD = 2500; // minimum milliseconds that a revealed card is shown

/**
 * A part of the table, by its type.
 * @param {{ part: Part } & Around} props
 */
export function PartView({ part, ...around }) {
  const name = `${around.whose} ${part.label}`.trim();
  switch (part.type) {
    case 'meter': return html`<${Meter} part=${part} name=${name} />`;
    case 'tokens': return html`<${Items} kind="token" part=${part} items=${part.items} name=${name} ...${around} />`;
    case 'hand': return html`<${Items} kind="card" part=${part} items=${part.cards} hidden=${part.hidden} name=${name} ...${around} />`;
    case 'pile': return html`<${Pile} part=${part} name=${name} />`;
    case 'die': return html`<${Die} part=${part} name=${name} fresh=${around.fresh} />`;
    case 'played': return html`<${Played} part=${part} name=${name} />`;
    case 'score': return html`<${Score} part=${part} name=${name} />`;
    case 'sealed': return html`<${SealedCard} part=${part} name=${name} face=${around.face ?? ''}
      mine=${around.mine ?? ''} turned=${around.turned ?? -1} won=${around.won} fresh=${around.fresh} />`;
    default: return null;
  }
}

/**
 * The value at the previous rendering.
 * @param {number} value
 */
function useBefore(value) {
  const before = useRef(value);
  useEffect(() => { before.current = value; }, [value]);
  return before.current;
}

/** @param {{ part: MeterPart, name: string }} props */
function Meter({ part, name }) {
  const { value, top } = part;
  const change = value - useBefore(value);
  const share = Math.max(0, Math.min(1, value / top));
  const level = share > 0.5 ? 'high' : share > 0.25 ? 'middle' : 'low';
  const cells = top <= MOST_CELLS ? Array.from({ length: top }, (_, n) => n < value) : [];
  return html`<div class=${`part meter ${cells.length ? 'in-cells' : ''}`} data-level=${level}>
    <span class="label" aria-hidden="true">${part.label}</span>
    <div class="gauge" role="meter" aria-label=${name} aria-valuemin="0" aria-valuemax=${top}
      aria-valuenow=${Math.max(0, Math.min(top, value))} aria-valuetext=${`${value} of ${top}`}>
      <div class="bar"><div class="fill" style=${{ width: `${100 * share}%` }}></div></div>
      <div class="cells">${cells.map((full, n) => html`<i key=${n} class=${full ? 'full' : 'gone'}></i>`)}</div>
    </div>
    <span class="number" aria-hidden="true">${value}<small>${'\u2009'}/${'\u2009'}${top}</small></span>
    ${change ? html`<span key=${value} class=${`change ${change < 0 ? 'loss' : 'gain'}`} aria-hidden="true">
      ${change > 0 ? '+' : '\u2212'}${Math.abs(change)}</span>` : null}
  </div>`;
}

/**
 * Tokens or a hand: items that may be clicked are buttons, others are text.
 * @param {{ kind: 'token' | 'card', part: TokensPart | HandPart, items: Item[], hidden?: number,
 *   name: string, touch: Touch }} props
 */
function Items({ kind, part, items, hidden = 0, name, touch }) {
  const backs = Array.from({ length: hidden }, (_, n) => n);
  return html`<div class=${`part ${kind}s`}>
    <span class="label" aria-hidden="true">${part.label}</span>
    <ul aria-label=${name}>
      ${items.map((item, n) => html`<li key=${`${n} ${item.face}`}>
        <${ItemView} kind=${kind} item=${item} key=${`${part.id}:${n}`} id=${`${part.id}:${n}`} touch=${touch} mark=${touch.mark?.(part, n) ?? ''} /></li>`)}
      ${backs.map((n) => html`<li key=${`hidden ${n}`}><span class="item card back"><span class="unseen">hidden card</span></span></li>`)}
      ${items.length + hidden ? null : html`<li class="none">none</li>`}
    </ul>
  </div>`;
}

/** @param {{ kind: string, item: Item, id: string, touch: Touch, mark: string }} props */
function ItemView({ kind, item, id, touch, mark }) {
  const how = touch.how(item);
  const spent = [item.spent ? 'used' : '', item.last ? 'played last' : '', mark].filter(Boolean).map((word) => html`<span class="unseen" key=${word}>, ${word}</span>`);
  const look = `item ${kind} ${item.spent ? 'spent' : ''} ${item.last ? 'last' : ''} ${mark}`;
  if (!item.choice) return html`<span class=${look}>${item.face}${spent}</span>`;
  const effect = how && touch.effect?.(item);
  // A disabled button stays a button, so that it keeps the focus.
  return html`<button type="button" class=${`${look} ${how}`} data-choice=${item.choice}
    aria-disabled=${how ? 'false' : 'true'} aria-pressed=${how && touch.picked(id) ? 'true' : undefined}
    onClick=${() => how && touch.click(id, item)}>${item.face}${effect ? html`<small class="effect"><span class="unseen">: </span>${effect}</small>` : null}${spent}</button>`;
}

/** @param {{ part: PilePart, name: string }} props */
function Pile({ part, name }) {
  const known = part.cards.map((card) => card.face).join(' ');
  return html`<div class="part pile">
    <span class="label" aria-hidden="true">${part.label}</span>
    <div class="stack" role="img" aria-label=${`${name}: ${part.size}${known ? `, ${known}` : ''}`}>
      <span class=${`sheet ${part.size > 2 ? 'third' : ''} ${part.size > 1 ? 'second' : ''} ${part.size ? '' : 'empty'}`}>${part.size}</span>
      ${part.cards.length ? html`<span class="known">${grouped(part.cards).map(({ face, count, last }) => html`<i key=${face} class=${last ? 'last' : ''}>${face}${count > 1 ? html`<small>×${count}</small>` : null}</i>`)}</span>` : null}
    </div>
  </div>`;
}

/** Equal cards of a pile together. @param {Item[]} cards */
function grouped(cards) {
  /** @type {{ face: string, count: number, last: boolean }[]} */
  const groups = [];
  for (const { face, last } of cards) {
    const known = groups.find((one) => one.face === face);
    if (known) Object.assign(known, { count: known.count + 1, last: known.last || last });
    else groups.push({ face, count: 1, last });
  }
  return groups;
}

/** A move that has to be answered. @param {{ part: PlayedPart, name: string }} props */
function Played({ part, name }) {
  return html`<div class="part played">
    <span class="label" aria-hidden="true">${name}</span>
    <div class="token" role="img" aria-label=${`${name}: ${part.face}`}>${part.face}</div>
  </div>`;
}

/** The positions of the pips of a die, on a grid of three by three. */
const SPOTS = [[], [4], [0, 8], [0, 4, 8], [0, 2, 6, 8], [0, 2, 4, 6, 8], [0, 2, 3, 5, 6, 8]];

/** @param {{ part: DiePart, name: string, fresh?: boolean }} props */
function Die({ part, name, fresh }) {
  const spots = SPOTS[/^[1-6]$/.test(part.face) ? Number(part.face) : 0];
  return html`<div class="part die">
    <span class="label">${name}</span>
    <div class=${`cube ${fresh ? 'rolled' : ''}`} role="img" aria-label=${`${name}: ${part.face}`}>
      ${spots.length ? Array.from({ length: 9 }, (_, n) => html`<i key=${n} class=${spots.includes(n) ? 'spot' : ''}></i>`) : part.face}
    </div>
  </div>`;
}

/** @param {{ part: ScorePart, name: string }} props */
function Score({ part, name }) {
  const { points, goal } = part;
  const marks = goal <= MOST_POINTS ? Array.from({ length: goal }, (_, n) => n < points) : [];
  return html`<div class="part score">
    <span class="label" aria-hidden="true">${part.label}</span>
    <div class="points" role="img" aria-label=${`${name}: ${points} of ${goal}`}>
      ${marks.map((won, n) => html`<i key=${n} class=${won ? 'won' : ''}></i>`)}
      <b>${points}</b><small>${'\u2009'}/${'\u2009'}${goal}</small>
    </div>
  </div>`;
}

/**
 * A sealed choice: an empty place, a card face down, or the face that was revealed last. The face is
 * shown for `HELD` milliseconds even if the next choice is sealed at once, so that players can see it.
 * @param {{ part: SealedPart, name: string, face: string, mine: string, turned: number, won?: boolean, fresh?: boolean }} props
 */
function SealedCard({ part, name, face, mine, turned, won, fresh }) {
  const [seen, setSeen] = useState(turned);
  const held = Boolean(fresh) && turned >= 0 && turned !== seen;
  useEffect(() => {
    const timer = setTimeout(() => setSeen(turned), HELD);
    return () => clearTimeout(timer);
  }, [turned]);
  const down = part.placed && (!held || Boolean(mine) || !face);
  const state = down ? 'down' : face ? 'up' : 'open';
  const spoken = down ? `sealed${mine ? `, ${mine}` : ''}` : face ? `turned up: ${face}${won ? ', wins' : ''}` : 'not chosen yet';
  return html`<div class="part sealed">
    <span class="label" aria-hidden="true">${name}</span>
    <div class=${`turning ${state} ${won && state === 'up' ? 'won' : ''}`} role="img" aria-label=${`${name}: ${spoken}`}>
      <span class="front">${down ? '' : face}</span>
      <span class="reverse">${mine ? html`<b>${mine}</b>` : ''}</span>
    </div>
  </div>`;
}
