/**
 * Recorded sessions: a block ```` ```console recorded ```` shows what a terminal showed. The page has the commands, after
 * `$ `; a run writes the output of each below it. All blocks of a page are one session, in its own home.
 */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { isPortFree, storeDaemonStart } from '../../src/cli/settings/daemon-start.ts';
import { defaultHost, defaultPort } from '../../src/contract/local.ts';

const opening = '```console recorded';
const closing = '```';
/** Stands before the output of each command; a device or a program does not write it. */
const mark = '\u001e';
/** The user shown in place of the user who makes the recording. */
const shownHome = '/home/ada';
/** Shown in place of the port that was free. */
const shownAddress = `${defaultHost}:${defaultPort}`;
const columns = 100;

/** The page with new recordings; null if it has none. */
export async function recorded(page: string, program: string): Promise<string | null> {
  const lines = page.split('\n');
  const commands = commandsOf(lines);
  if (commands.length === 0) return null;
  const outputs = await session(commands, program);
  return rewritten(lines, outputs);
}

/** Whether two recordings tell the same, whatever differs from run to run: codes, times, processes. */
export const tellTheSame = (one: string, other: string): boolean => lasting(one) === lasting(other);

export function lasting(text: string): string {
  return (
    text
      .replace(/\b[2-9A-HJ-NP-Z]{4}(?:-[2-9A-HJ-NP-Z]{4}){3}\b/g, 'CODE')
      .replace(/\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?Z?/g, 'TIME')
      .replace(/\b\d\d:\d\d:\d\d\b/g, 'TIME')
      .replace(/\bpid \d+/g, 'pid N')
      .replace(/\b\d{8}T\d{6}Z-(\w+)-\d+\.csv\b/g, 'TIME-$1-PID.csv')
      .replace(/\bjust now\b|\b\d+ (?:second|minute)s? ago\b/g, 'AGO')
      .replace(/\b[0-9a-f]{32,}\b/g, 'DIGEST')
      .replace(/\b[\d,]+ keys? per hour\b/g, 'N keys per hour')
      // A busy machine makes the daemon slow.
      .replace(/^no answer from \S+ after \d+ s; waiting for up to \d+ s\n/gm, '')
      // Commands name their duration only if it reaches a second.
      .replace(/ in \d+s(?=\.|$)/gm, '')
      .replace(/[ ─]{2,}/g, '  ')
  );
}

function commandsOf(lines: readonly string[]): string[] {
  const commands: string[] = [];
  let inside = false;
  for (const [index, line] of lines.entries()) {
    if (!inside) inside = line === opening;
    else if (line === closing) inside = false;
    else if (line.startsWith('$ ')) commands.push(line.slice(2));
    else if (lines[index - 1]?.endsWith('\\')) commands.push(`${commands.pop()}\n${line}`);
  }
  return commands;
}

function rewritten(lines: readonly string[], outputs: readonly string[]): string {
  const page: string[] = [];
  let inside = false;
  let next = 0;
  let typing = false;
  for (const line of lines) {
    const isCommand = inside && line.startsWith('$ ');
    if (!inside || line === closing || isCommand || typing) page.push(line);
    if (!inside) inside = line === opening;
    else if (line === closing) inside = false;
    else if (isCommand || typing) {
      typing = line.endsWith('\\');
      const output = typing ? '' : outputs[next++];
      if (output) page.push(output);
    }
  }
  return page.join('\n');
}

/** Runs the commands in one shell on a terminal; resolves to what each of them showed. */
async function session(commands: readonly string[], program: string): Promise<string[]> {
  // The output breaks its lines by the length of this path.
  const folder = await mkdtemp('/tmp/devmgr-recording-');
  const [programs, home, work, registry] = ['programs', 'home', 'home/keys', 'home/.local/share/devmgr'].map(name =>
    join(folder, name),
  ) as [string, string, string, string];
  try {
    for (const place of [programs, work, registry]) await mkdir(place, { recursive: true, mode: 0o700 });
    // As if the daemon had this port before: a notice about the usual one, if that is in use, would be recorded.
    storeDaemonStart(registry, { pid: process.pid, url: `http://${defaultHost}:${await freePort()}`, args: [] });
    await writeFile(join(programs, 'devmgr'), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`, {
      mode: 0o755,
    });
    const script = [
      `stty cols ${columns} rows 40 -echo`,
      ...commands.map(command => `printf '${mark}'\n${command}`),
      `printf '${mark}'`,
      'devmgr daemon stop >/dev/null 2>&1',
    ];
    await writeFile(join(folder, 'session'), `${script.join('\n')}\n`);
    const env = {
      PATH: `${programs}:${dirname(process.execPath)}:${process.env.PATH}`,
      HOME: home,
      LANG: 'C.UTF-8',
      TERM: 'xterm',
      TZ: 'UTC',
      SHELL: '/bin/bash',
      NO_COLOR: '1',
    };
    const shown = await onTerminal(`bash ${join(folder, 'session')}`, work, env);
    return shown
      .split(mark)
      .slice(1, -1)
      .map(text =>
        tidy(text)
          .replaceAll(home, shownHome)
          .replace(/127\.0\.0\.1:\d+/g, shownAddress),
      );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function onTerminal(command: string, cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn('script', ['-qec', command, '/dev/null'], { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', text => {
    shown += text;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => resolve(shown));
  });
}

/**
 * A free port with as many digits as the usual one, so that lines break at the same words. The usual one is left to daemons without
 * a port, and processes begin at different ones: two that found the same port free would start daemons on it.
 */
async function freePort(): Promise<number> {
  const lowest = defaultPort + 1;
  const count = 10_000 - lowest;
  for (let tried = 0; tried < count; tried++) {
    const port = lowest + ((process.pid + tried) % count);
    if (await isPortFree(port)) return port;
  }
  throw new Error(`no port from ${lowest} to 9999 is free`);
}

/** The text that stays on the screen: without colors and bells, and of a line that was drawn several times the last. */
export const tidy = (text: string): string =>
  stripVTControlCharacters(text.replaceAll('\u001b[1G', '\r'))
    .replaceAll('\u0007', '')
    .split(/\r*\n/)
    .map(line => line.slice(line.replace(/\r+$/, '').lastIndexOf('\r') + 1).trimEnd())
    .join('\n')
    .trimEnd();
