// Style sheets of pages that are loaded when they are first opened.

import { BASE } from './version.js';

/** Add a style sheet to the document, once. @param {string} name */
export function addStyle(name) {
  const href = `${BASE}${name}`;
  if (document.querySelector(`link[href="${href}"]`)) return;
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.href = href;
  document.head.append(link);
}
