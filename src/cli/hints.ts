/** What to type next when the server refuses: with the names that the command was given, so that it can be typed as it stands. */

import type { AnyCommand } from './define.ts';
import type { GlobalValues } from './globals.ts';
import type { Settings } from './settings/settings.ts';

/** The command that was refused, as far as it has been understood. */
export interface Asked {
  readonly command: AnyCommand;
  readonly args: readonly string[];
  readonly flags: Readonly<Record<string, unknown>>;
  readonly globals: GlobalValues;
  readonly settings: Settings;
}

/** A word for the shell. */
const word = (text: string): string =>
  /^[\w.,:@%+/-]+$/.test(text) && !text.startsWith('-') ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** How one logs in to what the command was about. */
export function loginLine(asked: Asked | null): string {
  const parts = ['devmgr login'];
  for (const name of ['profile', 'server', 'home'] as const) {
    const value = asked?.globals[name];
    if (value !== undefined) parts.push(`--${name} ${word(value)}`);
  }
  return parts.join(' ');
}

/** Where a token of the environment is refused, logging in would change nothing. */
export function loginHint(asked: Asked | null, how = 'log in'): string {
  return asked !== null && asked.settings.token !== null
    ? 'unset or replace DEVMGR_TOKEN'
    : `${how}: ${loginLine(asked)}`;
}

function deviceOf(message: string, asked: Asked | null): string {
  const named = asked?.command.args?.[0]?.name === 'DEVICE' ? asked.args[0] : undefined;
  return /\bDEV-\d+\b/.exec(message)?.[0] ?? (named === undefined ? 'DEVICE' : word(named));
}

/** Null where there is nothing to advise. */
export function hintOf(code: number, message: string, asked: Asked | null): string | null {
  const device = deviceOf(message, asked);
  const group = asked?.command.name.split(' ')[0];
  switch (code) {
    case 401:
    case 1004:
      return loginHint(asked);
    case 1005:
      return loginHint(asked, 'log in again');
    case 1002:
      return group === 'users' ? usersHint : 'check the name, or have an administrator add it: devmgr users add NAME';
    case 404:
      return group === 'users' ? usersHint : null;
    case 1003:
      return 'try again with the right password';
    case 2001:
      return 'find it: devmgr list --keyword PART';
    case 2002:
      return /already activated/.test(message)
        ? `see for whom: devmgr show ${device}`
        : `see its state: devmgr show ${device}`;
    case 2003:
      return `make a new code: devmgr code ${device} --reason TEXT`;
    case 2004:
      return `unlock it first: devmgr unlock ${device}`;
    case 2005:
      return 'a deactivated device stays so; register another one';
    case 2006:
      return `look at the one that exists: devmgr show ${device === 'DEVICE' ? word(String(asked?.flags.serial ?? 'SERIAL')) : device}`;
    case 2007:
      return 'devmgr whoami shows your role; ask an administrator';
    case 429:
      return 'try again later, or leave out --no-wait';
    case 4001:
      return 'see what there is: devmgr apps list';
    default:
      return null;
  }
}

const usersHint = 'devmgr users list shows them';

/** A refusal in the words of the command line where the server speaks of fields; the thing it is about is named. */
export function messageOf(code: number, message: string, asked: Asked | null): string {
  const [first] = asked?.args ?? [];
  if (code === 1003 && message === 'confirmPassword is wrong') return "the administrator's password is wrong";
  const naming = asked?.command.name.startsWith('users') || asked?.command.name.startsWith('apps');
  if (naming && /does not exist$/.test(message) && first !== undefined) return `${message}: ${first}`;
  return message;
}
