/** Code that a person compares who approves this terminal in a browser. */
import { hostname, userInfo } from 'node:os';
import { terminalLogin } from '../../../contract/limits.ts';
import { failure } from '../../fault.ts';

/** The code of a request. A server may send anything in its place: only a code is written to the terminal. */
export function codeOf(sent: string): string {
  if (/^[A-Z0-9]{4}-[A-Z0-9]{4}$/.test(sent)) return sent;
  throw failure('the server sent something other than a code');
}

/** The page shows it, so that the person recognizes the terminal. Letters that the interface refuses are left out. */
export function terminalName(): string {
  const name = `${userInfo().username}@${hostname()}`.replace(/[^\w@.-]/g, '');
  return name.slice(0, terminalLogin.nameLength) || 'terminal';
}
