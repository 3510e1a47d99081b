// QR codes as SVG, from the modules that lean-qr computes.

import { generate } from '../vendor/lean-qr-2.7.4.js';

const MARGIN = 4; // light modules around a code, as the standard requires

/** The modules of a code, row by row: true where dark. @param {string} text */
export function qrGrid(text) {
  const code = generate(text);
  const places = [...Array(code.size).keys()];
  return places.map((y) => places.map((x) => code.get(x, y)));
}

/** A QR code as SVG; black on white, also on a dark page. @param {string} text */
export function qrSvg(text) {
  const grid = qrGrid(text);
  const size = grid.length + 2 * MARGIN;
  const path = grid.map((row, y) => row.map((dark, x) => (dark ? `M${x + MARGIN} ${y + MARGIN}h1v1h-1z` : '')).join('')).join('');
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', `0 0 ${size} ${size}`);
  svg.setAttribute('shape-rendering', 'crispEdges');
  for (const [d, fill] of [[`M0 0h${size}v${size}h-${size}z`, '#fff'], [path, '#000']]) {
    const drawn = document.createElementNS('http://www.w3.org/2000/svg', 'path');
    drawn.setAttribute('d', d);
    drawn.setAttribute('fill', fill);
    svg.append(drawn);
  }
  return svg;
}
