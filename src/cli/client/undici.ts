/** The parts of undici that are used. Its index also loads fetch, WebSocket and caches, which takes another 20 ms. */
export { default as request } from 'undici/lib/api/api-request.js';
export { default as Pool } from 'undici/lib/dispatcher/pool.js';
