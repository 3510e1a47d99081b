// Charts of perfect play: bars, or a map whose cells can be looked up.

import { html, useState } from './lib.js';

/** @typedef {import('./protocol.js').Chart} ChartData */
/** @typedef {Extract<ChartData, { kind: 'grid' }>} Grid */
/** @typedef {Extract<ChartData, { kind: 'bars' }>} Bars */

/** @param {{ chart: ChartData }} props */
export function Chart({ chart }) {
  return html`<section class="chart" aria-label=${chart.title}><h3>${chart.title}</h3>
    ${chart.kind === 'bars' ? html`<${BarList} chart=${chart} />` : html`<${Map} chart=${chart} />`}
    ${chart.note ? html`<p class="caveat">${chart.note}</p>` : null}</section>`;
}

/** @param {{ chart: Bars }} props */
function BarList({ chart }) {
  const most = Math.max(...Object.values(chart.values)) - chart.least || 1;
  return html`<ul class="bars">${Object.entries(chart.values).map(([name, value]) => html`<li key=${name}><b>${name}</b>
    <span class="bar" aria-hidden="true"><i style=${{ width: `${(100 * (value - chart.least)) / most}%` }}></i></span>
    <span class="number">${value.toFixed(3)}</span></li>`)}</ul>`;
}

/** A map: two sliders or a click choose a cell, and a sentence states what it means. @param {{ chart: Grid }} props */
function Map({ chart }) {
  const { rows, columns, cells, legend } = chart;
  const [row, setRow] = useState(rows.length - 1);
  const [column, setColumn] = useState(columns.length - 1);
  const kinds = Object.keys(legend);
  const numbers = cells.flat().map(Number);
  const least = Math.min(...numbers);
  const span = Math.max(...numbers) - least || 1;
  const cell = cells[row][column];
  const told = `${chart.down} ${rows[row]}, ${chart.across} ${columns[column]}: ${legend[cell] ?? cell}`;
  const slider = (/** @type {string} */ label, /** @type {string[]} */ names, /** @type {number} */ at, /** @type {(n: number) => void} */ set) => html`<label class="field"><span>${label}: ${names[at]}</span>
    <input type="range" min="0" max=${names.length - 1} value=${at} aria-valuetext=${names[at]} onInput=${(/** @type {Event} */ event) => set(Number(/** @type {HTMLInputElement} */ (event.target).value))} /></label>`;
  return html`<div class="grid-map" aria-hidden="true" style=${{ gridTemplateColumns: `1.4fr repeat(${columns.length}, 1fr)` }}>
      <span></span>${columns.map((name) => html`<span key=${name}>${name}</span>`)}
      ${cells.map((line, n) => html`<span key=${`row ${n}`}>${rows[n]}</span>${line.map((mark, k) => html`<span key=${`${n} ${k}`}
        class=${`cell ${n === row && k === column ? 'here' : ''}`} data-kind=${kinds.length ? kinds.indexOf(mark) : undefined}
        style=${kinds.length ? undefined : { '--part': (Number(mark) - least) / span }}
        onClick=${() => { setRow(n); setColumn(k); }}>${mark}</span>`)}`)}
    </div>
    <p role="status"><strong>${told[0].toUpperCase() + told.slice(1)}</strong></p>
    ${slider(chart.down, rows, row, setRow)}
    ${slider(chart.across, columns, column, setColumn)}
    ${kinds.length ? html`<p class="legend">${kinds.map((mark) => html`<span key=${mark}><b>${mark}</b> ${legend[mark]}</span>`)}</p>` : null}`;
}
