/** The common part of the servers of directories in tests. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { Attribute, Change, type Client } from 'ldapts';

type Values = Readonly<Record<string, string>>;

/** Starts the program of a server, whose data is in the folder `home`. */
export function serveDirectory(program: string, args: readonly string[], client: Client, home: string) {
  const server: ChildProcess = spawn(program, args, { stdio: 'ignore' });
  const ended = once(server, 'exit');
  return {
    /** Replaces values of an entry. */
    replace: (dn: string, values: Values) => client.modify(dn, Object.entries(values).map(changeOf)),
    /** Ends it, and removes the folder. */
    async stop() {
      await client.unbind();
      server.kill('SIGTERM');
      await ended;
      await rm(home, { recursive: true, force: true });
    },
  };
}

const changeOf = ([type, value]: [string, string]) =>
  new Change({ operation: 'replace', modification: new Attribute({ type, values: [value] }) });
