/**
 * Removes private data from a report. Secrets are deleted; names, hosts and serial numbers become marks such as
 * `host-3f2a9c`: the same thing has the same mark within one report, and a different one in the next.
 */

import { createHmac, randomBytes } from 'node:crypto';
import { objectIn } from '../../../contract/json-object.ts';

const mostCharacters = 8_000;

/** Kind of a mark. */
type Mark = 'user' | 'host' | 'serial' | 'id' | 'text';

/** Keys of a log line whose values may be shown. The values of other keys may be private. */
const plainKeys =
  /^(level|time|msg|event|version|state|driver|name|detail|status|service|type|code|method|url|path|route|operation|reason|message|stack|direction|signal|syscall|statusText|command|fix|model|manufacturer|reader|home|file)$/;
const secretKeys =
  /password|passwd|token|secret|authorization|cookie|credential|passphrase|pin$|puk$|key$|activation|bytes/i;
const serialKeys = /serial|iccid|imsi|eid$|uid$|keyid|atr$/i;
const nameKeys = /user|admin|bound|actor|owner/i;
const hostKeys = /host|address|server|ip$|remote/i;

const isoTime = /\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?)?(?![\w-])/g;
/** Times of day, error codes of PC/SC and others, versions, ids of this registry, libraries. */
const harmless: readonly RegExp[] = [
  isoTime,
  /\b\d\d:\d\d:\d\d\b/g,
  /\b0x[0-9a-f]{1,8}\b/gi,
  /\b(?:DEV|EVT|USR|APP)-\d+\b/gi,
  /\b(?:127(?:\.\d+){3}|0\.0\.0\.0)(?::\d+)?/g,
  /(?<![\w.+-])lib[\w.+-]*\.so[.\d]*/gi,
];

// The time of each pattern is linear in the length of the text. A run of characters is matched as a whole and inspected by a
// function, so that no run is searched again from each of its characters.
const privateKey = /-----BEGIN [A-Z ]+-----[\s\S]*?(?:-----END [A-Z ]+-----|$)/g;
const bearer = /\b(Bearer|Basic)\s+[\w.~+/=-]+/gi;
const label = /\b\w+["']?\s*[=:]\s*/g;
const secretLabel = /^(?:\w*(?:password|passwd|token|secret|passphrase|credential)|(?:pin|puk|pwd|pass)\b)/i;
const codeLabel = /^\w*code\b/i;
/** Codes of errors: numbers, SQLSTATE, and names such as ECONNREFUSED, ERR_TLS_… and SQLITE_BUSY. */
const errorCode =
  /^(?:[\dA-Z]{1,5}|E[A-Z]{3,14}\d?|(?:ERR|SQLITE|FST|HPE|UND|DEPTH|CERT|UNABLE|SELF)_[A-Z\d_]+|0x[\da-f]+|-?\d{1,10})$/i;
const hostLabel = /\b(?:host|hostaddr|hostname|server)["']?\s*=\s*/gi;
const userLabel = /\b(?:user|username)["']?\s*=\s*/gi;
const unresolved = /\b(ENOTFOUND|EAI_AGAIN|EAI_FAIL)\s+([\w.-]+)/g;
const ownToken = /devmgr_[\dA-Za-z]+/g;
/** Characters that can be read, also if their percent sign is encoded again. Others stay encoded: a line break would make a line. */
const encoded = /%(?:25)*(?!7f)([2-7][\da-f])/gi;
const labelled = /"[^"]*"|'[^']*'|[^\s"',;}&]+/y;
const activationCode = /\b[A-Z2-9]{4}(?:-[A-Z2-9]{4}){3}\b/gi;
/** A code without its hyphens. In lower case a digit distinguishes it from a word. */
const bareCode = /\b[A-Z2-9]{16}\b/gi;
const addressRun = /[^\s"'<>]+/g;
const query = /(?<![\w/.-])([\w.-]*\/[\w/.-]*)\?[^\s"')]+/g;
const longRun = /[\w+=-]{32,}/g;
const longStart = /[^\w/.-][\w+=-]/;

const serialLabel = /\b(?:serial(?:\s?number)?|iccid|imsi|eid)(?:["']?\s*[=:]\s*["']?|\s+)/gi;
const serialValue = /[\w:.-]+/y;
const ipv4 = /\b\d{1,3}(?:\.\d{1,3}){3}\b/g;
const address = /(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g;
const urlHost = /(:\/\/)((?:\[removed\]@)?)([^/\s:"'?#,]+)/g;
const numberedRun = /[\w:-]+/g;
const numberedStart = /[^\w./][A-Za-z0-9]/;
const loopback = /^(localhost|127(\.\d+){3}|\[?::1\]?|0\.0\.0\.0)$/i;

/** Removes private data from text. One object for one report: its marks are the same everywhere in it. */
export class Redactor {
  readonly #salt = randomBytes(32);
  readonly #known = new Map<string, string>();

  /** A mark for the text: the same one for the lifetime of this object. */
  mark(kind: Mark, text: string): string {
    return `${kind}-${createHmac('sha256', this.#salt).update(text).digest('hex').slice(0, 6)}`;
  }

  /** Replaces this text from now on. Texts shorter than three characters are ignored: they would match too much. */
  know(kind: Mark | 'secret', text: string | null | undefined): void {
    if (text && text.length >= 3) this.#known.set(text, kind === 'secret' ? '[removed]' : this.mark(kind, text));
  }

  /** As `know`, with a replacement of your own. */
  replace(text: string | null | undefined, by: string): void {
    if (text && text.length >= 2) this.#known.set(text, by);
  }

  text(given: string): string {
    const text = withoutSecrets(shortened(this.#withoutKnown(given)));
    return keeping(text, harmless, part => {
      const withoutHosts = part
        .replace(address, found => this.mark('user', found))
        .replace(urlHost, (_, slashes: string, login: string, host: string) => slashes + login + this.#host(host))
        .replace(unresolved, (_, code: string, host: string) => `${code} ${this.#host(host)}`);
      const named = afterLabels(
        afterLabels(withoutHosts, hostLabel, labelled, host => this.#host(host)),
        userLabel,
        labelled,
        user => (isMark(user) ? null : this.mark('user', user)),
      );
      return afterLabels(named, serialLabel, serialValue, serial => this.#serial(serial))
        .replace(ipv4, found => this.#host(found))
        .replace(/[\w:]+/g, word => (isIpv6(word) ? this.#host(word) : word))
        .replace(
          numberedRun,
          fromStart(numberedStart, word => this.#numbered(word)),
        );
    });
  }

  /** A JSON value, by the name of its field. Numbers and booleans are kept, unless they are serial numbers. */
  value(name: string, value: unknown): unknown {
    if (value === null || typeof value === 'boolean') return value;
    if (secretKeys.test(name)) return '[removed]';
    if (serialKeys.test(name)) return this.mark('serial', String(value));
    if (Array.isArray(value)) return value.map(item => this.value(name, item));
    if (typeof value === 'object') return this.object(value);
    if (typeof value !== 'string') return value;
    if (plainKeys.test(name)) return this.text(value);
    if (nameKeys.test(name)) return this.mark('user', value);
    if (hostKeys.test(name)) return this.#host(value);
    if (value.search(isoTime) >= 0) return this.text(value);
    return this.mark('text', value);
  }

  object(value: object): Record<string, unknown> {
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, this.value(name, item)]));
  }

  /** A line of the log: JSON by its names, anything else as text. */
  logLine(line: string): string {
    const entry = objectIn(line);
    return entry === null ? this.text(line) : JSON.stringify(this.object(entry));
  }

  #host(host: string): string {
    return loopback.test(host) || isMark(host) ? host : this.mark('host', host);
  }

  #serial(serial: string): string | null {
    return isMark(serial) || !/\d/.test(serial) ? null : this.mark('serial', serial);
  }

  /** A word with six digits or more is a serial number until shown otherwise. */
  #numbered(word: string): string {
    return isMark(word.replace(/:\d+$/, '')) || word.replace(/\D/g, '').length < 6 ? word : this.mark('id', word);
  }

  #withoutKnown(text: string): string {
    const longestFirst = [...this.#known].sort(([a], [b]) => b.length - a.length);
    return longestFirst.reduce((rest, [found, by]) => withoutWord(rest, found, by), text);
  }
}

/** Limits the length. Also drops the last word, so that no secret is cut in two. */
function shortened(text: string): string {
  if (text.length <= mostCharacters) return text;
  let end = mostCharacters;
  while (end > 0 && !/\s/.test(text[end - 1]!)) end--;
  return `${text.slice(0, end)}… (cut)`;
}

function withoutSecrets(text: string): string {
  const shapes = text
    .replace(encoded, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(privateKey, '[removed]')
    .replace(ownToken, '[token]')
    .replace(/[\w.-]+/g, withoutToken)
    .replace(bearer, '$1 [removed]');
  return afterLabels(shapes, label, labelled, isSecret)
    .replace(activationCode, '[code]')
    .replace(bareCode, withoutBareCode)
    .replace(addressRun, withoutLogin)
    .replace(query, '$1?[query]')
    .replace(longRun, fromStart(longStart, withoutKey));
}

/** An address without the user and the password in it. A password may contain `/` and `@`. */
function withoutLogin(run: string): string {
  const start = run.indexOf('//') + 2;
  const end = run.lastIndexOf('@');
  return start < 2 || end < start ? run : `${run.slice(0, start)}[removed]${run.slice(end)}`;
}

/** Replaces 16 symbols that are an activation code and not a word or a number. */
const withoutBareCode = (found: string): string => {
  const hasLetter = /[a-z]/i.test(found);
  return hasLetter && (/\d/.test(found) || found === found.toUpperCase()) ? '[code]' : found;
};

const isSecret = (value: string, name: string): string | null =>
  secretLabel.test(name) || (codeLabel.test(name) && !errorCode.test(value)) ? '[removed]' : null;

/** A word without the JWT in it: two or three parts with dots between them, of which the first begins with `eyJ`. */
function withoutToken(word: string): string {
  const parts = word.split('.');
  const first = parts.findIndex((part, i) => Boolean(parts[i + 1]) && /\beyJ[\w-]/.test(part));
  if (first < 0) return word;
  const start = parts[first]!.search(/\beyJ[\w-]/);
  return [...parts.slice(0, first), `${parts[first]!.slice(0, start)}[token]`].join('.');
}

/** Keys and digests: long, with letters and digits. */
function withoutKey(text: string): string {
  return text.length >= 32 && /\d/.test(text) && /[A-Za-z]/.test(text) ? '[removed]' : text;
}

/** Replaces the values after labels. `by` returns null for a value that is kept. */
function afterLabels(
  text: string,
  labels: RegExp,
  values: RegExp,
  by: (value: string, label: string) => string | null,
): string {
  let result = '';
  let at = 0;
  for (const { 0: found, index } of text.matchAll(labels)) {
    const start = index + found.length;
    values.lastIndex = start;
    const value = index < at ? undefined : values.exec(text)?.[0];
    const replaced = value === undefined ? null : by(value, found);
    if (value === undefined || replaced === null) continue;
    result += text.slice(at, start) + replaced;
    at = start + value.length;
  }
  return result + text.slice(at);
}

/** Replaces the end of a run, from the first match of `start`: the character before it and its first character. */
function fromStart(start: RegExp, by: (part: string) => string): (run: string, at: number, text: string) => string {
  return (run, at, text) => {
    const from = ((text[at - 1] ?? ' ') + run).search(start);
    return from < 0 ? run : run.slice(0, from) + by(run.slice(from));
  };
}

/** Three or more groups of hex digits with colons between them, or at least one before `::`. */
function isIpv6(word: string): boolean {
  return /^[0-9a-f]+(?::+[0-9a-f]+){2,}$/i.test(word) || /^[0-9a-f]{1,4}(?::[0-9a-f]{1,4})*::/i.test(word);
}

const isMark = (text: string): boolean => /^(user|host|serial|id|text)-[0-9a-f]{6}$/.test(text);

/** Replaces `word`, unless it is part of a longer one. */
function withoutWord(text: string, word: string, by: string): string {
  const joins = (character = ''): boolean => /[A-Za-z0-9]/.test(character);
  let result = '';
  let at = 0;
  for (let found = text.indexOf(word); found >= 0; found = text.indexOf(word, found + 1)) {
    const end = found + word.length;
    if (found < at || joins(text[found - 1]) || joins(text[end])) continue;
    result += text.slice(at, found) + by;
    at = end;
  }
  return result + text.slice(at);
}

/** Changes the text between the matches of the shapes. */
function keeping(text: string, [shape, ...others]: readonly RegExp[], change: (part: string) => string): string {
  if (shape === undefined) return change(text);
  let result = '';
  let at = 0;
  for (const { 0: found, index } of text.matchAll(shape)) {
    result += keeping(text.slice(at, index), others, change) + found;
    at = index + found.length;
  }
  return result + keeping(text.slice(at), others, change);
}
