// Short synthesised sounds; the mute setting is stored.

import { saveItem, loadItem } from './store.js';

/** @type {AudioContext | null} */
let audio = null;

export function muted() {
  return loadItem('duels.muted') === 'yes';
}

/** @param {boolean} quiet */
export function mute(quiet) {
  saveItem('duels.muted', quiet ? 'yes' : 'no');
}

/** Frequencies in hertz, one after the other. @type {Record<string, number[]>} */
const TUNES = {
  pick: [330],
  chance: [220, 277, 247],
  turn: [523, 659],
  won: [523, 659, 784, 1047],
  lost: [392, 330, 262],
  over: [440, 440],
};

/** @param {string} name of a tune */
export function play(name) {
  const tune = TUNES[name];
  if (!tune || muted() || !navigator.userActivation?.hasBeenActive) return;
  try {
    audio ??= new AudioContext();
    const start = audio.currentTime;
    tune.forEach((frequency, n) => {
      const context = /** @type {AudioContext} */ (audio);
      const tone = context.createOscillator();
      const volume = context.createGain();
      const at = start + 0.09 * n;
      tone.type = 'triangle';
      tone.frequency.value = frequency;
      volume.gain.setValueAtTime(0.08, at);
      volume.gain.exponentialRampToValueAtTime(0.001, at + 0.16);
      tone.connect(volume).connect(context.destination);
      tone.start(at);
      tone.stop(at + 0.17);
    });
  } catch { /* a machine without sound */ }
}
