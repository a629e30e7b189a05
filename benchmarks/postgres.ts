/** A PostgreSQL server for the bench, with fsync, and registries in it. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { PostgresServer } from '../tests/support/postgres-server.ts';
import { fillPostgres } from './fill-postgres.ts';
import { type BenchDaemon, startDaemon } from './processes.ts';

/** Every value that is not the default of PostgreSQL. */
export const settings = [
  'shared_buffers=2GB',
  'max_wal_size=4GB',
  'maintenance_work_mem=1GB',
  'random_page_cost=1.1',
  'effective_cache_size=12GB',
];

export class Registries {
  readonly server: PostgresServer;
  readonly #scratch: string;
  readonly #tell: (text: string) => void;
  readonly #filled = new Map<number, string>();
  #homes = 0;

  private constructor(server: PostgresServer, scratch: string, tell: (text: string) => void) {
    this.server = server;
    this.#scratch = scratch;
    this.#tell = tell;
  }

  static async start(scratch: string, tell: (text: string) => void): Promise<Registries> {
    const server = await PostgresServer.start({ durable: true, settings });
    await mkdir(join(scratch, 'secrets'), { mode: 0o700, recursive: true });
    return new Registries(server, scratch, tell);
  }

  /** A database with this many devices. What is written to it stays. */
  async filled(devices: number): Promise<string> {
    const known = this.#filled.get(devices);
    if (known !== undefined) return known;
    const name = `devices_${devices}`;
    await this.server.query(`CREATE DATABASE ${name} TEMPLATE template0`);
    // Its start creates the schema.
    await (await this.daemon(name)).stop();
    const client = await this.server.connect(name);
    try {
      await fillPostgres(client, devices, done => this.#tell(`  made ${done} of ${devices} devices`));
    } finally {
      await client.end();
    }
    this.#filled.set(devices, name);
    return name;
  }

  /** A copy of a database that no one uses. */
  async copyOf(database: string, name: string): Promise<string> {
    await this.server.query(`CREATE DATABASE ${name} TEMPLATE ${database}`);
    return name;
  }

  /** A daemon on a database. All have the same keys, as the nodes of one registry do. */
  daemon(database: string, env: Readonly<Record<string, string>> = {}): Promise<BenchDaemon> {
    const home = join(this.#scratch, `node-${++this.#homes}`);
    return startDaemon(home, {
      store: this.server.url(database),
      env: { DEVMGR_SECRETS: join(this.#scratch, 'secrets'), ...env },
    });
  }

  stop(): Promise<void> {
    return this.server.stop();
  }
}
