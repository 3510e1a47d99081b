// Requests to the HTTP API (docs/reference/protocol.md).

import { key } from './store.js';
import { heardVersion } from './version.js';

/** The server has refused a request. */
export class Refusal extends Error {
  /** @param {string} reason @param {number} status */
  constructor(reason, status) {
    super(reason);
    this.status = status;
  }
}

/**
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @returns {Promise<any>}
 */
async function call(method, path, body) {
  /** @type {Record<string, string>} */
  const headers = { Authorization: `Bearer ${key()}` };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  let response;
  try {
    response = await fetch(path, {
      method, headers, body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new Refusal('The server cannot be reached.', 0);
  }
  heardVersion(response.headers.get('Duels-Version'));
  const data = await response.json().catch(() => null);
  if (!response.ok) throw new Refusal(data?.reason ?? `The server answered ${response.status}.`, response.status);
  return data;
}

/** @param {string} path */
export const get = (path) => call('GET', path);
/** @param {string} path @param {unknown} [body] */
export const post = (path, body = {}) => call('POST', path, body);
/** @param {string} path @param {unknown} body */
export const put = (path, body) => call('PUT', path, body);
/** @param {string} path */
export const remove = (path) => call('DELETE', path);

/** @type {Promise<import('./protocol.js').Catalogue> | null} */
let games = null;

/** The games, levels and reactions; requested once. @returns {Promise<import('./protocol.js').Catalogue>} */
export function catalogue() {
  games ??= get('/api/games').catch((error) => { games = null; throw error; });
  return games;
}
