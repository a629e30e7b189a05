import { closeSync, type FSWatcher, openSync, readSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';
import { objectIn } from '../../../contract/json-object.ts';
import { homeFiles } from '../../../contract/local.ts';
import { sleep } from '../../../delivery/wait.ts';
import { exitCodes } from '../../exit-codes.ts';
import { Fault, tryOr } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { command } from '../../framework/define.ts';
import { safe } from '../../terminal/text.ts';
import { localTime } from '../../terminal/when.ts';

const chunkBytes = 64 * 1024;

/** Shows the last lines of the log, and with --follow new ones. Exit code 5 if there is no log. */
export const daemonLogs = command({
  isPaged: true,
  description:
    'This is the log of a daemon in the background. For a systemd service, use journalctl --user -u devmgr. Exit code 5 if there is no log yet.',
  flags: {
    limit: { value: 'N', short: 'n', aliases: ['lines'], whole: { min: 0 }, default: 50, help: 'at most N lines' },
    follow: { short: 'f', help: 'keep showing new lines' },
  },
  examples: {
    'the last lines': 'daemon logs',
    'new lines as they are written': 'daemon logs --follow',
  },
  async run({ flags }, context) {
    const file = join(context.settings.home, homeFiles.log);
    if (!statSync(file, { throwIfNoEntry: false }))
      throw new Fault(
        'absent',
        `there is no log yet (${file})`,
        'a daemon in the background writes it: devmgr daemon start. For a service: journalctl --user -u devmgr',
      );
    const { text, end } = lastLines(file, flags.limit);
    await write(context, text);
    return flags.follow ? follow(context, file, end) : exitCodes.done;
  },
});

/** Reads backwards until there are enough lines, so that a long log takes no longer than a short one. */
export function lastLines(file: string, count: number): { text: string; end: number } {
  const fd = openSync(file, 'r');
  try {
    const end = statSync(file).size;
    let start = end;
    let chunks = Buffer.alloc(0);
    while (start > 0 && chunks.toString('latin1').split('\n').length <= count + 1) {
      const size = Math.min(chunkBytes, start);
      start -= size;
      chunks = Buffer.concat([read(fd, start, size), chunks]);
    }
    const lines = chunks.toString('utf8').replace(/\n$/, '').split('\n');
    const wanted = count === 0 ? [] : lines.slice(-count).filter((line, index) => index > 0 || line !== '');
    return { text: wanted.length ? `${wanted.join('\n')}\n` : '', end };
  } finally {
    closeSync(fd);
  }
}

function read(fd: number, position: number, size: number): Buffer {
  const buffer = Buffer.alloc(size);
  return buffer.subarray(0, readSync(fd, buffer, 0, size, position));
}

async function write({ out, globals }: Context, text: string): Promise<void> {
  if (text === '') return;
  if (globals.json && (out.isSelective || out.format === 'yaml'))
    return out.rows(text.trimEnd().split('\n').map(parsed));
  // The log is already JSON; for a terminal, control characters become visible.
  const shown = globals.json ? text : text.split('\n').map(readable).join('\n');
  await out.text(shown);
}

/** A line that is not JSON, such as one of a crash, is text. */
const parsed = (line: string): unknown => tryOr(() => JSON.parse(line) as unknown, line);

const levels: Readonly<Record<number, string>> = { 20: 'debug', 30: 'info', 40: 'warn', 50: 'ERROR', 60: 'FATAL' };

function readable(line: string): string {
  const entry = objectIn(line);
  if (entry === null) return safe(line);
  const { time, level, msg, event, ...rest } = entry;
  const stamp = typeof time === 'number' ? tryOr(() => new Date(time).toISOString(), '') : String(time ?? '');
  const when = localTime(stamp, { seconds: true });
  const detail = Object.entries(rest)
    .filter(([name]) => name !== 'pid' && name !== 'hostname')
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const name = typeof level === 'number' ? (levels[level] ?? String(level)) : String(level ?? '');
  return safe([when, name, msg ?? event, ...detail].filter(Boolean).join(' '));
}

/** Ctrl-C is how following ends: it is not an error. */
async function follow(context: Context, file: string, from: number): Promise<number> {
  const { interrupt } = context.io;
  let position = from;
  // The start of a line that is not complete yet, as bytes: it may end within a character.
  let rest = Buffer.alloc(0);
  while (!interrupt.aborted) {
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (size < position) [position, rest] = [0, Buffer.alloc(0)];
    if (size === position) {
      await changed(file, interrupt);
      continue;
    }
    const fd = openSync(file, 'r');
    const news = read(fd, position, Math.min(size - position, 16 * chunkBytes));
    closeSync(fd);
    position += news.length;
    const bytes = Buffer.concat([rest, news]);
    const end = bytes.lastIndexOf('\n') + 1;
    rest = bytes.subarray(end);
    await write(context, bytes.toString('utf8', 0, end));
  }
  return exitCodes.interrupted;
}

/** Resolves when the file may have grown, at the latest after a second: file watching can miss a change. */
async function changed(file: string, signal: AbortSignal): Promise<void> {
  const watcher = watched(file);
  const change = new AbortController();
  const finish = () => change.abort();
  watcher?.once('change', finish).once('error', finish);
  await sleep(1000, AbortSignal.any([signal, change.signal]));
  watcher?.close();
}

/** Null if the file does not exist right now: a long log is renamed, and a log may be deleted. */
const watched = (file: string): FSWatcher | null => tryOr(() => watch(file, { persistent: true }), null);
