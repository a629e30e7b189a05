/** Prints the SSH keys of a person for sshd: `GET /api/decisions/ssh-keys/{userName}`, with a cache on disk. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { isObject, objectIn, objectsOf } from '../../../contract/json-object.ts';
import { environment, homeFiles } from '../../../contract/local.ts';
import { isSshKey } from '../../../contract/ssh-key.ts';
import { isServerRefusal, NotServing, Unreachable } from '../../client/failures.ts';
import { errorWords, failure, tryOr, usage } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { command } from '../../framework/define.ts';
import { writeWhole } from '../../settings/files.ts';
import { safe } from '../../terminal/text.ts';
import { parseDuration } from '../devices/usage.ts';

/** Prints the keys with which a person may log in now. */
export const sshKeys = command({
  description:
    'For AuthorizedKeysCommand of sshd. Prints the SSH keys of a person that may be used now, as lines of authorized_keys. Locked keys, and keys of persons who have left, are not printed.\nThe registry is asked each time, unless the last answer is younger than --max-age. The answers are in the folder ssh-keys of the home folder.\nIf the registry is away, nothing is printed, and sshd refuses all keys of the registry. With --when-away TIME, the last answer is printed if it is younger than that: a key that was locked since then still opens the host.\nNeeds an ADMIN, or a service token with --may ssh.',
  args: [
    { name: 'USER', help: 'user name of the person' },
    { name: 'FINGERPRINT', help: 'print only the key with this SHA256 fingerprint', optional: true },
  ],
  flags: {
    'max-age': { value: 'TIME', default: '0s', help: 'do not ask if the last answer is younger' },
    'when-away': {
      value: 'TIME',
      default: 'refuse',
      help: 'if the registry is away: refuse, or the age up to which the last answer is used',
    },
  },
  examples: {
    'the keys of a person': 'ssh-keys ada.lovelace',
    'from the last answer for 8 hours if the registry is away': 'ssh-keys ada --when-away 8h',
  },
  async run({ args: [user = '', fingerprint], flags }, context) {
    const maxAge = secondsOf('--max-age', flags.maxAge);
    const whenAway = flags.whenAway === 'refuse' ? 0 : secondsOf('--when-away', flags.whenAway);
    const file = cacheFile(context, user);
    const source = sourceOf(context);
    const cached = file === null ? null : readCache(file, source);
    let lines = cached && ageOf(cached) < maxAge ? cached.lines : null;
    try {
      lines ??= await asked(context, { user, file, source, cached });
    } catch (error) {
      if (!isAway(error) || !cached || ageOf(cached) >= whenAway) throw error;
      context.out.notice(`the registry is away (${safe(errorWords(error))}): these are the keys of its last answer`);
      lines = cached.lines;
    }
    const keys = lines.filter(line => fingerprint === undefined || line.endsWith(` ${fingerprint}`));
    if (context.out.json) return context.out.document({ keys });
    await context.out.text(keys.map(line => `${line}\n`).join(''));
  },
});

/** Milliseconds after which a registry without a whole answer is away. sshd ends a login after two minutes. */
const answerMs = 30_000;
/** Bytes of an answer: far more than the keys of one person have. */
const answerBytes = 4 * 2 ** 20;

/** An answer that is stored. */
interface CachedKeys {
  /** When the registry was asked; seconds since 1970. */
  readonly at: number;
  /** Seconds for which the machine had run then. */
  readonly up: number;
  readonly etag: string;
  readonly lines: readonly string[];
}

/** The first line of a file; `packaging/ssh/devmgr-ssh-keys` reads it, too. A proxy that compresses makes the ETag a weak one. */
const HEADER = /^# devmgr ssh-keys (\d{1,12}) (\d{1,12}) ([\da-f]{64}) ((?:W\/)?".*")$/;
/** The last line: a file without it was not written whole. */
const END = '# end';
/** Names that are a file of the cache under their own name. */
const FILE_NAME = /^[A-Za-z0-9_@-][A-Za-z0-9._@-]{0,127}$/;

const cacheFile = ({ settings }: Context, user: string): string | null =>
  FILE_NAME.test(user) ? join(settings.home, 'ssh-keys', user) : null;

/** Digest of what determines the registry and the token, so that no answer of another registry is used. The script makes it, too. */
function sourceOf({ globals, env, settings }: Context): string {
  const digest = createHash('sha256');
  for (const text of [globals.server, globals.profile, env[environment.token]]) digest.update(`${text ?? ''}\n`);
  for (const name of [homeFiles.config, homeFiles.credentials])
    digest.update(tryOr(() => readFileSync(join(settings.home, name)), ''));
  return digest.digest('hex');
}

/** The cached answer of a source; null if it is missing or incomplete. */
function readCache(file: string, source: string): CachedKeys | null {
  const [first = '', ...lines] = tryOr(() => readFileSync(file, 'utf8'), '').split('\n');
  const [, at, up, from, etag] = HEADER.exec(first) ?? [];
  const end = lines.indexOf(END);
  return from === source && end >= 0
    ? { at: Number(at), up: Number(up), etag: etag!, lines: lines.slice(0, end) }
    : null;
}

/**
 * Seconds. An answer of the future has no age: the clock was wrong then, or is now. If the clock was set back since, the machine has run
 * for longer; after its restart it has not, and the clock alone tells the age.
 */
function ageOf({ at, up }: CachedKeys): number {
  const age = Date.now() / 1000 - at;
  return age < 0 ? Number.POSITIVE_INFINITY : Math.max(age, uptime() - up);
}

/** A question to the registry, and the file for its answer. */
interface Question {
  readonly user: string;
  readonly file: string | null;
  readonly source: string;
  readonly cached: CachedKeys | null;
}

async function asked(context: Context, { user, file, source, cached }: Question): Promise<readonly string[]> {
  const [at, up] = [Date.now() / 1000, uptime()].map(Math.floor);
  const late = AbortSignal.timeout(answerMs);
  const client = context.registry.with({ wait: false, signal: late });
  const { status, headers, text } = await answerOf(client, user, cached).catch(error => {
    throw late.aborted && !context.io.interrupt.aborted
      ? new Unreachable(`no whole answer within ${answerMs / 1000} s`, true, null, true)
      : error;
  });
  const isSame = status === 304 && cached !== null;
  const lines = isSame ? cached.lines : linesIn(text);
  const etag = isSame ? cached.etag : `${headers.etag ?? '""'}`;
  if (file === null) return lines;
  try {
    writeWhole(file, [`# devmgr ssh-keys ${at} ${up} ${source} ${etag}`, ...lines, END, ''].join('\n'));
  } catch (error) {
    // Without a cache, the next login asks again.
    context.out.notice(safe(errorWords(error)));
  }
  return lines;
}

async function answerOf(client: Context['registry'], userName: string, cached: CachedKeys | null) {
  const { status, headers, bytes } = await client.download({
    operation: 'listSshKeys',
    input: { params: { userName } },
    headers: { accept: 'application/json', ...(cached ? { 'if-none-match': cached.etag } : {}) },
  });
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of bytes) {
    size += part.length;
    if (size > answerBytes) throw failure('the response of the registry is too large');
    parts.push(part);
  }
  return { status, headers, text: Buffer.concat(parts).toString() };
}

/** A server that is taken over must not add options or lines: each key is checked. */
function linesIn(text: string): string[] {
  const { code, data } = objectIn(text) ?? {};
  if (code !== 200 || !isObject(data) || !Array.isArray(data.keys))
    throw failure('the response of the registry has no SSH keys');
  return objectsOf(data.keys).flatMap(({ key, verifyRequired, deviceId }) => {
    if (
      typeof key !== 'string' ||
      !/^sk-[a-z0-9-]{1,40}@openssh\.com [A-Za-z0-9+/]{1,1000}={0,2}$/.test(key) ||
      !isSshKey(key)
    )
      return [];
    const digest = createHash('sha256')
      .update(Buffer.from(key.split(' ')[1]!, 'base64'))
      .digest('base64');
    const comment = typeof deviceId === 'string' && /^DEV-\d{1,15}$/.test(deviceId) ? deviceId : 'devmgr';
    return `${verifyRequired === true ? 'verify-required ' : ''}${key} ${comment} SHA256:${digest.replaceAll('=', '')}`;
  });
}

/** Whether a later request may succeed; a token that is refused is no reason to use an earlier answer. */
const isAway = (error: unknown): boolean =>
  error instanceof Unreachable || error instanceof NotServing || isServerRefusal(error, 429, 500);

function secondsOf(flag: string, text: string): number {
  const { seconds, fault } = parseDuration(text);
  if (fault !== null) throw usage(`${flag}: ${fault}`);
  return seconds;
}
