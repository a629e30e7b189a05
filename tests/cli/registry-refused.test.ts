/** Every way in which a registry in PostgreSQL, its files or its secrets can be wrong: one line, exit code 2 or 9, nothing changed. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { issueCertificate, makeAuthority } from '../support/certificates.ts';
import { imageOf } from '../support/database.ts';
import { needsPostgres, PostgresServer, serverPassword } from '../support/postgres.ts';
import { type Swift, startSwift, withSwift } from '../support/swift.ts';
import { devmgr, type Finished, temporaryFolder } from './program.ts';

type Env = Readonly<Record<string, string>>;

/** The arguments of a command. */
interface Place {
  readonly url: string;
  readonly env: Env;
  /** Its home has the secrets. */
  readonly home: string;
}

/** A place that cannot be used, with the reason, and the database that it names if there is one. */
interface WrongPlace extends Partial<Place> {
  readonly url: string;
  readonly database?: readonly [server: PostgresServer, name: string];
}

/** The commands, as a person types them. */
const commands: Readonly<Record<string, (place: Place) => Promise<Finished>>> = {
  'daemon run': ({ url, env, home }) => devmgr(['daemon', 'run', '--port', '0', '--store', url], { home, env }),
  'daemon start': ({ url, env, home }) => devmgr(['daemon', 'start', '--port', '0', '--store', url], { home, env }),
  'daemon init': ({ url, env, home }) => devmgr(['daemon', 'init', '--store', url], { home, env }),
  'daemon check': ({ url, env, home }) => devmgr(['daemon', 'check', '--store', url], { home, env }),
  'daemon copy': ({ url, env, home }) =>
    devmgr(['daemon', 'copy', '--from', url, '--to', `sqlite:${join(home, 'copied.db')}`], { home, env }),
  'daemon backup': ({ url, env, home }) =>
    devmgr(['daemon', 'backup', join(home, 'saved'), '--store', url], { home, env }),
  'daemon audit': ({ url, env, home }) => devmgr(['daemon', 'audit', '--store', url], { home, env }),
  'daemon reset-password': ({ url, env, home }) =>
    devmgr(['daemon', 'reset-password', 'admin', '--store', url], { home, env }),
  'daemon restore': ({ url, env, home }) =>
    devmgr(['daemon', 'restore', join(home, 'absent'), '--yes', '--store', url], { home, env }),
};
const names = Object.keys(commands);

/** The files of a home and what is in them; locks, logs and what a daemon notes about its own start are left out. */
const filesOf = (home: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(home, { withFileTypes: true })
      .filter(entry => entry.isFile() && !/^(daemon[.-]|.*\.lock$|.*-(wal|shm)$)/.test(entry.name))
      .map(({ name }) => [name, readFileSync(join(home, name), 'latin1')]),
  );

const started = /^devmgr: the local daemon was started and ended at once \(exit code \d\); the end of its log:\n {2}/;

/** One line explains what is wrong, the next what to do. `daemon start` first reports that the daemon it has started has ended. */
function expectRefusal({ code, stdout, stderr: said }: Finished, expected: number, message: RegExp): void {
  const stderr = said.replace(started, 'devmgr: ');
  expect(`${code} ${stderr}`).toMatch(new RegExp(`^${expected} `));
  expect(stderr).toMatch(message);
  expect(stdout).toBe('');
  const [first, ...hints] = stderr.trimEnd().split('\n');
  expect(first).toMatch(/^devmgr: /);
  expect(first).toMatch(message);
  expect(hints.length, stderr).toBeLessThanOrEqual(1);
  expect(stderr).not.toMatch(/at .*:\d+:\d+|wrong password here/);
}

const address = () => `127.${[1, 2, 3].map(() => 1 + Math.floor(Math.random() * 253)).join('.')}`;

needsPostgres('a registry that cannot be used', () => {
  let server: PostgresServer;
  let standby: PostgresServer;
  let earlier: PostgresServer;
  let base: string;
  let home: string;
  let foreign: string;
  let env: Env;
  let authority: string;
  let otherAuthority: string;
  const [named, unnamed] = [address(), address()];
  const registry = 'registry';
  const at = (host: string, database = registry) => `postgres://devmgr@${host}:5432/${database}`;

  beforeAll(async () => {
    base = mkdtempSync(join(tmpdir(), 'devmgr-refused-'));
    const folder = base;
    const ca = makeAuthority(folder, 'authority');
    authority = ca.cert;
    otherAuthority = makeAuthority(folder, 'other').cert;
    const issued = issueCertificate(folder, ca, `IP:${named}`);
    const hba =
      'local replication devmgr trust\nlocal all all scram-sha-256\nhostssl all all 127.0.0.0/8 scram-sha-256\n';
    server = await PostgresServer.start({
      passwords: true,
      settings: [`listen_addresses=${named},${unnamed}`],
      before: (data, own) => {
        for (const [name, file] of [
          ['server.crt', issued.cert],
          ['server.key', issued.key],
        ] as const) {
          writeFileSync(join(data, name), readFileSync(file), { mode: 0o600 });
          own(join(data, name));
        }
        writeFileSync(join(data, 'pg_hba.conf'), hba);
        return ['ssl=on'];
      },
    });
    const passwordFile = join(folder, 'password');
    writeFileSync(passwordFile, serverPassword, { mode: 0o600 });
    env = { DEVMGR_STORE_PASSWORD_FILE: passwordFile };
    await server.query(`CREATE DATABASE ${registry} TEMPLATE template0`);
    [home, foreign] = [mkdtempSync(join(base, 'home-')), mkdtempSync(join(base, 'foreign-'))];
    expect(await devmgr(['daemon', 'init', '--store', server.url(registry)], { home, env })).toMatchObject({ code: 0 });
    expect(await devmgr(['daemon', 'init'], { home: foreign })).toMatchObject({ code: 0 });
    await server.query(`CREATE DATABASE newer TEMPLATE ${registry}`);
    await server.query('UPDATE devmgr_schema SET version = 999, readable_by = 999', 'newer');
    earlier = await server.copy();
    standby = await server.copy({ standby: true });
    const reset = ['daemon', 'reset-password', 'admin'];
    expect(await devmgr(reset, { home, env: { ...env, DEVMGR_STORE: server.url(registry) } })).toMatchObject({
      code: 0,
    });
  }, 120_000);
  afterAll(async () => {
    await Promise.all([standby?.stop(), earlier?.stop()]);
    await server?.stop();
    rmSync(base, { recursive: true, force: true });
  });

  /** The reason, and the exit code and message of each command; `but` has those that differ. */
  const cases: Readonly<Record<string, readonly [place: () => WrongPlace, code: number, message: RegExp]>> = {
    'a port without a server': [
      () => ({ url: 'postgres://devmgr@127.0.0.1:1/d' }),
      9,
      /cannot be reached: .*ECONNREFUSED/,
    ],
    'a host that does not exist': [
      () => ({ url: 'postgres://devmgr@nowhere.invalid/d' }),
      9,
      /cannot be reached: .*nowhere\.invalid/,
    ],
    'a malformed URL': [
      () => ({ url: 'postgres://devmgr@/' }),
      2,
      /URL of the store needs a user, a host and a database/,
    ],
    'a URL of another program': [() => ({ url: 'mysql://devmgr@127.0.0.1/d' }), 2, /does not know the scheme mysql/],
    'a database that does not exist': [() => ({ url: server.url('absent') }), 2, /database "absent" does not exist/],
    'a wrong password': [
      () => {
        const file = join(temporaryFolder(), 'wrong');
        writeFileSync(file, 'wrong password here', { mode: 0o600 });
        return { url: server.url(registry), env: { DEVMGR_STORE_PASSWORD_FILE: file } };
      },
      2,
      /refuses the login: password authentication failed/,
    ],
    'a schema of a newer release': [
      () => ({ url: server.url('newer'), database: [server, 'newer'] }),
      2,
      /has schema version 999, this devmgr supports up to \d+/,
    ],
    'a standby': [
      () => ({ url: standby.url(registry), database: [standby, registry] }),
      9,
      /is read-only: it is a standby/,
    ],
    'an earlier state of the server': [
      () => ({ url: earlier.url(registry), database: [earlier, registry] }),
      9,
      /ends at journal entry \d+, and entry \d+ was signed: it is an earlier state/,
    ],
    'the secrets of another registry': [
      () => ({ url: server.url(registry), home: foreign }),
      2,
      /is sealed with a key that this home does not have/,
    ],
  };

  /** Every command meets two of the cases, one for each exit code; the other cases meet `daemon run` and one more command. */
  const meetsAll = ['a wrong password', 'a standby'];
  const pairs = Object.keys(cases).flatMap((what, index) => {
    const met = meetsAll.includes(what) ? names : ['daemon run', names[1 + (index % (names.length - 1))]!];
    return met.map(name => [what, name] as const);
  });
  // It is what the check is for: a result, not a refusal.
  const everyPair = [...pairs, ['an earlier state of the server', 'daemon check'] as const];

  it.each([...new Map(everyPair.map(pair => [pair.join(), pair])).values()])(
    '%s is refused by %s with one line, and changes nothing',
    async (what, name) => {
      const [place, code, message] = cases[what]!;
      const given = place();
      const copied = temporaryFolder();
      cpSync(given.home ?? home, copied, { recursive: true });
      // The main database, and the one that the command is given.
      const images = () =>
        Promise.all(
          [[server, registry] as const, ...(given.database ? [given.database] : [])].map(at => imageOf(...at)),
        );
      const [files, databases] = [filesOf(copied), await images()];
      const result = await commands[name]!({ url: given.url, env: { ...env, ...given.env }, home: copied });
      if (what === 'an earlier state of the server' && name === 'daemon check') {
        expect(result).toMatchObject({
          code: 1,
          stdout: expect.stringMatching(/the journal ends at entry \d+, .* records \d+/),
        });
      } else expectRefusal(result, code, message);
      expect(filesOf(copied)).toEqual(files);
      expect(await images()).toEqual(databases);
    },
  );

  describe('TLS', () => {
    const check = (host: string, tls: Env) =>
      devmgr(['daemon', 'check'], { home, env: { ...env, ...tls, DEVMGR_STORE: at(host) } });

    it.each([
      ['verify-full with the CA and the right name', named, 'verify-full', true],
      ['verify-ca with another name', unnamed, 'verify-ca', true],
      ['require without a CA', unnamed, 'require', false],
    ])('is used with %s', async (_, host, mode, hasAuthority) => {
      const tls = { PGSSLMODE: mode, ...(hasAuthority ? { PGSSLROOTCERT: authority } : {}) };
      expect(await check(host, tls)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^OK/) });
    });

    it.each([
      [
        'the certificate has another name',
        unnamed,
        'verify-full',
        'right',
        /not secure: .*does not match certificate's altnames/,
      ],
      ['the CA is another one', named, 'verify-full', 'other', /not secure: .*certificate/],
      ['verify-ca has another CA', named, 'verify-ca', 'other', /not secure: .*certificate/],
      ['the CA is not known', named, 'verify-full', '', /not secure: .*certificate/],
      ['the server wants TLS and the client none', named, 'disable', '', /refuses the login: .*no encryption/],
    ])('is refused if %s', async (_, host, mode, ca, message) => {
      const file = { right: authority, other: otherAuthority, '': '' }[ca as 'right'];
      expectRefusal(await check(host, { PGSSLMODE: mode, PGSSLROOTCERT: file }), 2, message);
    });

    it.each(['require', 'verify-ca', 'verify-full'])('is refused by %s if the server has none', async mode => {
      const host = address();
      const plain = await PostgresServer.start({ settings: [`listen_addresses=${host}`] });
      onTestFinished(() => plain.stop());
      const result = await check(host, {
        PGSSLMODE: mode,
        ...(mode === 'require' ? {} : { PGSSLROOTCERT: authority }),
      });
      expectRefusal(result, 2, /not secure: .*server does not support SSL/);
    });

    it('is verified on a network without a setting', async () => {
      // The program takes this form of the address for one of a network.
      expectRefusal(await check(`[::ffff:${named}]`, {}), 2, /not secure/);
    });
  });

  it('is worked with by every command that --store and --secrets lead to it, from an empty home', async () => {
    const secrets = temporaryFolder();
    cpSync(home, secrets, { recursive: true, filter: file => file === home || /(-key|-heads)$/.test(file) });
    await server.query(`CREATE DATABASE flags TEMPLATE ${registry}`);
    const [store, saved] = [server.url('flags'), join(temporaryFolder(), 'saved')];
    for (const command of [
      ['check'],
      ['audit', '--verify'],
      ['backup', saved],
      ['rotate-key', '--journal'],
      ['reset-password', 'admin'],
      ['restore', saved, '--yes'],
      ['check'],
    ]) {
      const args = ['daemon', ...command, '--store', store, '--secrets', secrets];
      const { code, stderr } = await devmgr(args, { home: temporaryFolder(), env });
      expect([command[0], code, stderr]).toEqual([command[0], 0, expect.anything()]);
    }
  });

  it('refuses a start with one line, also after a warning', async () => {
    const weak = { ...env, DEVMGR_ADMIN_PASSWORD: 'password1234' };
    await server.query(`CREATE ROLE warned LOGIN PASSWORD '${serverPassword}'`);
    await server.query('CREATE DATABASE warned TEMPLATE template0');
    await server.query('GRANT ALL ON SCHEMA public TO warned', 'warned');
    const url = server.url('warned', 'warned');
    const fresh = temporaryFolder();
    for (const name of ['daemon run', 'daemon start', 'daemon init'])
      expectRefusal(await commands[name]!({ url, env: weak, home: fresh }), 2, /DEVMGR_ADMIN_PASSWORD/);
  });

  it('reports that pg_trgm is missing, and works without it', async () => {
    await server.query(`CREATE ROLE plain LOGIN PASSWORD '${serverPassword}'`);
    await server.query('CREATE DATABASE plain TEMPLATE template0');
    await server.query('GRANT ALL ON SCHEMA public TO plain', 'plain');
    const fresh = temporaryFolder();
    const created = await devmgr(['daemon', 'init', '--store', server.url('plain', 'plain')], { home: fresh, env });
    expect(created).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^devmgr: pg_trgm is missing \(.*\): searches by keyword look at every device\n$/),
    });
  });
});

withSwift('an object store that cannot be used', () => {
  let swift: Swift;
  /** A home with a registry and a backup of it; each test has its own copy. */
  let prepared: string;
  beforeAll(async () => {
    swift = await startSwift();
    prepared = mkdtempSync(join(tmpdir(), 'devmgr-prepared-'));
    expect(await devmgr(['daemon', 'init'], { home: prepared })).toMatchObject({ code: 0 });
    expect(await devmgr(['daemon', 'backup', join(prepared, 'saved')], { home: prepared })).toMatchObject({ code: 0 });
  });
  afterAll(async () => {
    await swift?.stop();
    rmSync(prepared, { recursive: true, force: true });
  });

  const programs: Readonly<Record<string, (files: string, home: string) => readonly string[]>> = {
    'daemon run': files => ['daemon', 'run', '--port', '0', '--files', files],
    'daemon start': files => ['daemon', 'start', '--port', '0', '--files', files],
    'daemon check': files => ['daemon', 'check', '--files', files],
    'daemon restore': (files, home) => ['daemon', 'restore', join(home, 'saved'), '--yes', '--files', files],
    'daemon copy --files-to': (files, home) => [...copyTo(home), '--files-to', files],
    'daemon copy --files-from': (files, home) => [...copyTo(home), '--files-from', files, '--files-to', 'file:'],
  };
  const copyTo = (home: string) => ['daemon', 'copy', '--from', 'sqlite:', '--to', `sqlite:${join(home, 'copied.db')}`];

  const wrong = [
    ['a bucket that is not there', 2, /absent-bucket( cannot be read)?: .*\(404\)/],
    ['wrong keys', 2, /\(40[13]\)/],
    ['no keys', 2, /its keys are missing/],
    ['a service that does not answer', 9, /cannot be (stored|read)/],
  ] as const;

  it.each([
    ...wrong.map(place => ['daemon run', ...place] as const),
    ...Object.keys(programs)
      .slice(1)
      .flatMap((name, index) => [wrong[index % 2]!, wrong[2 + (index % 2)]!].map(place => [name, ...place] as const)),
  ])('is refused by %s with one line, and changes nothing: %s', async (name, what, code, message) => {
    const home = temporaryFolder();
    cpSync(prepared, home, { recursive: true });
    const { bucket } = await swift.bucket();
    const endpoint = what === 'a service that does not answer' ? 'http://127.0.0.1:1' : swift.endpoint;
    const place = `s3://${what === 'a bucket that is not there' ? 'absent-bucket' : bucket}/p?endpoint=${endpoint}`;
    const keys =
      what === 'no keys' ? {} : { ...swift.env, ...(what === 'wrong keys' ? { AWS_SECRET_ACCESS_KEY: 'wrong' } : {}) };
    const before = filesOf(home);
    expectRefusal(await devmgr(programs[name]!(place, home), { home, env: keys, cwd: home }), code, message);
    expect(filesOf(home)).toEqual(before);
  });
});
