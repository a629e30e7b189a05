/**
 * Takes out of a report what is nobody else's business. Secrets go; names, hosts and serial numbers become marks such as
 * `host-3f2a9c`: the same thing has the same mark in one report, and another one in the next.
 */
import { createHmac, randomBytes } from 'node:crypto';

const mostCharacters = 8_000;

export type Mark = 'user' | 'host' | 'serial' | 'id' | 'text';

/** What a report may show of a line of the log as it is. Any other text in it could be anything. */
const plainKeys =
  /^(level|time|msg|event|version|state|driver|name|detail|status|service|type|code|method|url|path|route|operation|reason|message|stack|direction|signal|syscall|statusText|command|fix|model|manufacturer|reader|home|file)$/;
const secretKeys =
  /password|passwd|token|secret|authorization|cookie|credential|passphrase|pin$|puk$|key$|activation|bytes/i;
const serialKeys = /serial|iccid|imsi|eid$|uid$|keyid|atr$/i;
const nameKeys = /user|admin|bound|actor|owner/i;
const hostKeys = /host|address|server|ip$|remote/i;

const isoTime = /\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?)?(?![\w-])/;
const harmless = new RegExp(
  [
    isoTime.source,
    /\b\d\d:\d\d:\d\d\b/.source,
    // Error codes of PC/SC and others, versions, ids of this registry, times of day.
    /\b0x[0-9a-f]{1,8}\b/.source,
    /\b(?:DEV|EVT|USR|APP)-\d+\b/.source,
    /\b(?:127(?:\.\d+){3}|0\.0\.0\.0)(?::\d+)?/.source,
    /\blib[\w.+-]*\.so[.\d]*/.source,
  ].join('|'),
  'gi',
);

const secretShapes: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]+-----[\s\S]*?(?:-----END [A-Z ]+-----|$)/g, '[removed]'],
  [/\beyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?/g, '[token]'],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]+/gi, '$1 [removed]'],
  [
    /\b((?:\w*(?:password|passwd|token|secret|passphrase|credential)\w*|pin|puk)["']?\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s"',;}&]+)/gi,
    '$1[removed]',
  ],
  [/\b[A-Z2-9]{4}(?:-[A-Z2-9]{4}){3}\b/g, '[code]'],
  [/\/\/[^/\s@:]+(?::[^/\s@]*)?@/g, '//[removed]@'],
  [/(\/[\w/.-]*)\?[^\s"')]+/g, '$1?[query]'],
  // Keys and digests: long, with letters and digits.
  [/(?<![\w/.-])(?=[\w+=-]*\d)(?=[\w+=-]*[A-Za-z])[\w+=-]{32,}/g, '[removed]'],
];

const serialWords = /\b(serial(?:\s?number)?|iccid|imsi|eid)(["']?\s*[=:]\s*["']?|\s+)([\w:.-]*\d[\w:.-]*)/gi;
const ipv4 = /\b\d{1,3}(?:\.\d{1,3}){3}\b/g;
const ipv6 =
  /(?<![\w:])(?:[0-9a-f]{1,4}:){2,7}(?::?[0-9a-f]{1,4}){1,7}(?![\w:])|(?<![\w:])[0-9a-f]{1,4}(?::[0-9a-f]{1,4})*::[0-9a-f:]*/gi;
const address = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g;
const urlHost = /\b((?:https?|wss?):\/\/)([^/\s:"']+)/gi;
/** A word with six digits or more is a serial number until shown otherwise. */
const numberedWord = /(?<![\w./])(?=(?:[A-Za-z:_-]*\d){6})[A-Za-z0-9][\w:-]*/g;
const loopback = /^(localhost|127(\.\d+){3}|\[?::1\]?|0\.0\.0\.0)$/i;

export class Redactor {
  readonly #salt = randomBytes(32);
  readonly #known = new Map<string, string>();

  /** The same mark for the same text, as long as this lives. */
  mark(kind: Mark, text: string): string {
    return `${kind}-${createHmac('sha256', this.#salt).update(text).digest('hex').slice(0, 6)}`;
  }

  /** From now on this text is replaced wherever it stands; what is shorter than three characters would hit too much. */
  know(kind: Mark | 'secret', text: string | null | undefined): void {
    if (text && text.length >= 3) this.#known.set(text, kind === 'secret' ? '[removed]' : this.mark(kind, text));
  }

  /** As `know`, with a name of one's own for it. */
  replace(text: string | null | undefined, by: string): void {
    if (text && text.length >= 2) this.#known.set(text, by);
  }

  text(given: string): string {
    let text = shortened(this.#withoutKnown(given));
    for (const [shape, by] of secretShapes) text = text.replace(shape, by);
    return keeping(text, part =>
      part
        .replace(address, found => this.mark('user', found))
        .replace(urlHost, (_, scheme: string, host: string) => scheme + this.#host(host))
        .replace(serialWords, (_, word: string, between: string, serial: string) =>
          isMark(serial) ? `${word}${between}${serial}` : word + between + this.mark('serial', serial),
        )
        .replace(ipv4, found => this.#host(found))
        .replace(ipv6, found => this.#host(found))
        .replace(numberedWord, found => (isMark(found) ? found : this.mark('id', found))),
    );
  }

  /** A value of JSON by the name it stands under. Numbers and truth values tell nothing about anybody, but for serials. */
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
    if (isoTime.test(value)) return this.text(value);
    return this.mark('text', value);
  }

  object(value: object): Record<string, unknown> {
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, this.value(name, item)]));
  }

  /** A line of the log: JSON by its names, anything else as text. */
  logLine(line: string): string {
    try {
      const entry: unknown = JSON.parse(line);
      if (typeof entry === 'object' && entry !== null) return JSON.stringify(this.object(entry));
    } catch {
      // Not JSON: what a library wrote, or the trace of a crash.
    }
    return this.text(line);
  }

  #host(host: string): string {
    return loopback.test(host) || isMark(host) ? host : this.mark('host', host);
  }

  #withoutKnown(text: string): string {
    const longestFirst = [...this.#known].sort(([a], [b]) => b.length - a.length);
    return longestFirst.reduce((rest, [found, by]) => rest.replace(wordOf(found), () => by), text);
  }
}

/** A line can be as long as somebody makes it; what follows the last blank goes as well, so that no secret is cut in two. */
function shortened(text: string): string {
  if (text.length <= mostCharacters) return text;
  const kept = text.slice(0, mostCharacters).replace(/\S*$/, '');
  return `${kept}… (cut)`;
}

const isMark = (text: string): boolean => /^(user|host|serial|id|text)-[0-9a-f]{6}$/.test(text);

/** The text where it is no part of a longer word. */
function wordOf(text: string): RegExp {
  const quoted = text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(?<![A-Za-z0-9])${quoted}(?![A-Za-z0-9])`, 'g');
}

function keeping(text: string, change: (part: string) => string): string {
  let result = '';
  let at = 0;
  for (const { 0: found, index } of text.matchAll(harmless)) {
    result += change(text.slice(at, index)) + found;
    at = index + found.length;
  }
  return result + change(text.slice(at));
}
