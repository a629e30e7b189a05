import { writeSync } from 'node:fs';
import { type DestinationStream, type Logger, pino } from 'pino';
import { escaped, escapedLine } from './escaped.ts';

export type { Logger };

/** How to log. */
interface Options {
  /** NDJSON on stdout for programs instead of lines on stderr for people. */
  readonly json: boolean;
  readonly verbose: boolean;
  /** Name of the daemon, on every line; absent if there is none. */
  readonly node?: string | undefined;
}

/** Lines that wait until `release`. */
export class HeldLines implements DestinationStream {
  readonly #to: DestinationStream;
  #held: string[] | null = [];

  constructor(to: DestinationStream) {
    this.#to = to;
  }

  write(line: string): void {
    if (this.#held) this.#held.push(line);
    else this.#to.write(line);
  }

  /** Writes the lines; further ones are written at once. Idempotent. */
  release(): void {
    const held = this.#held ?? [];
    this.#held = null;
    for (const line of held) this.#to.write(line);
  }
}

/** A logger of the daemon. `to` receives its lines; absent: standard output, or standard error for people. */
export function createLogger(options: Options, to: DestinationStream = destinationOf(options)): Logger {
  const level = options.verbose ? 'debug' : 'info';
  const settings = {
    level,
    base: options.node === undefined ? null : { node: options.node },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return pino(settings, to);
}

/** Where the lines of a logger go. */
export const destinationOf = ({ json }: Pick<Options, 'json'>): DestinationStream =>
  json ? rawLines(1) : readableLines(2);

/** A closed pipe must not end the daemon. */
function write(fd: number, text: string): void {
  try {
    writeSync(fd, text);
  } catch {
    // No one reads the log any more, so there is nowhere to report it.
  }
}

const rawLines = (fd: number): DestinationStream => ({ write: line => write(fd, escaped(line)) });

function readableLines(fd: number): DestinationStream {
  return {
    write(line) {
      const { level, time, msg, err, ...rest } = JSON.parse(line) as Record<string, unknown>;
      const fields = Object.entries(rest).map(
        ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
      );
      const cause = err ? `\n    ${String((err as { stack?: string }).stack ?? err).replaceAll('\n', '\n    ')}` : '';
      const mark = level === 'info' ? '' : `${level}: `;
      // Texts of others must not look like a further line.
      const text = escapedLine(
        `${String(time).slice(11, 19)} ${mark}${String(msg ?? '')}${fields.length ? `  ${fields.join(' ')}` : ''}`,
      );
      write(fd, `${text}${escaped(cause)}\n`);
    },
  };
}
