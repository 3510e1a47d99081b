// The graph of the expected score or payoff over a match; a click selects a moment.

import { html } from './lib.js';

const WIDTH = 800;
const HEIGHT = 220;
const LEFT = 104;
const EDGE = 14;

/**
 * Values are from 0 to 1; with `most`, the highest payoff, they stand for payoffs from -most to most.
 * @param {{ points: { moment: number, value: number | null }[], last: number, moment: number,
 *   name: string, most?: number, bad: number[], onMoment: (moment: number) => void }} props
 */
export function Graph({ points, last, moment, name, most, bad, onMoment }) {
  const x = (/** @type {number} */ at) => LEFT + ((WIDTH - LEFT - EDGE) * at) / Math.max(1, last);
  const y = (/** @type {number} */ value) => EDGE + (HEIGHT - 2 * EDGE) * (1 - value);
  /** @type {string[][]} */
  const lines = [[]];
  for (const { moment: at, value } of points) {
    if (value === null) lines.push([]);
    else lines[lines.length - 1].push(`${x(at).toFixed(1)},${y(value).toFixed(1)}`);
  }
  const click = (/** @type {MouseEvent} */ event) => {
    const box = /** @type {Element} */ (event.currentTarget).getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * WIDTH;
    onMoment(Math.round(Math.max(0, Math.min(1, (at - LEFT) / (WIDTH - LEFT - EDGE))) * last));
  };
  const known = points.filter((point) => point.value !== null);
  const told = known.map((point) => (most ? (most * (2 * Number(point.value) - 1)).toFixed(2) : Math.round(100 * Number(point.value))));
  const spoken = `${name}: ${told.join(', ')}${most ? '' : ' percent'}`;
  const marks = known.filter((point) => bad.includes(point.moment));
  return html`<svg class="graph" viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label=${spoken} onClick=${click}>
    ${[0, 0.5, 1].map((value) => html`<g key=${value}><line x1=${LEFT} x2=${WIDTH - EDGE} y1=${y(value)} y2=${y(value)} class="grid" />
      <text x=${LEFT - 8} y=${y(value)} text-anchor="end" dominant-baseline="central">${most ? most * (2 * value - 1) : `${100 * value}%`}</text></g>`)}
    ${lines.filter((line) => line.length).map((line, n) => html`<polyline key=${n} points=${line.join(' ')} class="curve" />`)}
    ${marks.map((point) => html`<circle key=${point.moment} cx=${x(point.moment)} cy=${y(Number(point.value))} r="6" class="bad" />`)}
    <line x1=${x(moment)} x2=${x(moment)} y1=${EDGE} y2=${HEIGHT - EDGE} class="here" />
  </svg>`;
}
