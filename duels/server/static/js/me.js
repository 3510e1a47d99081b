// The page of the player's identity: the name, and a private link to use it on another device.

import { html, useEffect, useState } from './lib.js';
import { catalogue, get, put, remove } from './api.js';
import { Qr } from './invite.js';
import { adoptKey, isKey, key, newKey, privateLink } from './store.js';
import { Copy, Dialog, Trouble, useAsked } from './widgets.js';

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
  const [deleting, setDeleting] = useState(false);
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
  const download = async () => {
    setTrouble('');
    try {
      const file = new Blob([JSON.stringify(await get('/api/me/export'), null, 1)], { type: 'application/json' });
      const link = document.createElement('a');
      link.href = URL.createObjectURL(file);
      link.download = 'duels-data.json';
      link.click();
      URL.revokeObjectURL(link.href);
    } catch (error) {
      setTrouble(/** @type {Error} */ (error).message);
    }
  };
  const erase = async () => {
    setDeleting(false);
    setTrouble('');
    try {
      await remove('/api/me');
      newKey();
      setTyped(null);
      asked.refresh();
      setSaid('Your data was deleted. This browser has a new identity.');
    } catch (error) {
      setTrouble(/** @type {Error} */ (error).message);
    }
  };
  const adopt = () => {
    adoptKey(offered);
    setTyped(null);
    setOffered('');
    setSaid('This device now has the identity from the link.');
  };
  return html`<main id="main" class="list" tabindex="-1">
    <h1>You</h1>
    ${offered ? html`<div class="offer" role="alert"><span>This private link gives this device the identity of the device it came from. Matches already played on this device stay with its old identity.</span>
      <button type="button" class="main" onClick=${adopt}>Use it</button> <button type="button" onClick=${() => setOffered('')}>Not now</button></div>` : null}
    ${trouble || asked.error ? html`<${Trouble}>${trouble || asked.error}<//>` : null}
    <form onSubmit=${save} class="name">
      <label class="field"><span>Your name, as others see it</span>
        <input value=${name} required maxlength="24" autocomplete="nickname" onInput=${(/** @type {Event} */ event) => { setTyped(/** @type {HTMLInputElement} */ (event.target).value); setSaid(''); }} /></label>
      <button type="submit" class="main">Save</button> <span role="status">${said}</span>
    </form>
    <h2>On another device</h2>
    <p>There is no sign-up: your identity is a private key in this browser. This link copies the key to another device. A person who has the link can play as you, so keep it to yourself.</p>
    ${shown ? html`<${Copy} label="Your private link" text=${privateLink()} /><${Qr} text=${privateLink()} />`
      : html`<button type="button" onClick=${() => setShown(true)}>Show my private link</button>`}
    ${asked.data?.ratings?.length ? html`<h2>Your ratings</h2><ul>${asked.data.ratings.map((/** @type {import('./protocol.js').Rating} */ one) => html`<li key=${one.game}>${titleOf(one.game)}: ${Math.round(one.rating)} (± ${Math.round(one.deviation)}), ${one.matches} ${one.matches === 1 ? 'match' : 'matches'}</li>`)}</ul>` : null}
    <h2>Your data</h2>
    <p>The server stores your name, your ratings, your reports and your matches.</p>
    <p class="buttons"><button type="button" onClick=${download}>Download my data</button>
      <button type="button" onClick=${() => setDeleting(true)}>Delete my data</button></p>
    ${deleting ? html`<${Dialog} title="Delete your data?" onClose=${() => setDeleting(false)}>
      <p>Your name and ratings are deleted, and your unfinished matches are resigned or withdrawn. Your finished matches stay for your opponents, with “Deleted player” in place of your name. This cannot be undone.</p>
      <p class="buttons"><button type="button" class="main danger" onClick=${erase}>Delete my data</button>
      <button type="button" class="plain" onClick=${() => setDeleting(false)}>Keep it</button></p><//>` : null}
  </main>`;
}
