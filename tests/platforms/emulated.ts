/** The program on another platform, by an emulator. Streams are files: Node under Wine cannot write to a pipe. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { poll } from '../../src/delivery/wait.ts';
import { adminPassword } from '../support/daemon.ts';
import type { Ran } from '../support/program.ts';

type Env = Readonly<Record<string, string>>;

export interface Start {
  readonly args: readonly string[];
  /** The home as the program names it. */
  readonly home: string;
  readonly input?: string;
  readonly env?: Env;
}

export interface Started {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly ended: Promise<Ran>;
}

/** The output of a command that ended well. */
export function succeeded(ran: Ran): string {
  expect(ran).toMatchObject({ code: 0 });
  return ran.stdout;
}

/** Emulators are slow, and the machine may be busy. */
const longestMs = 300_000;

export class Emulated {
  readonly folder = mkdtempSync(join(tmpdir(), 'devmgr-platform-'));
  readonly #command: readonly string[];
  readonly #env: Env;
  readonly #started = new Map<ChildProcess, Promise<unknown>>();
  #runs = 0;

  /** `command` runs the program, with the environment `env`, and `own` of the folder of this machine. */
  constructor(command: readonly string[], env: Env, own: (folder: string) => Env = () => ({})) {
    this.#command = command;
    this.#env = { ...env, ...own(this.folder) };
  }

  start({ args, home, input = '', env = {} }: Start): Started {
    const [stdin, stdout, stderr] = ['in', 'out', 'err'].map(name => join(this.folder, `${this.#runs}.${name}`));
    this.#runs++;
    writeFileSync(stdin!, input);
    const streams = [openSync(stdin!, 'r'), openSync(stdout!, 'w'), openSync(stderr!, 'w')];
    const [program, ...before] = this.#command;
    const child = spawn(program!, [...before, ...args], {
      stdio: streams as [number, number, number],
      cwd: this.folder,
      env: {
        PATH: process.env.PATH,
        HOME: this.folder,
        NO_COLOR: '1',
        DEVMGR_HOME: home,
        DEVMGR_ADMIN_PASSWORD: adminPassword,
        ...this.#env,
        ...env,
      },
    });
    for (const stream of streams) closeSync(stream);
    const textOf = (file: string) => readFileSync(file, 'utf8');
    const ended = once(child, 'exit').then(([code]) => {
      this.#started.delete(child);
      return { code: code as number | null, stdout: textOf(stdout!), stderr: textOf(stderr!) };
    });
    this.#started.set(child, ended);
    return { child, stdout: () => textOf(stdout!), stderr: () => textOf(stderr!), ended };
  }

  run(args: readonly string[], home: string, others: Omit<Start, 'args' | 'home'> = {}): Promise<Ran> {
    return this.start({ args, home, ...others }).ended;
  }

  /** A daemon in the foreground, once it listens. */
  async daemon(home: string, flags: readonly string[] = []): Promise<Started> {
    const started = this.start({ args: ['daemon', 'run', '--port', '0', '--json', ...flags], home });
    await this.until(started, () => started.stdout().includes('"event":"listening"'));
    return started;
  }

  /** Waits until a program has done something. Throws if it ends before. */
  async until(started: Started, isDone: () => boolean): Promise<void> {
    let result: Ran | null = null;
    started.ended.then(ran => {
      result = ran;
    });
    await poll(() => (isDone() || null) ?? result, { everyMs: 100, forMs: longestMs });
    if (!isDone()) throw new Error(`the program has ended: ${JSON.stringify(result)} ${started.stdout()}`);
  }

  async remove(): Promise<void> {
    for (const child of this.#started.keys()) child.kill('SIGKILL');
    await Promise.all(this.#started.values());
    rmSync(this.folder, { recursive: true, force: true });
  }
}
