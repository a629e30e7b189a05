/** Registry daemons with one database, each on a machine of its own. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { noLimits } from '../support/daemon-process.ts';
import { program, runProgram } from '../support/program.ts';
import { Clock } from './clock.ts';
import { end } from './database.ts';
import { Machine } from './machine.ts';
import { SERVER_PORT } from './patroni-config.ts';
import { API_PORT } from './proxy.ts';
import { getJson, until } from './waiting.ts';

/** As in packaging/systemd: the proxy notices within so many seconds that a node is not ready. */
const DEVMGR_DRAIN = '3';

/** The registry of a node, if it is another one. */
export interface RegistrySettings {
  /** Of its database. */
  readonly name?: string;
  /** More environment of its programs. */
  readonly env?: Readonly<Record<string, string>>;
}

export class RegistryNode {
  readonly machine: Machine;
  /** The time of the daemon's clock. */
  readonly clock: Clock;
  readonly #home: string;
  /** The folder of the keys, which all nodes share. */
  readonly #secrets: string;
  readonly #storeUrl: string;
  #process: ChildProcess | null = null;
  /** The built program that `start` runs. */
  program = program;

  readonly #more: Readonly<Record<string, string>>;

  /** `database`: the machine through which the primary is reached. */
  constructor(number: number, folder: string, database: Machine, { name = 'devmgr', env = {} }: RegistrySettings = {}) {
    this.machine = new Machine(`node${number}`, 20 + number, folder);
    this.#home = join(folder, this.machine.name);
    this.#secrets = join(folder, `secrets-${name}`);
    this.#more = env;
    this.#storeUrl = `postgres://devmgr@${database.address}:${SERVER_PORT}/${name}`;
    this.clock = new Clock(join(folder, `${this.machine.name}.clock`));
    mkdirSync(this.#home, { mode: 0o700 });
    mkdirSync(this.#secrets, { mode: 0o700, recursive: true });
  }

  get url(): string {
    return `http://${this.machine.address}:${API_PORT}`;
  }

  /** The environment of programs that use the registry and its keys. */
  get env(): Readonly<Record<string, string>> {
    return { DEVMGR_STORE: this.#storeUrl, DEVMGR_SECRETS: this.#secrets, PGSSLMODE: 'disable', ...this.#more };
  }

  /** Creates the registry, its keys and the first administrator. */
  async init(): Promise<void> {
    const { code, stderr } = await runProgram(['daemon', 'init'], { home: this.#home, env: this.env });
    if (code !== 0) throw new Error(`daemon init ends with ${code}: ${stderr}`);
  }

  /** Starts the daemon. `ready` shows when it serves. */
  start(): void {
    const flags = ['--host', this.machine.address, '--port', `${API_PORT}`, '--role', 'registry', '--insecure-http'];
    const args = [this.program, 'daemon', 'run', '--json', '--node', this.machine.name, ...flags];
    const env = { ...noLimits, ...this.env, DEVMGR_DRAIN, DEVMGR_HOME: this.#home, ...this.clock.env };
    this.#process = this.machine.start({ program: process.execPath, args, env });
  }

  /** Resolves when the daemon accepts changes. */
  ready(seconds = 60): Promise<unknown> {
    return until(`${this.machine.name} ready`, seconds, async () => {
      const health = await this.#health();
      if (health.data?.status !== 'ok') throw new Error(JSON.stringify(health));
      return true;
    });
  }

  async isReady(): Promise<boolean> {
    return (await this.#health()).data?.status === 'ok';
  }

  #health(): Promise<{ readonly data: { readonly status: string } | null }> {
    return getJson(`${this.url}/api/health`);
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    if (this.#process) await end(this.#process);
  }

  /** SIGTERM. Rejects if the daemon does not end with 0. */
  async stop(): Promise<void> {
    const child = this.#process!;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    const [code, signal] = await ended;
    if (code !== 0) throw new Error(`${this.machine.name} ended with ${code ?? signal}`);
  }

  /** The most memory that the process has had, in MiB. */
  peakMiB(): number {
    const status = readFileSync(`/proc/${this.#process!.pid}/status`, 'utf8');
    return Math.round(Number(/VmHWM:\s*(\d+) kB/.exec(status)![1]) / 1024);
  }

  freeze(): void {
    this.#process?.kill('SIGSTOP');
  }

  thaw(): void {
    this.#process?.kill('SIGCONT');
  }
}
