// Who one is: a name, and a private link that brings the identity to another device.

import { html, useEffect, useState } from './lib.js';
import { catalogue, get, put } from './api.js';
import { Qr } from './invite.js';
import { adoptKey, isKey, key, privateLink } from './store.js';
import { Copy, Trouble, useAsked } from './widgets.js';

export function MePage() {
  const brought = new URLSearchParams(location.hash.slice(1)).get('key') ?? '';
  const [offered, setOffered] = useState(isKey(brought) && brought !== key() ? brought : '');
  const asked = useAsked(() => get('/api/me'), [offered]);
  const games = useAsked(() => catalogue(), []);
  const titleOf = (/** @type {string} */ slug) => games.data?.games.find((game) => game.slug === slug)?.title ?? slug;
  const [typed, setTyped] = useState(/** @type {string | null} */ (null));
  const [said, setSaid] = useState('');
  const [trouble, setTrouble] = useState('');
  const [shown, setShown] = useState(false);
  useEffect(() => {
    document.title = 'You · Duels';
    if (brought) history.replaceState(null, '', '/me'); // the key does not stay in the address
  }, []);
  const name = typed ?? asked.data?.name ?? ''; // an answer that comes late takes nothing back
  const save = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setTrouble('');
    try {
      await put('/api/me', { name: name.trim() });
      setSaid('Saved.');
    } catch (error) {
      setTrouble(/** @type {Error} */ (error).message);
    }
  };
  const adopt = () => {
    adoptKey(offered);
    setTyped(null);
    setOffered('');
    setSaid('This device now plays as the one the link came from.');
  };
  return html`<main id="main" class="list" tabindex="-1">
    <h1>You</h1>
    ${offered ? html`<div class="offer" role="alert"><span>This private link makes this device play as the one it came from. What this device played before stays with its old identity.</span>
      <button type="button" class="main" onClick=${adopt}>Use it</button> <button type="button" onClick=${() => setOffered('')}>Not now</button></div>` : null}
    ${trouble || asked.error ? html`<${Trouble}>${trouble || asked.error}<//>` : null}
    <form onSubmit=${save} class="name">
      <label class="field"><span>Your name, as others see it</span>
        <input value=${name} required maxlength="24" autocomplete="nickname" onInput=${(/** @type {Event} */ event) => { setTyped(/** @type {HTMLInputElement} */ (event.target).value); setSaid(''); }} /></label>
      <button type="submit" class="main">Save</button> <span role="status">${said}</span>
    </form>
    <h2>On another device</h2>
    <p>There is no sign-up: a private key in this browser is who you are. This link brings it to another device. Any person who has it can play as you, so keep it to yourself.</p>
    ${shown ? html`<${Copy} label="Your private link" text=${privateLink()} /><${Qr} text=${privateLink()} />`
      : html`<button type="button" onClick=${() => setShown(true)}>Show my private link</button>`}
    ${asked.data?.ratings?.length ? html`<h2>Your ratings</h2><ul>${asked.data.ratings.map((/** @type {import('./protocol.js').Rating} */ one) => html`<li key=${one.game}>${titleOf(one.game)}: ${Math.round(one.rating)} (± ${Math.round(one.deviation)}), ${one.matches} ${one.matches === 1 ? 'match' : 'matches'}</li>`)}</ul>` : null}
  </main>`;
}
