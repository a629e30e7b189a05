/** Refusals of the server in the words of the command line, and what to type next. Chosen by code and data. */
import { Code } from '../../contract/codes.ts';
import { isObject } from '../../contract/json-object.ts';
import type { ServerRefusal } from '../client/failures.ts';
import { firstPasswordFile } from '../session/first-password.ts';
import { shellWord } from '../terminal/text.ts';
import type { Context } from './context.ts';
import type { AnyCommand } from './define.ts';
import { camel } from './flags.ts';

/** The command that was refused, as far as it was understood. */
export interface RefusedCommand {
  readonly command: AnyCommand;
  readonly args: readonly string[];
  readonly context: Context;
}

/** The flags of a command that name the server and the home, to be copied into another command. */
export function serverFlags(given: Readonly<Record<'profile' | 'server' | 'home', string | undefined>>): string {
  const flags = Object.entries(given).map(([name, value]) => value && `--${name} ${shellWord(value)}`);
  return flags.filter(Boolean).join(' ');
}

/** The group of commands whose list has what a request names by this field. */
const groupOf = {
  tokenId: 'tokens',
  providerId: 'providers',
  webhookId: 'webhooks',
  fingerprint: 'trust',
  userId: 'users',
};

function listHint(request: ServerRefusal['request']): string | null {
  const group = Object.entries(groupOf).find(([field]) => request[field] !== undefined)?.[1];
  return group === undefined ? null : `see: devmgr ${group} list`;
}

/** For a device that was not found. */
export const findDevice = 'find it: devmgr search TEXT';

/** Null if there is nothing to advise. */
export function hintOf({ code, request, data }: ServerRefusal, refused: RefusedCommand | null): string | null {
  const device = shellWord(String(request.deviceId ?? request.serialNumber ?? 'DEVICE'));
  switch (code) {
    case 401:
    case Code.tokenInvalid:
      if (isObject(data) && data.allowRegistration === true)
        return 'without another ADMIN, on the machine of the daemon: devmgr daemon reset-password NAME';
      // The password was right, and the second step needs a browser.
      if (request.username !== undefined) return 'sign in with a browser: devmgr login --web';
      return refused?.context.loginHint() ?? null;
    case Code.tokenExpired:
      return refused?.context.loginHint('log in again') ?? null;
    case Code.userNotFound:
      return request.userId === undefined
        ? 'check the name, or ask an administrator to add the user: devmgr users add NAME'
        : listHint(request);
    case 404:
      return listHint(request);
    case 500:
      return 'the log of the server has the details under that id';
    case Code.wrongPassword: {
      const file =
        request.username === undefined || refused === null ? null : firstPasswordFile(refused.context.settings);
      return `try again with the correct password${file === null ? '' : `; the first one is in ${file}`}`;
    }
    case Code.deviceNotFound:
      return findDevice;
    case Code.alreadyActivated:
      return `see the user it is bound to: devmgr show ${device}`;
    case Code.activationCodeInvalid:
      return `create a new code: devmgr replace-code ${device} --reason TEXT`;
    case Code.deviceLocked:
      // Of the operations that a lock refuses, only another lock has a reason.
      if (request.reason !== undefined) return `see who locked it, and why: devmgr show ${device}`;
      return `unlock it first: devmgr unlock ${device}`;
    case Code.deviceDeactivated:
      return 'deactivation is permanent; register another device';
    case Code.serialDuplicated:
      return `see the existing device: devmgr show ${device}`;
    case Code.noPermission:
      return 'see your role: devmgr whoami; ask an administrator for permission';
    case 429:
      return 'try again later, or omit --no-wait';
    case Code.backupNotFound:
      return `see: devmgr device-backups list ${device}`;
    case Code.versionNotFound:
      return 'see: devmgr apps list';
    default:
      return null;
  }
}

/** The message for a person at a terminal: names flags instead of fields, and the thing that it is about. */
export function messageOf(
  { code, message, request, requestId }: ServerRefusal,
  refused: RefusedCommand | null,
): string {
  if (code === 500 && requestId) return `${message} (request ${requestId})`;
  const subject =
    [404, Code.deviceNotFound, Code.versionNotFound].includes(code) &&
    (request.deviceId ??
      request.personId ??
      request.userId ??
      request.tokenId ??
      request.versionId ??
      request.receiptId ??
      request.fingerprint);
  if (typeof subject === 'string' && !message.includes(subject)) return `${message}: ${subject}`;
  if (refused === null) return message;
  const sentence = message.replace(/^(\w+): /, (prefix, field: string) => (field in request ? '' : prefix));
  return withFlagNames(sentence, refused.command);
}

const fieldWords: readonly (readonly [field: string, words: string])[] = [
  ['userName', 'user name'],
  ['confirmPassword', "the administrator's password"],
  ['oldPassword', 'the current password'],
];

/** The interface promises that the message about a wrong value contains the name of its field. */
function withFlagNames(message: string, { flags }: AnyCommand): string {
  const names = new Map(fieldWords);
  for (const [name, { field }] of Object.entries(flags)) names.set(field ?? camel(name), name);
  return message.replace(/\b([a-z]+[A-Z]\w*)\b(?:\[\d+\](?:\.\w+)?)?/g, (path, field) => names.get(field) ?? path);
}
