import { writeSync } from 'node:fs';
import { type DestinationStream, type Logger, pino } from 'pino';

export type { Logger };

/** Where log lines go: NDJSON on stdout for programs, lines on stderr for people. */
export function createLogger(options: { readonly json: boolean; readonly verbose: boolean }): Logger {
  const level = options.verbose ? 'debug' : 'info';
  const settings = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return pino(settings, options.json ? rawLines(1) : readableLines(2));
}

/** A reader that went away must not end the daemon. */
function write(fd: number, text: string): void {
  try {
    writeSync(fd, text);
  } catch {
    // Nobody reads the log any more; there is no better place to say so.
  }
}

/** Controls but the line breaks of a stack trace, and characters that reorder text or show as nothing; joiners are good. */
const UNSAFE = /[^\P{Cc}\n]|[\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/gu;

/**
 * What a device, a library or a client says must not steer the terminal that shows the log. Written as JSON writes it, so
 * that a line of NDJSON reads back as it was.
 */
const escaped = (text: string): string =>
  text.replace(UNSAFE, symbol =>
    Array.from({ length: symbol.length }, (_, i) => `\\u${symbol.charCodeAt(i).toString(16).padStart(4, '0')}`).join(
      '',
    ),
  );

const rawLines = (fd: number): DestinationStream => ({ write: line => write(fd, escaped(line)) });

function readableLines(fd: number): DestinationStream {
  return {
    write(line) {
      const { level, time, msg, err, ...rest } = JSON.parse(line) as Record<string, unknown>;
      const words = Object.entries(rest).map(
        ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
      );
      const cause = err ? `\n    ${String((err as { stack?: string }).stack ?? err).replaceAll('\n', '\n    ')}` : '';
      const mark = level === 'info' ? '' : `${level}: `;
      const text = `${String(time).slice(11, 19)} ${mark}${String(msg ?? '')}${words.length ? `  ${words.join(' ')}` : ''}${cause}`;
      write(fd, `${escaped(text)}\n`);
    },
  };
}
