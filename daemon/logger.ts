import { writeSync } from 'node:fs';
import { type DestinationStream, type Logger, pino } from 'pino';

export type { Logger };

/** A logger that writes NDJSON on stdout for programs, or lines on stderr for people. */
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

/** A closed pipe must not end the daemon. */
function write(fd: number, text: string): void {
  try {
    writeSync(fd, text);
  } catch {
    // No one reads the log any more, so there is nowhere to report it.
  }
}

/** Control characters except the line breaks of a stack trace, and characters that reorder text or are invisible; joiners are safe. */
const UNSAFE = /[^\P{Cc}\n]|[\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/gu;

/**
 * Text from a device, a library or a client must not control the terminal that shows the log. The escapes are those of JSON, so
 * that a line of NDJSON parses to the original text.
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
      const fields = Object.entries(rest).map(
        ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
      );
      const cause = err ? `\n    ${String((err as { stack?: string }).stack ?? err).replaceAll('\n', '\n    ')}` : '';
      const mark = level === 'info' ? '' : `${level}: `;
      const text = `${String(time).slice(11, 19)} ${mark}${String(msg ?? '')}${fields.length ? `  ${fields.join(' ')}` : ''}${cause}`;
      write(fd, `${escaped(text)}\n`);
    },
  };
}
