/** An empty value, as of an unset variable in a script, is a usage error: it never selects everything. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandTable } from '../../src/cli/commands/index.ts';
import { endings } from '../../src/cli/exit-codes.ts';
import type { CommandNode } from '../../src/cli/framework/command-node.ts';
import { createProgram } from '../../src/cli/framework/program.ts';
import { answering } from '../support/http-servers.ts';
import { type Daemon, devmgr, discard, startDaemon } from './program.ts';

const program = () =>
  createProgram({
    table: commandTable,
    endings,
    columns: 80,
    paint: (_, text) => text,
    write: () => {},
    say: () => {},
    act: async () => {},
  });

/** Parses a command line; the error, or null if the command would run. */
async function refusalOf(words: readonly string[]): Promise<string | null> {
  try {
    await program().run(words);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Flags whose empty value removes what is set, or stands for none. */
const removing = [
  'apps add --changelog',
  'deactivate --note',
  'device-backups add --note',
  'lock --note',
  'people add --email',
  'people add --name',
  'policies update --allow-aaguid',
  'policies update --least-firmware',
  'policies update --pin-recipient',
  'providers add ldap --bind-dn',
  'providers add ldap --ca-file',
  'providers add ldap --group-dn',
  'providers add ldap --ldap-filter',
  'providers add oidc --local-account',
  'providers add oidc --scope',
  'providers add oidc --strong-acr',
  'providers add oidc --strong-amr',
  'providers update ldap --bind-dn',
  'providers update ldap --ca-file',
  'providers update ldap --group-dn',
  'providers update ldap --ldap-filter',
  'providers update oidc --local-account',
  'providers update oidc --scope',
  'providers update oidc --strong-acr',
  'providers update oidc --strong-amr',
  'register --firmware-version',
  'register --hardware-version',
  'unlock --note',
  'update --firmware-version',
  'update --note',
  'users add --email',
  'users update --email',
];

describe('every command', () => {
  test('refuses an empty value of each flag, but of those that it removes something with', async () => {
    const nodes: readonly CommandNode[] = program().leaves;
    expect(nodes.length).toBeGreaterThan(60);
    const accepted: string[] = [];
    for (const node of nodes) {
      await node.load();
      for (const flag of node.flags.filter(({ shape, hidden }) => shape?.value !== undefined && !hidden))
        for (const words of [[flag.long!, ''], [flag.long!, ' '], [`${flag.long}=`]]) {
          const refusal = await refusalOf([...node.path.split(' '), ...words]);
          // A missing argument is reported only if the values of the flags are accepted.
          if (!/must not be empty|must be a whole number/.test(refusal ?? ''))
            accepted.push(`${node.path} ${flag.long}`);
        }
    }
    expect([...new Set(accepted)].sort()).toEqual(removing);
  });

  test('refuses an empty argument', async () => {
    const accepted: string[] = [];
    for (const node of program().leaves) {
      await node.load();
      const { args = [] } = node.shape!;
      for (const [i] of args.entries()) {
        const words = args.slice(0, i + 1).map(({ choices }, at) => (at === i ? '' : (choices?.[0] ?? 'x')));
        const refusal = await refusalOf([...node.path.split(' '), ...words, ...args.slice(i + 1).map(() => 'x')]);
        if (!node.shape?.args?.[i]?.empty && !/is empty|Allowed choices/.test(refusal ?? ''))
          accepted.push(`${node.path}: ${refusal}`);
      }
    }
    expect(accepted).toEqual([]);
  });
});

describe('with a registry', () => {
  let daemon: Daemon;
  beforeAll(async () => {
    daemon = await startDaemon();
    for (const serial of ['EMPTY-1', 'EMPTY-2']) await daemon.register(serial);
  });
  afterAll(() => discard(daemon));

  test.each([
    ['cleanup', 'plan', '--user', ''],
    ['cleanup', 'plan', '--unused', '90d', '--user='],
    ['export', '--user', ''],
    ['export', '--status', 'ACTIVE,'],
    ['export', '--tag', 'lot='],
    ['export', '--tag', ''],
    ['list', '-k', ''],
    ['list', '--fields', 'deviceId,,status'],
    ['stats', '--user', ''],
    ['lock', '', '--yes', '--reason', 'x'],
    ['lock', 'EMPTY-1', '', '--yes', '--reason', 'x'],
    ['lock', '--filter', 'user=', '--yes', '--reason', 'x'],
    ['lock', '--filter', '', '--yes', '--reason', 'x'],
    ['events', '--device', ''],
    ['events', '--by', ' '],
    ['watch', '--type', ''],
    ['people', 'leave', ''],
    ['tokens', 'add', 'x', '--role', 'VIEWER', '--allowed-from', ''],
    ['list', '--server', ''],
  ])('%s %s %s %s exits with 2 and writes nothing', async (...args) => {
    const { code, stdout } = await daemon.run(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });

  test('an empty variable of the environment counts as unset', async () => {
    const { code, stdout } = await daemon.run(['list', '--help'], { env: { DEVMGR_SERVER: '' } });
    expect({ code, shown: stdout.includes('--keyword') }).toEqual({ code: 0, shown: true });
  });

  test('requests ask the server to refuse what it does not know', async () => {
    const asked: unknown[] = [];
    const { url } = await answering(({ headers }, response) => {
      asked.push(headers.prefer);
      response.end('{"deviceId":"DEV-1"}\n{"end":true,"count":1}\n');
    });
    const { code } = await devmgr(['export', '--user', 'alice'], { env: { DEVMGR_TOKEN: 'x', DEVMGR_SERVER: url } });
    expect({ code, asked }).toEqual({ code: 0, asked: ['handling=strict'] });
  });
});
