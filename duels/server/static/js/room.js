// The page of a match: invitation, play, spectators, result.

import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from './lib.js';
import { Banner, Pace, fortune } from './banner.js';
import { Choose } from './choose.js';
import { NOTHING, asked, clickItem, clickable, consequence } from './choosing.js';
import { Share } from './dice.js';
import { Ended } from './ended.js';
import { Invite, timeWords } from './invite.js';
import { Connection } from './connection.js';
import { catalogue } from './api.js';
import { Report } from './report.js';
import { EMPTY, firstNumber, heard, lastChance, turnedUp } from './room-state.js';
import { Rules } from './rules.js';
import { restoreFocus, useShortcuts } from './shortcuts.js';
import { play } from './sound.js';
import { loadObject, preference, saveItem } from './store.js';
import { Table } from './table.js';
import { dress, themeOf, themes } from './themes.js';
import { Dialog, Trouble, sentence, useAsked } from './widgets.js';

/** @typedef {import('./room-state.js').Room} Room */
/** @typedef {import('./wire.js').Seat} Seat */
/** @typedef {import('./protocol.js').Match} Match */

const REACTION_SHOWN = 2500; // milliseconds, as long as its animation in table.css
const ROLLING = 600; // milliseconds, as long as the animation of a die in table.css
const RESTS = 1000; // milliseconds that a chance outcome is shown before the next event
const EXPLAINED_AFTER = 3000; // milliseconds after which the page says why a match has not started

/** @param {{ id: string }} props */
export function RoomPage({ id }) {
  const [room, setRoom] = useState(EMPTY);
  const latest = useRef(EMPTY);
  const connection = useRef(/** @type {Connection | null} */ (null));
  const pace = useRef(/** @type {Pace<import('./protocol.js').Message> | null} */ (null));
  const share = useRef(/** @type {Share | null} */ (null));
  const dressed = useAsked(() => themes(), []);
  const [styled, setStyled] = useState(false);
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
    const queue = new Pace((/** @type {import('./protocol.js').Message} */ message) => {
      const before = latest.current;
      change((old) => heard(old, message));
      sound(before, latest.current);
      queue.rest(resting(before, latest.current));
      const match = 'match' in message && message.match && typeof message.match === 'object' ? message.match : null;
      if (match) agree(match);
    });
    const made = new Connection(id, {
      since: () => latest.current.moment,
      message: (message) => {
        if (message.type === 'welcome') queue.flush();
        queue.add(message);
      },
      state: (state, reason) => change((old) => ({ ...old, connection: state, reason })),
    });
    pace.current = queue;
    connection.current = made;
    share.current = new Share(made);
    return () => { made.end(); clearTimeout(queue.timer); };
  }, [id]);
  const { match } = room;
  const theme = useMemo(() => themeOf(dressed.data ?? {}, match?.game.slug ?? ''), [dressed.data, match?.game.slug]);
  useEffect(() => {
    if (!match || (!dressed.data && !dressed.error)) return;
    if (theme.styled) dress(match.game.slug).then(() => setStyled(true));
    else setStyled(true);
  }, [theme, match?.game.slug]);
  useEffect(() => {
    if (match) document.title = titleOf(room, match);
  }, [room]);
  useEffect(() => {
    if (!room.reaction) return undefined;
    const timer = setTimeout(() => change((old) => ({ ...old, reaction: null })), REACTION_SHOWN);
    return () => clearTimeout(timer);
  }, [room.reaction]);
  const onMatch = (/** @type {Match} */ next) => {
    change((old) => ({ ...old, match: next }));
    agree(next);
  };
  const refused = room.connection === 'refused';
  const invites = match && !room.view && (match.state === 'waiting' || match.state === 'closed');
  const ready = !refused && match && styled && (room.view || invites);
  // The element is the same in all cases, so that it keeps the focus.
  return html`<main id="main" tabindex="-1" class=${refused ? 'list' : `room ${room.view || !invites ? 'match' : ''}`}
    data-game=${match?.game.slug} style=${{ '--hue': match ? theme.hue : undefined }}>
    ${refused ? html`<h1>Match</h1><${Trouble}>${room.reason}<//><p><a href="/">All games</a></p>`
      : ready && connection.current ? html`<${Playing} key=${id} room=${room} match=${match} connection=${connection.current} pace=${pace.current} onMatch=${onMatch} />`
      : html`<${Skeleton} room=${room} command=${(/** @type {string} */ type) => connection.current?.command(type)} />`}
  </main>`;
}

/** The table before the first view has come: empty, at the size of the real one. @param {{ room: Room, command: (type: string) => unknown }} props */
function Skeleton({ room, command }) {
  const { match } = room;
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), EXPLAINED_AFTER);
    return () => clearTimeout(timer);
  }, []);
  const starting = match?.state === 'starting';
  const claim = match?.you && room.claim && room.claim.player !== match.you ? room.claim : null;
  return html`<h1 class="room-title">${match?.game.title ?? 'Match'}</h1>
    <div class="play skeleton"><div class="board"><div class="table"><div class="side above"></div>
      <div class="centre"><div class="banner" role="status"><p class="event">${starting ? 'Starting …' : room.connection === 'reconnecting' ? 'Reconnecting …' : 'Connecting …'}</p>
        <p class="detail">${room.dice.note || (starting && late ? 'Both sides contribute to the dice, so that neither can choose them.' : '')}</p></div></div>
      <div class="side below"></div></div></div>
      <div class="dock"><div class="notices">
        ${room.dice.wrong ? html`<${Trouble}>${`The dice of this match cannot be trusted. ${room.dice.wrong}`}<//>` : null}
        ${starting && match.reveal_by ? html`<p class="offer">${`A player who has not contributed to the dice by ${new Date(1000 * match.reveal_by).toLocaleString()} forfeits the match.`}</p>` : null}
        ${claim ? html`<${Claim} room=${room} claim=${claim} name=${match?.names[claim.player - 1] ?? ''} command=${command} />` : null}
      </div><div class="controls"></div></div></div>`;
}

/** How long the state after a message stays, in milliseconds: a chance outcome rests, except against the clock. @param {Room} before @param {Room} after */
function resting(before, after) {
  if (!after.caughtUp || after.moment === before.moment || preference('pauses') === 'off') return 0;
  if (after.view?.clocks.some((left) => left !== null)) return 0;
  const minor = new Set(after.captions.filter((caption) => caption.minor).map((caption) => caption.number));
  const rolled = after.events.slice(before.events.length).some((entry) => entry.type === 'chance' && !minor.has(entry.number));
  if (!rolled) return 0;
  return RESTS + (matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : ROLLING);
}

/** The player's last pick in a match, stored so that a sealed one is known after a reload. @param {string} id */
function keptPick(id) {
  const known = loadObject('duels.pick');
  return known?.id === id ? known : { moment: -1, move: '' };
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
 * @param {{ room: Room, match: Match, connection: Connection, pace: Pace<import('./protocol.js').Message> | null, onMatch: (match: Match) => void }} props
 */
function Playing({ room, match, connection, pace, onMatch }) {
  const { view } = room;
  const you = match.you;
  const [choosing, setChoosing] = useState(NOTHING);
  const [busy, setBusy] = useState(false);
  const [note, setNote] = useState('');
  const [mine, setMine] = useState(() => keptPick(match.id));
  const [asking, setAsking] = useState(/** @type {'' | 'resign' | 'rules'} */ (''));
  const [typing, setTyping] = useState(preference('typing') === 'on');
  const inside = useRef(false);
  // Layout effects run before the page is painted, so that they do not discard a click after that.
  useLayoutEffect(() => { setChoosing(NOTHING); setNote(''); }, [room.moment, view?.choice === null]);
  useLayoutEffect(() => restoreFocus(inside));
  useShortcuts({
    onType: () => {
      setTyping(true);
      requestAnimationFrame(() => document.getElementById('typed')?.focus());
    },
    onBack: () => setChoosing((old) => (old.picked.length ? { ...old, picked: [] } : { ...NOTHING, words: old.words.slice(0, -1) })),
  });
  const nameOf = (/** @type {Seat} */ seat) => match.names[seat - 1];
  const moment = room.moment;

  const command = async (/** @type {string} */ type, /** @type {Record<string, unknown>} */ fields = {}) => {
    pace?.flush();
    const answer = await connection.command(type, 'at' in fields ? { ...fields, at: type === 'move' ? fields.at : connection.hooks.since() } : fields);
    const late = type === 'move' && fields.at !== connection.hooks.since(); // another tab has submitted a move
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
  const now = asked(tree, choosing);
  const over = match.state === 'over' || Boolean(view?.result);
  const computer = match.seats.some((seat) => seat?.kind === 'computer');
  const { faces, turned } = turnedUp(room.events);
  const parts = room.revealed ?? view?.table ?? [];
  const last = room.captions.find((caption) => caption.number === turned);
  const start = room.toMove.length > 1 ? 'Both choose at once' : room.toMove.length ? `${room.toMove[0] === you ? 'You begin' : `${nameOf(room.toMove[0])} begins`}` : '';
  return html`
    <h1 class="room-title">${match.game.title}<small>${match.time ? timeWords(match.time) : ''}</small></h1>
    ${view ? html`<div class="play" onFocusIn=${() => { inside.current = true; }} onFocusOut=${(/** @type {FocusEvent} */ event) => { if (event.relatedTarget) inside.current = false; }}>
      <div class="board">
      <${Table} parts=${parts} you=${you} toMove=${over ? [] : room.toMove} nameOf=${nameOf} faces=${faces} turned=${turned} won=${last?.favours}
        banner=${html`<${Banner} captions=${room.captions} you=${you} start=${start} />`}
        mine=${mine.moment === moment ? mine.move : ''} asked=${now?.step.kind}
        clock=${view.clocks.some((left) => left !== null) && !over ? { left: view.clocks, at: room.heard, running: room.toMove } : null}
        online=${over ? undefined : onlineOf(room, match)} fresh=${room.caughtUp} rolled=${lastChance(room.events)}
        beside=${(/** @type {Seat} */ seat) => html`<${Seated} seated=${match.seats[seat - 1]} /><${Floating} room=${room} seat=${seat} />`}
        touch=${{
          how: (/** @type {any} */ item) => (busy ? '' : clickable(tree, choosing, item)),
          picked: (/** @type {string} */ key) => choosing.picked.some((one) => one.key === key),
          click: (/** @type {string} */ key, /** @type {any} */ item) => tree && onChosen(clickItem(tree, choosing, key, item)),
          effect: (/** @type {any} */ item) => (item.choice && now && !now.step.many ? consequence(now, NOTHING, item.choice) : ''),
        }} />
      </div>
      <div class=${`dock ${over ? 'over' : ''}`}>
        <div class="notices">
          ${room.connection === 'reconnecting' ? html`<p class="reconnecting" role="alert">Reconnecting …</p>` : null}
          ${room.dice.wrong ? html`<${Trouble}>${`The dice of this match cannot be trusted. ${room.dice.wrong}`}<//>` : null}
          ${over ? html`<${Ended} room=${room} match=${match} connection=${connection} />` : null}
          ${!over && you ? html`<${Offers} room=${room} match=${match} nameOf=${nameOf} command=${command} />` : null}
        </div>
        <div class=${`controls ${you === null || parts.some((part) => part.type === 'tokens' && part.owner === you) ? 'compact' : ''}`}>
          ${!over && you ? html`<${Choose} view=${view} choosing=${choosing} busy=${busy} note=${note} hints=${computer} typing=${typing}
            waiting=${waitingFor(room, match, nameOf)} onChosen=${onChosen} onTyped=${onTyped} onHide=${() => setTyping(false)}
            onBack=${(/** @type {string[]} */ words) => setChoosing({ ...NOTHING, words })} />` : null}
          ${!over && !you ? html`<p class="prompt" role="status">You are watching. ${waitingFor(room, match, nameOf)}</p>` : null}
          ${!over && you ? html`<${Around} room=${room} match=${match} computer=${computer} busy=${busy} command=${command}
            onResign=${() => setAsking('resign')} />` : null}
        </div>
      </div>
    </div>
    <${Aside} room=${room} match=${match} connection=${connection} />` : html`<${Invite} match=${match} onMatch=${onMatch} />
      ${room.dice.note ? html`<p role="status">${room.dice.note}</p>` : null}
      ${room.dice.wrong ? html`<${Trouble}>${`The dice of this match cannot be trusted. ${room.dice.wrong}`}<//>` : null}
      ${note ? html`<${Trouble}>${note}<//>` : null}`}
    ${asking === 'resign' ? html`<${Dialog} title="Resign?" onClose=${() => setAsking('')}>
      <p>${nameOf(/** @type {Seat} */ (3 - (you ?? 1)))} wins the match.</p>
      <p class="buttons"><button type="button" class="main danger" onClick=${() => { setAsking(''); command('resign', { at: moment }); }}>Resign</button>
      <button type="button" class="plain" onClick=${() => setAsking('')}>Play on</button></p><//>` : null}
    ${asking === 'rules' ? html`<${Dialog} title=${`Rules of ${match.game.title}`} onClose=${() => setAsking('')}><${Rules} game=${match.game} /><//>` : null}`;
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

/** The level of a computer player, and the rating. @param {{ seated: import('./protocol.js').Seated | null }} props */
function Seated({ seated }) {
  return html`${seated?.kind === 'computer' ? html`<span class="rating">${seated.name}</span>` : null}
    ${seated?.rating ? html`<span class="rating" title="rating in this game">${Math.round(seated.rating)}<span class="unseen"> rating</span></span>` : null}`;
}

/** The reaction of a player, shown beside the name. @param {{ room: Room, seat: Seat }} props */
function Floating({ room, seat }) {
  const { reaction } = room;
  if (!reaction || reaction.player !== seat) return null;
  return html`<span class="floating" key=${reaction.id} role="status">${reaction.reaction}</span>`;
}

/**
 * What the opponent asks, and what the player has asked.
 * @param {{ room: Room, match: Match, nameOf: (seat: Seat) => string, command: (type: string, fields?: Record<string, unknown>) => Promise<unknown> }} props
 */
function Offers({ room, match, nameOf, command }) {
  const at = room.moment;
  const offer = room.view?.offer ?? null;
  return html`
    ${offer !== null && offer !== match.you ? html`<div class="offer" role="alert"><span>${nameOf(offer)} asks to take the last move back.</span>
      <button type="button" onClick=${() => command('accept', { at })}>Agree</button>
      <button type="button" onClick=${() => command('decline', { at })}>Decline</button></div>` : null}
    ${offer !== null && offer === match.you ? html`<div class="offer" role="status"><span>You asked to take your last move back.</span>
      <button type="button" onClick=${() => command('decline', { at })}>Withdraw</button></div>` : null}
    ${room.claim && room.claim.player !== match.you && !room.online.includes(room.claim.player) ? html`<${Claim} room=${room} claim=${room.claim} name=${nameOf(room.claim.player)} command=${command} />` : null}`;
}

/**
 * The actions of a player besides moves: hint, undo, resign, reactions.
 * @param {{ room: Room, match: Match, computer: boolean, busy: boolean, onResign: () => void,
 *   command: (type: string, fields?: Record<string, unknown>) => Promise<unknown> }} props
 */
function Around({ room, match, computer, busy, command, onResign }) {
  const at = room.moment;
  const [open, setOpen] = useState(false);
  // While a move is on its way, an undo would refer to the moment before it and be refused.
  const undoable = !busy && room.events.some(({ type, moves }) => type === 'pick' && moves && match.you && match.you in moves);
  const shared = useAsked(() => catalogue(), []);
  return html`<section class="around" aria-label="Actions in the match">
    ${computer ? html`<button type="button" onClick=${() => command('hint', { at })}>Hint</button>` : null}
    <button type="button" disabled=${!undoable} onClick=${() => command('undo', { at })}>${computer ? 'Undo' : 'Ask to undo'}</button>
    <button type="button" onClick=${onResign}>Resign</button>
    ${computer ? null : html`<button type="button" class="plain react" aria-expanded=${String(open)} aria-label="Show reactions" onClick=${() => setOpen(!open)}>☺</button>
      <span class=${`reactions ${open ? 'open' : ''}`} role="group" aria-label="Reactions">${(shared.data?.reactions ?? []).map((one) => html`
      <button type="button" key=${one} class="plain" aria-label=${`React with ${one}`} onClick=${() => { setOpen(false); command('react', { reaction: one }); }}>${one}</button>`)}</span>`}
  </section>`;
}

/** @param {{ room: Room, claim: { player: Seat, at: number }, name: string, command: (type: string) => unknown }} props */
function Claim({ room, claim, name, command }) {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((n) => n + 1), 500);
    return () => clearInterval(timer);
  }, []);
  const left = Math.ceil(claim.at - (Date.now() / 1000 + room.skew));
  return html`<div class="offer">
    <span>${room.view ? `${name} is away.` : `The match waits for ${name}’s share of the dice.`} ${left > 0 ? `You may claim the win in ${left} s.` : 'You may claim the win.'}</span>
    ${left > 0 ? null : html`<button type="button" onClick=${() => command('claim')}>Claim the win</button>`}
  </div>`;
}

/** The panel beside the table: log and rules. @param {{ room: Room, match: Match, connection: Connection }} props */
function Aside({ room, match, connection }) {
  const first = firstNumber(room);
  const end = useRef(/** @type {HTMLDivElement | null} */ (null));
  useEffect(() => { end.current?.scrollTo({ top: end.current.scrollHeight }); }, [room.captions.at(-1)]);
  // The banner is announced, so the log is not.
  return html`<aside class="beside" aria-label="Log and rules">
    <h2>What happened</h2>
    <div class="log" role="log" aria-live="off" aria-label="What happened" tabindex="0" ref=${end}>
      ${first > 0 ? html`<button type="button" onClick=${() => connection.command('log', { before: first, captions: true })}>Show earlier events</button>` : null}
      ${room.captions.map((caption) => html`<p key=${caption.number} class=${`line ${caption.minor ? 'minor' : fortune(caption.favours, match.you)}`}>${caption.text}
        ${caption.detail ? html` <small>${sentence(caption.detail)}</small>` : null}</p>`)}
    </div>
    <p class="watchers">${room.spectators ? `${room.spectators} watching` : ''}</p>
    <details class="rules-beside"><summary>Rules and options of this match</summary><${Rules} game=${match.game} /></details>
    <${Report} match=${match} />
  </aside>`;
}
