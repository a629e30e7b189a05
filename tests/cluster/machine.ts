/** Machines: network namespaces on one bridge. A machine has an address, its processes, and connections that can be cut. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { command } from './sandbox.ts';

export const NETWORK = '10.77.0';
/** The address of the runner for the machines. */
export const HOST = `${NETWORK}.1`;
/** The user `nobody`: PostgreSQL refuses to run as root. */
export const UNPRIVILEGED = 65_534;

/** How to start a process. */
export interface Started {
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Run as `nobody`. */
  readonly unprivileged?: boolean;
}

/** Creates the bridge that connects all machines with the runner. */
export function createNetwork(): void {
  command('ip', 'link', 'set', 'lo', 'up');
  command('ip', 'link', 'add', 'name', 'cluster', 'type', 'bridge');
  command('ip', 'addr', 'add', `${HOST}/24`, 'dev', 'cluster');
  command('ip', 'link', 'set', 'cluster', 'up');
}

export class Machine {
  readonly name: string;
  readonly address: string;
  readonly #logs: string;

  /** `number`: the last part of its address. `logs`: the folder for what its processes write. */
  constructor(name: string, number: number, logs: string) {
    this.name = name;
    this.address = `${NETWORK}.${number}`;
    this.#logs = logs;
    command('ip', 'netns', 'add', name);
    command('ip', 'link', 'add', 'name', `to-${name}`, 'type', 'veth', 'peer', 'name', 'net0', 'netns', name);
    command('ip', 'link', 'set', `to-${name}`, 'master', 'cluster', 'up');
    command('ip', '-n', name, 'addr', 'add', `${this.address}/24`, 'dev', 'net0');
    command('ip', '-n', name, 'link', 'set', 'net0', 'up');
    command('ip', '-n', name, 'link', 'set', 'lo', 'up');
  }

  get log(): string {
    return join(this.#logs, `${this.name}.log`);
  }

  /** Starts a process on the machine. It does not outlive the runner. */
  start({ program, args, env = {}, unprivileged = false }: Started): ChildProcess {
    const user = unprivileged ? [`--reuid=${UNPRIVILEGED}`, `--regid=${UNPRIVILEGED}`, '--clear-groups'] : [];
    const log = openSync(this.log, 'a');
    const command = [`--net=/run/netns/${this.name}`, 'setpriv', '--pdeathsig=KILL', ...user, program, ...args];
    try {
      return spawn('nsenter', command, { cwd: '/', env: { ...process.env, ...env }, stdio: ['ignore', log, log] });
    } finally {
      closeSync(log);
    }
  }

  /** Kills every process of the machine at once, as a loss of power would. */
  async crash(main: ChildProcess): Promise<void> {
    const ended = hasEnded(main) ? null : once(main, 'exit');
    for (let pids = this.#pids(); pids.length > 0; pids = this.#pids()) for (const pid of pids) kill(pid);
    await ended;
  }

  #pids(): readonly number[] {
    return command('ip', 'netns', 'pids', this.name).split('\n').filter(Boolean).map(Number);
  }

  /** Drops all packets to and from another machine, or only those of its connections to a port there. */
  cut(other: Machine, port?: number): void {
    for (const rule of rulesOf(other, port)) this.#iptables('-A', rule);
  }

  heal(other: Machine, port?: number): void {
    for (const rule of rulesOf(other, port)) this.#iptables('-D', rule);
  }

  #iptables(action: string, [chain, ...rule]: readonly string[]): void {
    command('ip', 'netns', 'exec', this.name, 'iptables', '-w', action, chain!, ...rule, '-j', 'DROP');
  }
}

function rulesOf({ address }: Machine, port: number | undefined): readonly (readonly string[])[] {
  const tcp = (side: string) => (port === undefined ? [] : ['-p', 'tcp', side, String(port)]);
  // The first message: a change that has passed while only its confirmation is lost would not be a change that the other side lacks.
  return [
    ['OUTPUT', '-d', address, ...tcp('--dport')],
    ['INPUT', '-s', address, ...tcp('--sport')],
  ];
}

export const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

/** A process can end between the look and the signal. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
