/** A Debian that has booted: systemd, bus and users of its own, no network, the host's kernel. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { debianVersion, removeRoot, unpackRoot } from './roots.ts';

/** A boot takes a second where nothing else is done; one that takes longer than this hangs. */
const bootMs = 90_000;

export interface Ran {
  readonly code: number | null;
  /** Standard output and standard error as they came. */
  readonly output: string;
}

export class Machine {
  readonly folder: string;
  readonly #nspawn: ChildProcess;
  #leader = 0;

  private constructor(folder: string) {
    this.folder = folder;
    const flags = ['--boot', '--quiet', '--register=no', '--keep-unit', '--private-network', '--console=read-only'];
    this.#nspawn = spawn('systemd-nspawn', ['-D', folder, `--machine=${basename(folder)}`, ...flags], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  }

  /** Resolves when everything that is started at boot has been started. */
  static async boot(kind: 'machine' | 'database' = 'machine'): Promise<Machine> {
    const machine = new Machine(unpackRoot(kind));
    try {
      await machine.#booted();
    } catch (error) {
      await machine.end();
      throw error;
    }
    return machine;
  }

  get debian(): string {
    return debianVersion(this.folder);
  }

  /** Runs a script as a user of the machine, in a shell that has logged in. */
  async run(user: string, script: string): Promise<Ran> {
    const child = this.start('runuser', '-l', user, '-c', script);
    let output = '';
    for (const stream of [child.stdout!, child.stderr!])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.stdin!.end();
    const [code] = await once(child, 'close');
    return { code, output };
  }

  /** Starts a program of the machine, as root. */
  start(program: string, ...args: readonly string[]): ChildProcess {
    return this.enter(['--all'], [program, ...args]);
  }

  /** Starts a program of this host in the network of the machine. */
  enterNetwork(program: string, ...args: readonly string[]): ChildProcess {
    return this.enter(['--net'], [program, ...args]);
  }

  /** Shuts the machine down and removes it. Idempotent. */
  async end(): Promise<void> {
    if (this.#nspawn.exitCode === null && this.#nspawn.signalCode === null) {
      const ended = once(this.#nspawn, 'exit');
      this.#nspawn.kill('SIGTERM');
      await ended;
    }
    removeRoot(this.folder);
  }

  private enter(namespaces: readonly string[], call: readonly string[]): ChildProcess {
    const env = { ...process.env, ...(namespaces.includes('--all') && { LANG: 'C.UTF-8', TERM: 'dumb' }) };
    return spawn('nsenter', ['--target', String(this.#leader), ...namespaces, '--', ...call], { env });
  }

  async #booted(): Promise<void> {
    await this.#reached(/Reached target .*Multi-User/i);
    const pid = this.#nspawn.pid;
    this.#leader = Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);
    const waiting = await this.run('root', 'timeout 60 systemctl is-system-running --wait');
    if (!/running|degraded/.test(waiting.output)) throw new Error(`the machine did not boot: ${waiting.output}`);
  }

  /** Resolves when the console has shown such a line; what it shows later is taken and dropped. */
  #reached(line: RegExp): Promise<void> {
    let console = '';
    return new Promise((resolve, reject) => {
      this.#nspawn.stdout!.setEncoding('utf8').on('data', (text: string) => {
        console += text;
        if (line.test(console)) resolve();
      });
      this.#nspawn.on('error', reject);
      AbortSignal.timeout(bootMs).addEventListener('abort', () => reject(new Error(`no boot in time: ${console}`)));
      this.#nspawn.on('exit', () => reject(new Error(`the machine ended while it booted: ${console}`)));
    });
  }
}

/** A SIM card in the virtual reader of a machine. */
export class Card {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Resolves when the reader has taken notice of it. */
  static async insert(machine: Machine, iccid: string): Promise<Card> {
    const child = machine.enterNetwork(process.execPath, join(import.meta.dirname, 'card.ts'), iccid);
    const inserted = once(child.stdout!, 'data');
    const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`the card ended with ${code}`)));
    await Promise.race([inserted, ended]);
    ended.catch(() => undefined);
    return new Card(child);
  }

  async remove(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.stdin!.end();
    await ended;
  }
}
