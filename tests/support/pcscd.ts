import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, watch } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';
import { freePort } from './free-port.ts';
import { findTool } from './needs.ts';
import { type CardProgram, plugCard, type VirtualCard } from './vcard.ts';

const VIRTUAL_READER = '/usr/lib/pcsc/drivers/serial/libifdvpcd.so';

/** The part that is missing on this machine for a pcscd with a virtual reader; null if nothing is missing. */
function lacking(): string | null {
  if (findTool('pcscd') === null) return 'pcscd is missing; apt-get install pcscd';
  if (!existsSync(VIRTUAL_READER)) return 'the virtual reader is missing; apt-get install vsmartcard-vpcd';
  const probe = spawnSync('unshare', [...asRoot(), '--mount', 'true']);
  return probe.status === 0 ? null : 'a mount namespace is not allowed here; run as root';
}

/** `describe` for tests that need a real pcscd. Skipped with the reason if it is missing; under CI they fail. */
export function withPcscd(name: string, body: () => void): void {
  const lack = process.env.CI ? null : lacking();
  if (lack === null) describe(name, body);
  else describe.skip(`${name} (skipped: ${lack})`, body);
}

/** A pcscd for one test file, with a virtual reader of two slots, separate from any other on this machine. */
export interface Pcscd {
  /** The environment of other processes that use this pcscd. It is already set in this process. */
  readonly env: Readonly<Record<string, string>>;
  /** A temporary folder, removed by `stop`. */
  readonly home: string;
  /** Ports of the two slots. */
  readonly ports: readonly [number, number];
  start(): Promise<void>;
  /** Ends pcscd, and with it all readers and cards. It can be started again. */
  halt(signal?: NodeJS.Signals): Promise<void>;
  restart(): Promise<void>;
  /** It takes no new connections while `work` runs; those that it has stay. */
  hidden(work: () => Promise<void>): Promise<void>;
  insert(program: CardProgram, slot?: 0 | 1): Promise<VirtualCard>;
  /** Removes every card that is still inserted. */
  removeAll(): Promise<void>;
  /** Ends pcscd and removes its files. */
  stop(): Promise<void>;
}

let current: Pcscd | null = null;
/** The socket of the first pcscd of this process. */
let knownSocket: string | null = null;

/**
 * Starts a pcscd. Its socket has a fixed path, so it runs in a mount namespace where that path is a temporary folder, and
 * clients find it by PCSCLITE_CSOCK_NAME. The library reads that variable once per process: one pcscd per test file, and such a file
 * shares its process with no other (vitest.config.ts).
 */
export async function startPcscd({
  started = true,
  reader = 'Virtual PCD',
  others = 0,
}: {
  readonly started?: boolean;
  /** The name of the reader; pcscd appends the numbers of the slots. */
  readonly reader?: string;
  /** More readers of two slots each, before the reader for the cards in pcscd's list. */
  readonly others?: number;
} = {}): Promise<Pcscd> {
  const home = await mkdtemp(join(tmpdir(), 'pcscd-'));
  const run = join(home, 'run');
  const config = join(home, 'reader.conf');
  const socket = join(run, 'pcscd.comm');
  const pairs: number[] = [];
  while (pairs.length <= others) {
    const pair = await freePort(2);
    // No one listens there yet, so the same or an overlapping pair can come again.
    if (pairs.every(other => Math.abs(other - pair) > 1)) pairs.push(pair);
  }
  const port = pairs.at(-1)!;
  await mkdir(run);
  await mkdir('/run/pcscd', { recursive: true });
  const entries = pairs.map(async (pair, i) => {
    if (pair === port) return readerEntry(reader, pair, VIRTUAL_READER);
    // Each reader needs its own copy of the virtual reader's library.
    const library = join(home, `reader-${i}.so`);
    await copyFile(VIRTUAL_READER, library);
    return readerEntry(`Other ${i}`, pair, library);
  });
  await writeFile(config, (await Promise.all(entries)).join('\n'));
  if (knownSocket !== null) throw new Error('this process has had a pcscd, and the PC/SC library knows only that one');
  knownSocket = socket;
  process.env.PCSCLITE_CSOCK_NAME = socket;
  let child: ChildProcess | null = null;
  const cards = new Set<VirtualCard>();

  async function start(): Promise<void> {
    child = spawnPcscd(run, config);
    await appears(run, socket, child);
  }

  async function halt(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (child === null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
    child = null;
    await rm(socket, { force: true });
    await rm(join(run, 'pcscd.pid'), { force: true });
  }

  const pcscd: Pcscd = {
    env: { PCSCLITE_CSOCK_NAME: socket },
    home,
    ports: [port, port + 1],
    start,
    halt,
    async restart() {
      await halt();
      await start();
    },
    async hidden(work) {
      await rename(socket, `${socket}.hidden`);
      await work();
      await rename(`${socket}.hidden`, socket);
    },
    async insert(program, slot = 0) {
      const card = await plugCard(program, port + slot);
      cards.add(card);
      return card;
    },
    async removeAll() {
      await Promise.all([...cards].map(card => card.remove()));
      cards.clear();
    },
    async stop() {
      await pcscd.removeAll();
      await halt();
      await rm(home, { recursive: true, force: true });
      if (current === pcscd) current = null;
    },
  };
  current = pcscd;
  if (started) await start();
  return pcscd;
}

function readerEntry(name: string, port: number, library: string): string {
  const hexPort = `0x${port.toString(16).toUpperCase()}`;
  return `FRIENDLYNAME "${name}"\nDEVICENAME /dev/null:${hexPort}\nLIBPATH ${library}\nCHANNELID ${hexPort}\n`;
}

/** Inserts a card into a slot of the pcscd that was started last. */
export function insertCard(program: CardProgram, slot: 0 | 1 = 0): Promise<VirtualCard> {
  if (current === null) throw new Error('no pcscd was started: call startPcscd first');
  return current.insert(program, slot);
}

function spawnPcscd(run: string, config: string): ChildProcess {
  const script = 'mount --bind "$1" /run/pcscd && exec "$2" --foreground --config "$3"';
  const pcscd = findTool('pcscd') ?? 'pcscd';
  return spawn('unshare', [...asRoot(), '--mount', 'sh', '-c', script, 'sh', run, pcscd, config], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

/** A normal user may mount only in a new user namespace. */
function asRoot(): string[] {
  return process.getuid?.() === 0 ? [] : ['--map-root-user'];
}

/** Resolves when the service takes connections; rejects when pcscd ends instead. */
async function appears(folder: string, socket: string, child: ChildProcess): Promise<void> {
  const waiting = new AbortController();
  const watcher = watch(folder, { signal: waiting.signal });
  const ended = once(child, 'exit', { signal: waiting.signal }).then(([status]) => {
    throw new Error(`pcscd ended at its start, with status ${status}`);
  });
  try {
    while (!existsSync(socket)) await Promise.race([once(watcher, 'change', { signal: waiting.signal }), ended]);
    // The file exists a moment before the service listens.
    while (!(await Promise.race([takesConnections(socket), ended])));
  } finally {
    ended.catch(() => undefined);
    waiting.abort();
  }
}

function takesConnections(path: string): Promise<boolean> {
  return new Promise(resolve => {
    const probe = connect(path);
    probe.once('error', () => resolve(false));
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
  });
}
