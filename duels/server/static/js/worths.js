// The moves of a choice with their values, as rows with bars.

import { html } from './lib.js';
import { exactOf, percent, share } from './values.js';

/** @typedef {import('./protocol.js').Choice} Choice */

/** The moves from the best to the worst. @param {Choice} choice */
function ranked(choice) {
  const sign = choice.player === 1 ? -1 : 1;
  return Object.entries(choice.moves).sort(([, one], [, two]) => sign * ((one.value ?? 0) - (two.value ?? 0)));
}

/** A sentence on why perfect play mixes. @param {Choice} choice */
export function whyMix(choice) {
  return Object.keys(choice.mix).length > 1 && !choice.rough
    ? 'These moves are worth the same against perfect play. An opponent who could predict one of them would gain, so perfect play draws among them.' : '';
}

/**
 * A row for each move: what it is worth to the player who chooses, and how often perfect play chooses it.
 * @param {{ unit?: string, choice: Choice, href?: (move: string) => string, picked?: string[], onPick?: (move: string) => void }} props
 */
export function Worths({ unit, choice, href, picked = [], onPick }) {
  const mixed = Object.keys(choice.mix).length > 1;
  return html`<ul class="worths">${ranked(choice).map(([move, about]) => {
    const plays = choice.mix[move];
    const worth = about.value === null ? 'not known' : unit ? `${about.value.toFixed(4)}` : percent(share(about, choice.player));
    const content = html`<b class="move">${move}</b><span class="worth">${worth}<small>${exactOf(about, unit ? 1 : choice.player)}${about.distance ? `, ${about.distance} to the end` : ''}</small></span>
      ${about.value === null || unit ? null : html`<span class="bar" aria-hidden="true"><i style=${{ width: `${100 * share(about, choice.player)}%` }}></i></span>`}
      ${plays === undefined ? null : html`<span class="mix">${choice.rough ? 'rule of thumb' : 'perfect play'}${mixed ? ` ${percent(plays)}` : ''}
        ${mixed ? html`<span class="bar" aria-hidden="true"><i style=${{ width: `${100 * plays}%` }}></i></span>` : null}</span>`}`;
    const yours = picked.includes(move);
    return html`<li key=${move} class=${[plays === undefined ? '' : 'best', yours ? 'yours' : ''].join(' ').trim()}>${href
      ? html`<a href=${href(move)} data-move=${move}>${content}</a>`
      : onPick ? html`<button type="button" data-move=${move} aria-pressed=${String(yours)} onClick=${() => onPick(move)}>${content}</button>`
      : html`<div data-move=${move}>${content}${yours ? html`<span class="mix">your choice</span>` : null}</div>`}</li>`;
  })}</ul>`;
}
