// The button that reports the opponent of a match to the operator of the server, with its dialog.

import { html, useState } from './lib.js';
import { post } from './api.js';
import { Dialog, Trouble, seatName } from './widgets.js';

const LONGEST = 500; // characters, as the server allows

/** @param {{ match: import('./protocol.js').Match }} props */
export function Report({ match }) {
  const [open, setOpen] = useState(false);
  const [reason, setReason] = useState('');
  const [trouble, setTrouble] = useState('');
  const [sent, setSent] = useState(false);
  const other = match.you ? /** @type {1 | 2} */ (3 - match.you) : null;
  if (!other || match.seats[other - 1]?.kind !== 'human') return null;
  const name = seatName(match, other);
  const send = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setTrouble('');
    try {
      await post(`/api/matches/${match.id}/report`, { reason: reason.trim() });
      setSent(true);
      setOpen(false);
    } catch (error) {
      setTrouble(/** @type {Error} */ (error).message);
    }
  };
  return html`<div class="report">
    ${sent ? null : html`<button type="button" class="plain" onClick=${() => setOpen(true)}>Report ${name}</button>`}
    <span role="status">${sent ? 'Reported. The operator of this server can read your report.' : ''}</span>
    ${open ? html`<${Dialog} title=${`Report ${name}?`} onClose=${() => setOpen(false)}>
      <form onSubmit=${send}>
        <label class="field"><span>What is wrong? The operator of this server sees your text and this match.</span>
          <textarea value=${reason} required maxlength=${LONGEST} rows="4" onInput=${(/** @type {Event} */ event) => setReason(/** @type {HTMLTextAreaElement} */ (event.target).value)}></textarea></label>
        ${trouble ? html`<${Trouble}>${trouble}<//>` : null}
        <p class="buttons"><button type="submit" class="main danger">Send the report</button>
        <button type="button" class="plain" onClick=${() => setOpen(false)}>Cancel</button></p>
      </form><//>` : null}
  </div>`;
}
