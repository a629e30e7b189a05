import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, watch } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';
import { findTool } from './needs.ts';
import { type CardProgram, plugCard, type VirtualCard } from './vcard.ts';

const VIRTUAL_READER = '/usr/lib/pcsc/drivers/serial/libifdvpcd.so';

/** What this machine lacks for a pcscd with a virtual reader, or null. */
function lacking(): string | null {
  if (findTool('pcscd') === null) return 'pcscd is missing; apt-get install pcscd';
  if (!existsSync(VIRTUAL_READER)) return 'the virtual reader is missing; apt-get install vsmartcard-vpcd';
  const probe = spawnSync('unshare', [...asRoot(), '--mount', 'true']);
  return probe.status === 0 ? null : 'a mount namespace is not allowed here; run as root';
}

/** `describe` for tests that want a real pcscd: a named skip where the machine lacks it, a failure under CI. */
export function withPcscd(name: string, body: () => void): void {
  const lack = process.env.CI ? null : lacking();
  if (lack === null) describe(name, body);
  else describe.skip(`${name} (skipped: ${lack})`, body);
}

/** A pcscd of the test's own, with a virtual reader of two slots, unseen by any other on this machine. */
export interface Pcscd {
  /** What another process needs in its environment to talk to this pcscd. This process has it already. */
  readonly env: Readonly<Record<string, string>>;
  /** A folder of its own, removed by `stop`. */
  readonly home: string;
  /** Ports of the two slots. */
  readonly ports: readonly [number, number];
  start(): Promise<void>;
  /** Ends pcscd; cards and readers are gone with it. It can be started again. */
  halt(signal?: NodeJS.Signals): Promise<void>;
  restart(): Promise<void>;
  insert(program: CardProgram, slot?: 0 | 1): Promise<VirtualCard>;
  /** Pulls every card that is still in. */
  removeAll(): Promise<void>;
  /** Ends pcscd and removes its files. */
  stop(): Promise<void>;
}

let current: Pcscd | null = null;

/**
 * Starts a pcscd. Its socket has a fixed place, so it runs in a mount namespace where that place is a folder of ours, and
 * clients are led to it by PCSCLITE_CSOCK_NAME. The library reads that once per process: one test file, one pcscd.
 */
export async function startPcscd({
  started = true,
  reader = 'Virtual PCD',
  others = 0,
}: {
  readonly started?: boolean;
  /** What pcscd calls the reader; the slots' numbers come behind it. */
  readonly reader?: string;
  /** More readers of two slots each, in pcscd's list before the one whose slots cards are put into. */
  readonly others?: number;
} = {}): Promise<Pcscd> {
  const home = await mkdtemp(join(tmpdir(), 'pcscd-'));
  const run = join(home, 'run');
  const config = join(home, 'reader.conf');
  const socket = join(run, 'pcscd.comm');
  const pairs: number[] = [];
  while (pairs.length <= others) {
    const pair = await freePortPair();
    // Nobody listens there yet, so a pair can come twice, or reach into another.
    if (pairs.every(other => Math.abs(other - pair) > 1)) pairs.push(pair);
  }
  const port = pairs.at(-1)!;
  await mkdir(run);
  await mkdir('/run/pcscd', { recursive: true });
  const entries = pairs.map(async (pair, i) => {
    if (pair === port) return readerEntry(reader, pair, VIRTUAL_READER);
    // One copy of the virtual reader's library keeps the cards of one reader.
    const library = join(home, `reader-${i}.so`);
    await copyFile(VIRTUAL_READER, library);
    return readerEntry(`Other ${i}`, pair, library);
  });
  await writeFile(config, (await Promise.all(entries)).join('\n'));
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

/** Puts a card into a slot of the pcscd that was started last. */
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

/** An ordinary user may mount in a user namespace of its own alone. */
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
    // The file is there a moment before anybody listens behind it.
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

/** The first of two neighbouring ports that are free, as a two-slot virtual reader wants them. */
async function freePortPair(): Promise<number> {
  for (;;) {
    const first = createServer().listen(0, '127.0.0.1');
    await once(first, 'listening');
    const address = first.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const second = createServer();
    const free = await new Promise<boolean>(resolve => {
      second.once('error', () => resolve(false));
      second.listen(port + 1, '127.0.0.1', () => resolve(true));
    });
    await Promise.all([first, second].filter(server => server.listening).map(server => once(server.close(), 'close')));
    if (free && port > 0x8000) return port;
  }
}
