/** Journal entries as syslog messages: RFC 5424, framed by octet counting (RFC 6587, RFC 5425). */
import { hostname } from 'node:os';
import type { AuditLine } from './audit-line.ts';

/** Facility 13 (log audit), severity 6 (informational). */
const PRIORITY = 13 * 8 + 6;
const APP_NAME = 'devmgr';
const NO_VALUE = '-';

/** A header field: printable ASCII without spaces, of bounded length. */
const field = (text: string, length: number): string => text.replaceAll(/[^!-~]/g, '').slice(0, length) || NO_VALUE;

/**
 * The message with its length in front. Its text is the entry as JSON, whose `id` shows gaps and repetitions; JSON escapes line
 * breaks and control characters.
 */
export function syslogFrame(line: AuditLine, host = hostname()): Buffer {
  const header = [
    `<${PRIORITY}>1`,
    line.timestamp,
    field(host, 255),
    APP_NAME,
    NO_VALUE,
    field(line.type, 32),
    NO_VALUE,
  ];
  const message = Buffer.from(`${header.join(' ')} ${JSON.stringify(line)}`);
  return Buffer.concat([Buffer.from(`${message.length} `), message]);
}
