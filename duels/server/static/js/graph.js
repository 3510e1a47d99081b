// The graph of the expected score or payoff over a match; a click selects a moment.

import { html } from './lib.js';

const WIDTH = 800;
const HEIGHT = 220;
const LEFT = 104;
const EDGE = 14;

/**
 * Values are from 0 to 1; with `most`, the highest payoff, they stand for payoffs from -most to most.
 * @param {{ points: import('./graded.js').Point[], last: number, moment: number,
 *   name: string, most?: number, bad: number[], onMoment: (moment: number) => void }} props
 */
export function Graph({ points, last, moment, name, most, bad, onMoment }) {
  const x = (/** @type {number} */ at) => LEFT + ((WIDTH - LEFT - EDGE) * at) / Math.max(1, last);
  const y = (/** @type {number} */ value) => EDGE + (HEIGHT - 2 * EDGE) * (1 - value);
  const pairs = points.slice(1).map((point, n) => ({ from: points[n], to: point })).filter(({ from, to }) => from.value !== null && to.value !== null);
  const click = (/** @type {MouseEvent} */ event) => {
    const box = /** @type {Element} */ (event.currentTarget).getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * WIDTH;
    onMoment(Math.round(Math.max(0, Math.min(1, (at - LEFT) / (WIDTH - LEFT - EDGE))) * last));
  };
  const known = points.filter((point, n) => point.value !== null && (n === 0 || point.chance));
  const shown = (/** @type {number} */ value) => (most ? (most * (2 * value - 1)).toFixed(2) : `${Math.round(100 * value)}%`);
  const now = points.filter((point) => point.moment <= moment && point.value !== null).at(-1);
  const changes = pairs.some(({ from, to }) => to.chance && to.value !== from.value);
  const spoken = `${name}: ${known.map((point) => shown(Number(point.value))).join(', ')}`;
  const marks = known.filter((point) => bad.includes(point.moment));
  return html`<svg class="graph" viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label=${spoken} onClick=${click}>
    ${[0, 0.5, 1].map((value) => html`<g key=${value}><line x1=${LEFT} x2=${WIDTH - EDGE} y1=${y(value)} y2=${y(value)} class="grid" />
      <text x=${LEFT - 8} y=${y(value)} text-anchor="end" dominant-baseline="central">${most ? most * (2 * value - 1) : `${100 * value}%`}</text></g>`)}
    ${pairs.map(({ from, to }, n) => html`<line key=${n} x1=${x(from.moment)} y1=${y(Number(from.value))} x2=${x(to.moment)} y2=${y(Number(to.value))}
      class="curve" stroke-dasharray=${to.chance && to.value !== from.value ? '3 7' : undefined} />`)}
    ${marks.map((point) => html`<circle key=${point.moment} cx=${x(point.moment)} cy=${y(Number(point.value))} r="6" class="bad" />`)}
    <line x1=${x(moment)} x2=${x(moment)} y1=${EDGE} y2=${HEIGHT - EDGE} class="here" />
    ${now ? html`<circle cx=${x(now.moment)} cy=${y(Number(now.value))} r="5" class="now" />
      <text x=${x(now.moment) + (now.moment > last / 2 ? -10 : 10)} y=${Math.max(28, y(Number(now.value)) - 12)} text-anchor=${now.moment > last / 2 ? 'end' : 'start'} class="value">${shown(Number(now.value))}</text>` : null}
  </svg>
  ${changes ? html`<p class="caveat">Solid: moves. Dashed: chance, or choices made at once. Dots: mistakes.</p>` : null}`;
}
