/** Daemons of one registry in PostgreSQL, each a process with a home of its own. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { RunOptions } from '../../src/contract/programs.ts';
import { type DaemonProcess, spawnDaemon } from './daemon-process.ts';
import type { PostgresServer } from './postgres.ts';
import { runDaemonProgram } from './programs.ts';
import { temporaryFolder } from './temporary.ts';

export interface Node extends DaemonProcess {
  readonly home: string;
  readonly secrets: string;
  /** A program of the daemon on the home, the secrets and the database of this node. */
  program<O extends { readonly home: string }>(
    program: Parameters<typeof runDaemonProgram<O>>[0],
    options: Omit<O, 'home'>,
  ): ReturnType<typeof runDaemonProgram>;
}

/** The registry that nodes share. */
export class Nodes {
  readonly database: string;
  readonly url: string;
  readonly secrets = join(temporaryFolder(), 'secrets');

  private constructor(database: string, url: string) {
    this.database = database;
    this.url = url;
  }

  static async create(server: PostgresServer): Promise<Nodes> {
    const database = await server.database();
    return new Nodes(database, server.url(database));
  }

  /** Starts a daemon with the shared secrets, unless others are named. It is killed at the end of the test. */
  async start({
    secrets = this.secrets,
    home = temporaryFolder(),
    env = {},
    ...options
  }: Partial<RunOptions> & { readonly env?: Readonly<Record<string, string>> } = {}): Promise<Node> {
    const folder = secrets ?? this.secrets;
    const daemon = await spawnDaemon({ ...options, home, store: this.url }, { DEVMGR_SECRETS: folder, ...env });
    onTestFinished(() => daemon.kill());
    return {
      ...daemon,
      home,
      secrets: folder,
      program: (program, more) =>
        runDaemonProgram(program, { ...more, home } as never, { DEVMGR_STORE: this.url, DEVMGR_SECRETS: folder }),
    };
  }

  /** A copy of the secrets, as another machine would have it. */
  copySecrets(from = this.secrets, to = join(temporaryFolder(), 'secrets')): string {
    cpSync(from, to, { recursive: true, filter: file => !file.endsWith('.lock') });
    return to;
  }
}
