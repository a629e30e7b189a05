/** A daemon for the tests of codes, and requests to it. */
import { daemonOfTests } from '../support/daemon-tests.ts';

/** `token`: null for a request without one; that of the administrator if absent. */
export function daemonOfCodes() {
  const daemon = daemonOfTests();
  const post = (path: string, body?: unknown, token?: string | null) =>
    daemon.call('POST', path, body, token === undefined ? {} : { token });
  const get = (path: string, token?: string | null) =>
    daemon.call('GET', path, undefined, token === undefined ? {} : { token });
  return { daemon, post, get };
}
