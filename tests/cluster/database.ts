/** Three PostgreSQL servers under Patroni, which elects the primary in etcd; one standby is synchronous. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { Clock } from './clock.ts';
import { hasEnded, Machine, UNPRIVILEGED } from './machine.ts';
import { PATRONI_PORT, patroniConfig, SERVER_PORT } from './patroni-config.ts';
import { postgresFolder } from './requirements.ts';
import { command } from './sandbox.ts';
import { getJson, until } from './waiting.ts';

const ETCD_PORT = 2379;
const DATABASE = 'devmgr';

interface Member {
  readonly name: string;
  readonly role: 'leader' | 'sync_standby' | 'replica' | string;
  readonly state: string;
  readonly timeline?: number;
}

/** A machine with a server. */
export interface Database {
  readonly machine: Machine;
  readonly config: string;
  /** The time of PostgreSQL's clock. Patroni's clock is always right. */
  readonly clock: Clock;
  /** The process of Patroni; it starts PostgreSQL. */
  patroni: ChildProcess;
}

export class DatabaseCluster {
  readonly members: readonly Database[];

  private constructor(members: readonly Database[]) {
    this.members = members;
  }

  /** Starts etcd and the servers, and creates the database. */
  static async start(folder: string): Promise<DatabaseCluster> {
    const etcd = startEtcd(folder);
    await until('etcd', 30, () => getJson(`http://${etcd.address}:${ETCD_PORT}/version`));
    const machines = [1, 2, 3].map(i => new Machine(`db${i}`, 10 + i, folder));
    const cluster = new DatabaseCluster(
      machines.map(machine => {
        const clock = new Clock(join(folder, `${machine.name}.clock`));
        const config = writeConfig(machine, etcd, folder, clock);
        return { machine, config, clock, patroni: startPatroni(machine, config) };
      }),
    );
    await cluster.whole();
    await cluster.query('CREATE ROLE devmgr LOGIN', 'postgres');
    const how = `OWNER devmgr TEMPLATE template0 LOCALE 'C' ENCODING 'UTF8'`;
    await cluster.query(`CREATE DATABASE ${DATABASE} ${how}`, 'postgres');
    return cluster;
  }

  /** The member that Patroni calls the leader, and the synchronous standby. Rejects if one of them is missing. */
  async roles(): Promise<{ readonly leader: Database; readonly standby: Database }> {
    const listed = await this.#listed();
    const leader = this.#withRole(listed, 'leader');
    const standby = this.#withRole(listed, 'sync_standby');
    if (!leader || !standby) throw new Error(`no leader and synchronous standby in ${JSON.stringify(listed)}`);
    return { leader, standby };
  }

  /** Resolves with the leader when all three servers run and the standbys follow it. */
  async whole(): Promise<{ readonly leader: Database; readonly standby: Database }> {
    return until('a primary with two standbys', 180, async () => {
      const listed = await this.#listed();
      const timelines = new Set(listed.map(({ timeline }) => timeline));
      const running = listed.filter(({ state }) => state === 'running' || state === 'streaming');
      if (listed.length < 3 || running.length < 3 || timelines.size > 1) return null;
      const roles = await this.roles();
      const following = `SELECT count(*)::int AS n FROM pg_stat_replication WHERE state = 'streaming'`;
      const [row] = await this.query(following, 'postgres');
      return row!.n === 2 ? roles : null;
    });
  }

  /** Ends a machine without warning. */
  crash({ machine, patroni }: Database): Promise<void> {
    return machine.crash(patroni);
  }

  /** Starts Patroni again after a crash. */
  restart(database: Database): void {
    if (!hasEnded(database.patroni)) throw new Error(`${database.machine.name} runs`);
    database.patroni = startPatroni(database.machine, database.config);
  }

  /** Asks Patroni for a planned change of the primary. */
  async switchover(from: Database, to: Database): Promise<void> {
    const response = await fetch(`http://${from.machine.address}:${PATRONI_PORT}/switchover`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ leader: from.machine.name, candidate: to.machine.name }),
    });
    if (!response.ok) throw new Error(`the switchover was refused: ${response.status} ${await response.text()}`);
  }

  /** Whether a proxy leads each new connection to the primary: it chooses the servers that it takes for primaries in turns. */
  async isOnlyPrimary(proxy: Machine): Promise<boolean> {
    const asked = this.members.map(() => queryAt(proxy, 'SELECT pg_is_in_recovery() AS no', 'postgres'));
    return (await Promise.all(asked)).every(([row]) => row!.no === false);
  }

  /** Runs a statement as the superuser on the primary, or on another server. */
  async query(sql: string, database = DATABASE, on?: Database): Promise<readonly Record<string, unknown>[]> {
    const { machine } = on ?? this.#withRole(await this.#listed(), 'leader')!;
    return queryAt(machine, sql, database);
  }

  async #listed(): Promise<readonly Member[]> {
    const views = this.members.map(async ({ machine }) => {
      const { members } = await getJson<{ members: readonly Member[] }>(
        `http://${machine.address}:${PATRONI_PORT}/cluster`,
      );
      return members;
    });
    return Promise.any(views);
  }

  #withRole(listed: readonly Member[], wanted: string): Database | undefined {
    const name = listed.find(({ role }) => role === wanted)?.name;
    return this.members.find(({ machine }) => machine.name === name);
  }
}

/** Ends a process; resolves when it is gone. */
export async function end(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

async function queryAt(
  { address }: Machine,
  sql: string,
  database: string,
): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ host: address, port: SERVER_PORT, user: 'postgres', database });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}

/**
 * Creates a folder in memory. The faults end processes and never the kernel, so a disk would keep no more; but all servers, and
 * whatever else the machine does, would share it, and a failover would take as long as that disk is busy.
 */
function folderInMemory(folder: string): void {
  mkdirSync(folder);
  command('mount', '-t', 'tmpfs', '-o', `uid=${UNPRIVILEGED},gid=${UNPRIVILEGED},mode=0700`, 'none', folder);
}

function startEtcd(folder: string): Machine {
  const etcd = new Machine('etcd', 10, folder);
  const data = join(folder, 'etcd');
  folderInMemory(data);
  const url = `http://${etcd.address}:${ETCD_PORT}`;
  // Patroni's driver `etcd` speaks version 2. With `etcd3` of 3.0.2, a leader that wakes up takes its place back without comparing.
  const args = ['--enable-v2', '--data-dir', data, '--listen-client-urls', url, '--advertise-client-urls', url];
  etcd.start({ program: 'etcd', args, unprivileged: true });
  return etcd;
}

function startPatroni(machine: Machine, config: string): ChildProcess {
  return machine.start({ program: '/usr/bin/patroni', args: [config], unprivileged: true });
}

function writeConfig({ name, address }: Machine, etcd: Machine, folder: string, clock: Clock): string {
  const home = join(folder, name);
  folderInMemory(home);
  const file = join(folder, `${name}.json`);
  const programs = programsWith(clock, home);
  writeFileSync(file, patroniConfig({ name, address, etcd: `${etcd.address}:${ETCD_PORT}`, home, programs }));
  return file;
}

/** A folder with the programs of PostgreSQL, of which the server has this clock. */
function programsWith(clock: Clock, home: string): string {
  const folder = join(home, 'bin');
  mkdirSync(folder);
  for (const name of readdirSync(postgresFolder()))
    if (name !== 'postgres') symlinkSync(join(postgresFolder(), name), join(folder, name));
  const env = Object.entries(clock.env).map(([name, value]) => `${name}=${value}`);
  const server = `exec env ${env.join(' ')} ${join(postgresFolder(), 'postgres')} "$@"`;
  writeFileSync(join(folder, 'postgres'), `#!/bin/sh\n${server}\n`, { mode: 0o755 });
  return folder;
}
