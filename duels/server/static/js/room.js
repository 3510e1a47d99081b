// The page of a match: invitation, play, spectators, result.

import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from './lib.js';
import { Choose } from './choose.js';
import { NOTHING, asked, clickItem, clickable } from './choosing.js';
import { Share } from './dice.js';
import { Ended } from './ended.js';
import { Invite, timeWords } from './invite.js';
import { Connection } from './connection.js';
import { catalogue } from './api.js';
import { Report } from './report.js';
import { EMPTY, firstNumber, heard, lastChance, turnedUp } from './room-state.js';
import { Rules } from './rules.js';
import { play } from './sound.js';
import { loadItem, saveItem } from './store.js';
import { Table } from './table.js';
import { dress, themeOf, themes } from './themes.js';
import { Dialog, Lines, Trouble, seatName, useAsked } from './widgets.js';

/** @typedef {import('./room-state.js').Room} Room */
/** @typedef {import('./wire.js').Seat} Seat */
/** @typedef {import('./protocol.js').Match} Match */

const REACTION_SHOWN = 2500; // milliseconds, as long as its animation in table.css

/** @param {{ id: string }} props */
export function RoomPage({ id }) {
  const [room, setRoom] = useState(EMPTY);
  const latest = useRef(EMPTY);
  const connection = useRef(/** @type {Connection | null} */ (null));
  const share = useRef(/** @type {Share | null} */ (null));
  const change = (/** @type {(room: Room) => Room} */ next) => {
    latest.current = next(latest.current);
    setRoom(latest.current);
  };
  const agree = (/** @type {Match} */ match) => {
    const dice = share.current?.hear(match);
    // An error is shown until the page is closed.
    if (dice) change((old) => ({ ...old, dice: old.dice.wrong ? old.dice : dice }));
  };
  useEffect(() => {
    latest.current = EMPTY;
    const made = new Connection(id, {
      since: () => latest.current.moment,
      message: (message) => {
        const before = latest.current;
        change((old) => heard(old, message));
        sound(before, latest.current);
        const match = 'match' in message && message.match && typeof message.match === 'object' ? message.match : null;
        if (match) agree(match);
      },
      state: (state, reason) => change((old) => ({ ...old, connection: state, reason })),
    });
    connection.current = made;
    share.current = new Share(made);
    return () => made.end();
  }, [id]);
  const { match } = room;
  useEffect(() => {
    if (match) document.title = titleOf(room, match);
  }, [room]);
  useEffect(() => {
    if (!room.reaction) return undefined;
    const timer = setTimeout(() => change((old) => ({ ...old, reaction: null })), REACTION_SHOWN);
    return () => clearTimeout(timer);
  }, [room.reaction]);
  if (room.connection === 'refused') return html`<main id="main" tabindex="-1"><h1>Match</h1><${Trouble}>${room.reason}<//><p><a href="/">All games</a></p></main>`;
  if (!match || !connection.current) return html`<main id="main"><h1>Match</h1><p role="status">Connecting …</p></main>`;
  const onMatch = (/** @type {Match} */ next) => {
    change((old) => ({ ...old, match: next }));
    agree(next);
  };
  return html`<${Playing} key=${id} room=${room} match=${match} connection=${connection.current} onMatch=${onMatch} />`;
}

/** The player's last pick in a match, stored so that a sealed one is known after a reload. @param {string} id */
function keptPick(id) {
  const known = JSON.parse(loadItem('duels.pick') ?? '{}');
  return known.id === id ? known : { moment: -1, move: '' };
}

/** @param {Room} room @param {Match} match */
function titleOf(room, match) {
  const turn = match.you && match.state === 'playing' && room.toMove.includes(match.you);
  return `${turn ? '● Your turn: ' : ''}${match.game.title} · Duels`;
}

/** @param {Room} before @param {Room} after */
function sound(before, after) {
  if (!after.caughtUp || after.moment === before.moment) return;
  const you = after.match?.you ?? null;
  const result = after.view?.result;
  if (result) play(result.winner === null || !you ? 'over' : result.winner === you ? 'won' : 'lost');
  else if (after.events.slice(before.events.length).some((entry) => entry.type === 'chance')) play('chance');
  else play(you && after.toMove.includes(you) ? 'turn' : 'pick');
}

/**
 * @param {{ room: Room, match: Match, connection: Connection, onMatch: (match: Match) => void }} props
 */
function Playing({ room, match, connection, onMatch }) {
  const { view } = room;
  const you = match.you;
  const [choosing, setChoosing] = useState(NOTHING);
  const [busy, setBusy] = useState(false);
  const [note, setNote] = useState('');
  const [mine, setMine] = useState(() => keptPick(match.id));
  const [asking, setAsking] = useState(/** @type {'' | 'resign' | 'rules'} */ (''));
  const dressed = useAsked(() => themes(), []);
  const theme = useMemo(() => themeOf(dressed.data ?? {}, match.game.slug), [dressed.data, match.game.slug]);
  useEffect(() => { if (theme.styled) dress(match.game.slug); }, [theme.styled]);
  // A layout effect runs before the page is painted, so that it does not discard a click after that.
  useLayoutEffect(() => { setChoosing(NOTHING); setNote(''); }, [room.moment, view?.choice === null]);
  const nameOf = (/** @type {Seat} */ seat) => seatName(match, seat);
  const moment = room.moment;

  const command = async (/** @type {string} */ type, /** @type {Record<string, unknown>} */ fields = {}) => {
    const answer = await connection.command(type, fields);
    const late = 'at' in fields && fields.at !== connection.hooks.since(); // another tab has submitted a move
    const why = late ? 'The match has moved on meanwhile.' : answer.reason ?? '';
    setNote(answer.ok ? answer.hint ?? '' : why);
    return answer;
  };
  const sending = useRef(false);
  const submit = async (/** @type {Record<string, unknown>} */ fields) => {
    if (sending.current) return null; // ignore a double click
    sending.current = true;
    setBusy(true);
    const answer = await command('move', { at: moment, ...fields });
    sending.current = false;
    setBusy(false);
    if (answer.ok) {
      const made = { moment, move: String(answer.move ?? fields.move ?? '') };
      setMine(made);
      saveItem('duels.pick', JSON.stringify({ id: match.id, ...made }));
    }
    return answer;
  };
  const onChosen = (/** @type {import('./choosing.js').Chosen} */ chosen) => {
    setChoosing(chosen.choosing);
    setNote('');
    if (chosen.move !== null) submit({ move: chosen.move });
  };
  const onTyped = async (/** @type {string} */ text, /** @type {string} */ soFar) => {
    const word = text.toLowerCase();
    if (['?', 'help', 'rules'].includes(word)) setAsking('rules');
    else if (word === 'resign') setAsking('resign');
    else if (word === 'hint' || word === 'undo') return (await command(word, { at: moment })).ok;
    else if ((word === 'back' || word === 'cancel') && soFar) setChoosing(NOTHING);
    else {
      const answer = await submit({ text, so_far: soFar });
      if (answer === null) return false;
      if (!answer.ok && answer.step) {
        setChoosing({ ...NOTHING, words: (answer.so_far ?? '').split(' ').filter(Boolean) });
        setNote('');
        return true;
      }
      return answer.ok;
    }
    return true;
  };

  const tree = view?.choice ?? null;
  const step = asked(tree, choosing)?.step;
  const over = match.state === 'over' || Boolean(view?.result);
  const computer = match.seats.some((seat) => seat?.kind === 'computer');
  const alert = room.connection === 'reconnecting' ? html`<p class="reconnecting" role="alert">Reconnecting …</p>` : null;
  const { faces, turned } = turnedUp(room.events);
  const parts = room.revealed ?? view?.table ?? [];
  return html`<main id="main" tabindex="-1" class="room" data-game=${match.game.slug} style=${{ '--hue': theme.hue }}>
    <h1 class="room-title">${match.game.title}<small>${match.time ? timeWords(match.time) : ''}</small></h1>
    ${alert}
    ${room.dice.wrong ? html`<${Trouble}>${`The dice of this match cannot be trusted. ${room.dice.wrong}`}<//>` : null}
    ${view ? html`<div class="board">
      <${Table} parts=${parts} you=${you} toMove=${over ? [] : room.toMove} nameOf=${nameOf} faces=${faces} turned=${turned}
        mine=${mine.moment === moment ? mine.move : ''} asked=${step?.kind}
        clock=${view.clocks.some((left) => left !== null) && !over ? { left: view.clocks, at: room.heard, running: room.toMove } : null}
        online=${over ? undefined : onlineOf(room, match)} fresh=${room.caughtUp} rolled=${lastChance(room.events)}
        beside=${(/** @type {Seat} */ seat) => html`<${Rated} seated=${match.seats[seat - 1]} /><${Floating} room=${room} seat=${seat} />`}
        touch=${{
          how: (/** @type {any} */ item) => (busy ? '' : clickable(tree, choosing, item)),
          picked: (/** @type {string} */ key) => choosing.picked.some((one) => one.key === key),
          click: (/** @type {string} */ key, /** @type {any} */ item) => tree && onChosen(clickItem(tree, choosing, key, item)),
        }} />
      ${over ? html`<${Ended} room=${room} match=${match} connection=${connection} />` : null}
      ${!over && you ? html`<${Choose} view=${view} choosing=${choosing} busy=${busy} note=${note} hints=${computer}
        waiting=${waitingFor(room, match, nameOf)} onChosen=${onChosen} onTyped=${onTyped}
        onBack=${(/** @type {string[]} */ words) => setChoosing({ ...NOTHING, words })} />` : null}
      ${!over && !you ? html`<p class="prompt" role="status">You are watching. ${waitingFor(room, match, nameOf)}</p>` : null}
      ${!over && you ? html`<${Around} room=${room} match=${match} computer=${computer} busy=${busy} nameOf=${nameOf} command=${command}
        onResign=${() => setAsking('resign')} />` : null}
    </div>` : html`<${Invite} match=${match} onMatch=${onMatch} />
      ${room.dice.note ? html`<p role="status">${room.dice.note}</p>` : null}
      ${you && room.claim && room.claim.player !== you ? html`<${Claim} room=${room} claim=${room.claim} nameOf=${nameOf} command=${command} />` : null}
      ${note ? html`<${Trouble}>${note}<//>` : null}`}
    ${view ? html`<${Aside} room=${room} match=${match} connection=${connection} />` : null}
    ${asking === 'resign' ? html`<${Dialog} title="Resign?" onClose=${() => setAsking('')}>
      <p>${nameOf(/** @type {Seat} */ (3 - (you ?? 1)))} wins the match.</p>
      <p class="buttons"><button type="button" class="main danger" onClick=${() => { setAsking(''); command('resign', { at: moment }); }}>Resign</button>
      <button type="button" class="plain" onClick=${() => setAsking('')}>Play on</button></p><//>` : null}
    ${asking === 'rules' ? html`<${Dialog} title=${`Rules of ${match.game.title}`} onClose=${() => setAsking('')}><${Rules} game=${match.game} /><//>` : null}
  </main>`;
}

/** The players who are connected; a computer player always is. @param {Room} room @param {Match} match @returns {Seat[]} */
function onlineOf(room, match) {
  const computers = match.seats.flatMap((seat) => (seat?.kind === 'computer' ? [seat.player] : []));
  return [...room.online, ...computers];
}

/** @param {Room} room @param {Match} match @param {(seat: Seat) => string} nameOf */
function waitingFor(room, match, nameOf) {
  const others = room.toMove.filter((seat) => seat !== match.you);
  const sealed = match.you && room.view?.sealed.includes(match.you);
  if (!others.length) return '…';
  return `${sealed ? 'Your choice is sealed. ' : ''}Waiting for ${others.map(nameOf).join(' and ')} …`;
}

/** @param {{ seated: import('./protocol.js').Seated | null }} props */
function Rated({ seated }) {
  return seated?.rating ? html`<span class="rating" title="rating in this game">${Math.round(seated.rating)}<span class="unseen"> rating</span></span>` : null;
}

/** The reaction of a player, shown beside the name. @param {{ room: Room, seat: Seat }} props */
function Floating({ room, seat }) {
  const { reaction } = room;
  if (!reaction || reaction.player !== seat) return null;
  return html`<span class="floating" key=${reaction.id} role="status">${reaction.reaction}</span>`;
}

/**
 * The actions of a player besides moves: hint, undo, resign, claim.
 * @param {{ room: Room, match: Match, computer: boolean, busy: boolean, nameOf: (seat: Seat) => string, onResign: () => void,
 *   command: (type: string, fields?: Record<string, unknown>) => Promise<unknown> }} props
 */
function Around({ room, match, computer, busy, nameOf, command, onResign }) {
  const at = room.moment;
  // While a move is on its way, an undo would refer to the moment before it and be refused.
  const undoable = !busy && room.events.some(({ type, moves }) => type === 'pick' && moves && match.you && match.you in moves);
  const offer = room.view?.offer ?? null;
  const shared = useAsked(() => catalogue(), []);
  return html`<section class="around" aria-label="Actions in the match">
    ${offer !== null && offer !== match.you ? html`<div class="offer" role="alert"><span>${nameOf(offer)} asks to take the last move back.</span>
      <button type="button" onClick=${() => command('accept', { at })}>Agree</button>
      <button type="button" onClick=${() => command('decline', { at })}>Decline</button></div>` : null}
    ${offer !== null && offer === match.you ? html`<div class="offer" role="status"><span>You asked to take your last move back.</span>
      <button type="button" onClick=${() => command('decline', { at })}>Withdraw</button></div>` : null}
    ${room.claim && room.claim.player !== match.you ? html`<${Claim} room=${room} claim=${room.claim} nameOf=${nameOf} command=${command} />` : null}
    <div class="buttons">
      ${computer ? html`<button type="button" onClick=${() => command('hint', { at })}>Hint</button>` : null}
      <button type="button" disabled=${!undoable} onClick=${() => command('undo', { at })}>${computer ? 'Undo' : 'Ask to undo'}</button>
      <button type="button" onClick=${onResign}>Resign</button>
      ${computer ? null : html`<span class="reactions" role="group" aria-label="Reactions">${(shared.data?.reactions ?? []).map((one) => html`
        <button type="button" key=${one} class="plain" aria-label=${`React with ${one}`} onClick=${() => command('react', { reaction: one })}>${one}</button>`)}</span>`}
    </div>
  </section>`;
}

/** @param {{ room: Room, claim: { player: Seat, at: number }, nameOf: (seat: Seat) => string, command: (type: string) => Promise<unknown> }} props */
function Claim({ room, claim, nameOf, command }) {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((n) => n + 1), 500);
    return () => clearInterval(timer);
  }, []);
  const left = Math.ceil(claim.at - (Date.now() / 1000 + room.skew));
  return html`<div class="offer">
    <span>${room.view ? `${nameOf(claim.player)} is away.` : `The match waits for ${nameOf(claim.player)}’s share of the dice.`} ${left > 0 ? `You may claim the win in ${left} s.` : 'You may claim the win.'}</span>
    ${left > 0 ? null : html`<button type="button" onClick=${() => command('claim')}>Claim the win</button>`}
  </div>`;
}

/** The panel beside the table: log and rules. @param {{ room: Room, match: Match, connection: Connection }} props */
function Aside({ room, match, connection }) {
  const first = firstNumber(room);
  const end = useRef(/** @type {HTMLDivElement | null} */ (null));
  useEffect(() => { end.current?.scrollTo({ top: end.current.scrollHeight }); }, [room.passages.at(-1)]);
  return html`<aside class="beside" aria-label="Log and rules">
    <h2>What happened</h2>
    <div class="log" role="log" aria-live="polite" aria-label="What happened" tabindex="0" ref=${end}>
      ${first > 0 ? html`<button type="button" onClick=${() => connection.command('log', { before: first })}>Show earlier events</button>` : null}
      ${room.passages.map((passage) => html`<div key=${`${passage.kind} ${passage.number}`} class=${`passage ${passage.kind}`}><${Lines} lines=${passage.lines} /></div>`)}
    </div>
    <p class="watchers">${room.spectators ? `${room.spectators} watching` : ''}</p>
    <details class="rules-beside"><summary>Rules and options of this match</summary><${Rules} game=${match.game} /></details>
    <${Report} match=${match} />
  </aside>`;
}
