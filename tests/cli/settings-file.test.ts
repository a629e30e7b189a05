/** The settings of a registry as a file: exported, applied to another registry, changed at random. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { exportedSettings } from '../../src/cli/commands/settings/export.ts';
import { planOf, type RegistrySettings } from '../../src/cli/commands/settings/plan.ts';
import { readSettings } from '../../src/cli/commands/settings/read.ts';
import { endpoints } from '../../src/contract/endpoints.ts';
import { isListed, settingsRows } from '../../src/contract/settings-file.ts';
import { mulberry } from '../support/mulberry.ts';
import { type Daemon, discard, startDaemon, temporaryFolder } from './program.ts';

const env = { DEVMGR_WEBHOOK_ALLOW: 'hooks.test,127.0.0.0/8,localhost' };
const secrets = {
  SECRET_ENTRA: 'hidden-entra-secret',
  SECRET_SERVER: 'hidden-server-secret',
  SECRET_SINGLE_SIGN_ON: 'hidden-sso-secret',
  SECRET_DIRECTORY: 'hidden-directory-secret',
};
const recipient = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';

let full: Daemon;
let exported: string;
beforeAll(async () => {
  full = await startDaemon({ env });
  await fill(full);
  exported = (await full.run(['settings', 'export'])).stdout;
});
afterAll(() => discard(full));

async function fill({ call }: Daemon): Promise<void> {
  const password = 'hidden-password-1';
  await call('POST', '/api/users', { username: 'ops', password, role: 'ADMIN', email: 'ops@example.com' });
  const off = await call('POST', '/api/users', { username: 'dealer.south', password, role: 'DEALER' });
  await call('PUT', `/api/users/${off.id}`, { disabled: true });
  const gone = await call('POST', '/api/users', { username: 'gone', password, role: 'VIEWER' });
  await call('PUT', `/api/users/${gone.id}`, { disabled: true, email: 'removed@devmgr.invalid' });
  await call('POST', '/api/tokens', {
    name: 'line-3',
    role: 'DEALER',
    expiresInDays: 90,
    allowedFrom: ['10.20.0.0/16'],
  });
  await call('POST', '/api/tokens', { name: 'door', role: 'VIEWER', expiresInDays: 7, may: ['decide'] });
  await call('POST', '/api/providers', {
    name: 'entra',
    type: 'entra',
    tenant: 'a.example',
    clientId: '5f1c',
    secret: 'x1',
  });
  await call('POST', '/api/providers', {
    ...{ name: 'server', type: 'webauthn', secret: 'x2', address: 'https://localhost/a' },
    ...{ finishAddress: 'https://localhost/b', removeAddress: 'https://localhost/c' },
  });
  const hook = await call('POST', '/api/webhooks', { url: 'http://127.0.0.1:9/a', types: ['DEVICE_LOCKED'] });
  await call('POST', `/api/webhooks/${hook.webhookId}/disable`);
  await call('POST', '/api/webhooks', { url: 'http://localhost:9/b' });
  await call('PUT', '/api/directory', {
    ...{ name: 'süd: "1"', url: 'ldaps://127.0.0.1:9', base: 'dc=example', bindDn: 'cn=devmgr', bindPassword: 'x3' },
    groups: [{ name: 'staff', dn: 'cn=staff,dc=example' }],
  });
  await call('PUT', '/api/sso', {
    ...{ issuer: 'https://login.example.com/realms/company', clientId: 'devmgr', clientSecret: 'x4', holders: true },
    ...{ name: 'Example', roles: { ADMIN: ['a'], DEALER: ['d'], VIEWER: [] } },
  });
  await call('PUT', '/api/policies/people', { personsRequired: true, leavers: 'retire', leaverDelayHours: 24 });
  await call('PUT', '/api/policies/pin', { recipients: [recipient] });
  await call('PUT', '/api/policies/proof', {
    ...{ requiredGrade: 'model', allowedAaguids: [], identity: 'never' },
    leastFirmware: [{ version: '5.0.0' }, { model: 'YubiKey', version: '5.7.0' }],
  });
  await call('PUT', '/api/policies/sign-in', { requireKey: ['VIEWER'] });
}

/** A file with this text. */
function written(text: string): string {
  const file = join(temporaryFolder(), 'registry.yaml');
  writeFileSync(file, text);
  return file;
}
const apply = (daemon: Daemon, text: string, ...flags: string[]) =>
  daemon.run(['settings', 'apply', written(text), ...flags], { env: secrets });
const exportOf = async (daemon: Daemon) => (await daemon.run(['settings', 'export'])).stdout;

test('an export has every part, comments, and neither passwords nor secrets', () => {
  const value = parse(exported);
  expect(Object.keys(value)).toEqual([
    'devmgr',
    'accounts',
    'tokens',
    'providers',
    'webhooks',
    'directory',
    'singleSignOn',
    'policies',
  ]);
  expect(value.accounts).toEqual([
    { username: 'admin', role: 'ADMIN', disabled: false },
    { username: 'dealer.south', role: 'DEALER', disabled: true },
    { username: 'ops', role: 'ADMIN', email: 'ops@example.com', disabled: false },
  ]);
  expect(value.tokens).toContainEqual({
    name: 'line-3',
    role: 'DEALER',
    expiresInDays: 90,
    allowedFrom: ['10.20.0.0/16'],
    may: [],
  });
  expect(value.providers[1]).toMatchObject({ finishAddress: 'https://localhost/b', secret: 'env:SECRET_SERVER' });
  expect(value.webhooks).toEqual([
    { url: 'http://127.0.0.1:9/a', types: ['DEVICE_LOCKED'], enabled: false },
    { url: 'http://localhost:9/b', enabled: true },
  ]);
  expect(value.policies).toMatchObject({ people: { leaverDelayHours: 24 }, signIn: { requireKey: ['VIEWER'] } });
  expect(exported).toMatch(/# Accounts, without passwords/);
  expect(exported).toMatch(/leaverDelayHours: 24 +# hours between/);
  expect(exported).not.toMatch(/hidden|whsec_|devmgr_|\bx[1-4]\b/);
});

test('an account that single sign-on made is not exported, and a file that names it is refused', async () => {
  const registry = await settingsOf(full);
  const accounts = registry.accounts as readonly Readonly<Record<string, unknown>>[];
  const withSso = { ...registry, accounts: [...accounts, { id: 'USR-9', username: 'ana', role: 'VIEWER', sso: true }] };
  expect(exportedSettings(withSso).value).toEqual(parse(exported));
  const options = { prune: true, ownName: 'admin' };
  const planFor = (text: string) => {
    const found = readSettings(text);
    return 'file' in found ? planOf(found.file, withSso, options) : null;
  };
  expect(planFor(exported)).toEqual({ steps: [], problems: [] });
  expect(planFor('devmgr: 1\naccounts:\n  - {username: ana, role: VIEWER}\n')?.problems).toEqual([
    { line: 3, message: expect.stringContaining('accounts[0].username is an account of single sign-on') },
  ]);
});

test('an export in JSON has the same settings', async () => {
  const { stdout } = await full.run(['settings', 'export', '--json']);
  expect(JSON.parse(stdout)).toEqual(parse(exported));
});

test('the schema accepts the export and refuses other fields', async () => {
  const { stdout } = await full.run(['settings', 'export', '--schema']);
  const validate = new Ajv2020({ strict: false }).compile(JSON.parse(stdout));
  expect([validate(parse(exported)), validate.errors]).toEqual([true, null]);
  expect(validate({ ...parse(exported), other: 1 })).toBe(false);
  expect(validate({ devmgr: 1, singleSignOn: { clientSecret: 'plain' } })).toBe(false);
  const page = JSON.parse(readFileSync(join(import.meta.dirname, '../../docs/reference/settings.schema.json'), 'utf8'));
  expect(page).toEqual(JSON.parse(stdout));
});

test('the export applied to its own registry changes nothing', async () => {
  const { code, stdout } = await apply(full, exported, '--yes', '--prune');
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('Nothing to change') });
});

describe('on another registry', () => {
  let other: Daemon;
  beforeAll(async () => {
    other = await startDaemon({ env });
  });
  afterAll(() => discard(other));

  test('--dry-run shows what would be done, and nothing is changed', async () => {
    const before = await exportOf(other);
    const { code, stdout, stderr } = await apply(other, exported, '--dry-run');
    expect(code).toBe(0);
    expect(stdout).toContain('+ account ops\n    role: ADMIN\n');
    expect(stdout).toContain('~ policy for persons\n');
    expect(stdout).toContain('    leaverDelayHours: 0 → 24\n');
    expect(stdout).toContain('    clientSecret: env:SECRET_SINGLE_SIGN_ON\n');
    expect(stdout + stderr).not.toContain('hidden');
    expect(stderr).toContain('name a folder for them with --secrets-to');
    expect(await exportOf(other)).toBe(before);
  });

  test.each([
    [
      'a variable that is not set',
      ['--yes', '--secrets-to', 'x'],
      {},
      'line \\d+: the variable SECRET_ENTRA of provider entra',
    ],
    ['no folder for new secrets', ['--yes'], secrets, 'name a folder for new secrets'],
    ['no confirmation', [], secrets, 'must be confirmed'],
  ])('%s is refused before anything is changed', async (_, flags, env, words) => {
    const before = await exportOf(other);
    const { code, stderr } = await other.run(['settings', 'apply', written(exported), ...flags], { env });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(words) });
    expect(await exportOf(other)).toBe(before);
  });

  test('apply makes it equal; its export is the same text, and a second run changes nothing', async () => {
    const folder = join(temporaryFolder(), 'made');
    const { code, stdout, stderr } = await apply(other, exported, '--yes', '--secrets-to', folder);
    expect({ code, stdout, stderr }).toMatchObject({ code: 0, stdout: expect.stringContaining('is as') });
    expect(stdout + stderr).not.toMatch(/hidden|whsec_|devmgr_/);
    expect(await exportOf(other)).toBe(exported);
    expect(await apply(other, exported, '--yes')).toMatchObject({
      stdout: expect.stringContaining('Nothing to change'),
    });
    const files = readdirSync(folder).sort();
    expect(files).toEqual(['TOK-1-door', 'TOK-2-line-3', 'WHK-1-http-127.0.0.1-9-a', 'WHK-2-http-localhost-9-b']);
    expect(statSync(join(folder, files[0]!)).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder, 'TOK-1-door'), 'utf8')).toMatch(/^devmgr_\w+\n$/);
  });

  test('what the file does not name stays; with --prune it is removed, but not the account that applies it', async () => {
    const text = 'devmgr: 1\naccounts: []\nwebhooks: []\npolicies: {people: {leaverDelayHours: 7}}\n';
    expect((await apply(other, text, '--yes')).code).toBe(0);
    const changed = await exportOf(other);
    expect(changed).toBe(exported.replace('leaverDelayHours: 24', 'leaverDelayHours: 7'));
    const pruned = await apply(other, text, '--yes', '--prune', '--json');
    expect(pruned.json.changes.map(({ action, name }: Record<string, string>) => `${action} ${name}`).sort()).toEqual([
      'remove dealer.south',
      'remove http://127.0.0.1:9/a',
      'remove http://localhost:9/b',
      'remove ops',
    ]);
    const rest = parse(await exportOf(other));
    expect(rest).toMatchObject({ accounts: [{ username: 'admin' }], webhooks: [], tokens: [{}, {}] });
    expect((await apply(other, text, '--yes', '--prune')).stdout).toContain('Nothing to change');
    const folder = temporaryFolder();
    expect((await apply(other, exported, '--yes', '--secrets-to', folder)).code).toBe(0);
    expect(parse(await exportOf(other))).toEqual(parse(exported));
  });

  test('a refusal in the middle shows what is done and what is not, and a second run continues', async () => {
    const text = `devmgr: 1
accounts: [{username: first, role: VIEWER}, {username: second, role: VIEWER}]
webhooks: [{url: "http://10.9.8.7/refused", secret: "env:HOOK"}]
policies: {people: {leaverDelayHours: 5}}
`;
    const run = (text: string) =>
      other.run(['settings', 'apply', written(text), '--yes'], { env: { HOOK: `whsec_${btoa('hidden'.repeat(5))}` } });
    const { code, stderr, stdout } = await run(text);
    expect(code).toBe(7);
    expect(stderr).toMatch(
      /\+ account first: done\n\+ account second: done\n\+ webhook http:.*: not done\n~ policy for persons: not done\n/,
    );
    expect(stderr).toContain('2 of 4 changes are done');
    expect(stdout + stderr).not.toContain(btoa('hidden'.repeat(5)));
    const second = await run(text.replace('10.9.8.7', '127.0.0.1:9'));
    expect(second).toMatchObject({ code: 0, stderr: expect.not.stringContaining('account') });
    expect(parse(await exportOf(other)).policies.people.leaverDelayHours).toBe(5);
  });
});

describe('a wrong file is refused with its lines, and nothing is changed', () => {
  test.each([
    ['devmgr: 1\naccount: []\n', ['line 2: unknown field "account"']],
    ['devmgr: 1\n__proto__: []\n', ['line 2: unknown field "__proto__"\n']],
    ['devmgr: 1\nlimits: {query: 9}\n', ['line 2: unknown field "limits": limits are variables', 'DEVMGR_LIMIT_QUERY']],
    [
      'devmgr: 1\nretention: {}\n',
      ['line 2: unknown field "retention"', 'retentionDays and copiesDays of policies.people'],
    ],
    ['devmgr: 2\n', ['line 1: devmgr must be a whole number from 1 to 1']],
    ['accounts: []\n', ['line 1: devmgr is required']],
    ['', ['line 1: ']],
    ['devmgr: 1\naccounts:\n  - username: a\n', ['line 3: accounts[0].role is required']],
    ['devmgr: 1\naccounts:\n  - username: a\n    role: BOSS\n', ['line 4: accounts[0].role must be one of']],
    ['devmgr: 1\naccounts:\n  - username: a\n    role: VIEWER\n    pasword: x\n', ['line 5: unknown field "pasword"']],
    [
      'devmgr: 1\naccounts:\n  - {username: a, role: VIEWER}\n  - {username: a, role: DEALER}\n',
      ['line 4: accounts[1].username is the same as an earlier one'],
    ],
    [
      'devmgr: 1\npolicies:\n  people:\n    leaverDelayHours: -1\n  pin:\n    recipients: 7\n',
      ['line 4: policies.people.leaverDelayHours must be', 'line 6: policies.pin.recipients must be an array'],
    ],
    ['devmgr: 1\ndevmgr: 1\n', ['line 2: this name occurs twice']],
    ['devmgr: 1\na: &x []\nb: *x\n', ['line 2: unknown field', 'line 3: unknown field']],
    ['devmgr: 1\naccounts: [\n', ['not valid YAML']],
    ['devmgr: 1\n---\ndevmgr: 1\n', ['more than one document']],
    [`devmgr: 1\naccounts: ${'['.repeat(50_000)}\n`, ['line']],
    [
      'devmgr: 1\nsingleSignOn:\n  clientSecret: hidden-in-the-file\n',
      ['line 3: singleSignOn.clientSecret must be a reference'],
    ],
    [
      'devmgr: 1\ntokens:\n  - {name: line-3, role: ADMIN, expiresInDays: 90}\n',
      ['line 3: tokens[0].role cannot be changed'],
    ],
    [
      'devmgr: 1\naccounts:\n  - {username: admin, role: VIEWER}\n',
      ['line 3: accounts[0] is the account that applies'],
    ],
  ])('%j', async (text, words) => {
    const { code, stdout, stderr } = await apply(full, text, '--yes', '--prune');
    expect(code).toBe(2);
    for (const word of words) expect(stderr).toContain(word);
    expect(stdout + stderr).not.toContain('hidden');
    expect(await exportOf(full)).toBe(exported);
  });
});

test('a name that occurs twice is found in every map, and a map with very many names is read to its end', () => {
  const twice = (text: string) => {
    const found = readSettings(text);
    return 'problems' in found ? found.problems.filter(({ message }) => message === 'this name occurs twice') : [];
  };
  expect(twice('devmgr: 1\naccounts:\n  - username: a\n    role: VIEWER\n    role: ADMIN\n')).toMatchObject([
    { line: 5 },
  ]);
  expect(twice('devmgr: 1\npolicies:\n  people: {leaverDelayHours: 1, "leaverDelayHours": 2}\n')).toMatchObject([
    { line: 3 },
  ]);
  expect(twice('devmgr: 1\nx: 1\ny: 1\nx: 2\n')).toMatchObject([{ line: 4 }]);
  const names = Array.from({ length: 100_000 }, (_, i) => `n${i}: 1\n`);
  expect(twice(names.join(''))).toEqual([]);
  expect(twice([...names, 'n7: 1\n'].join(''))).toMatchObject([{ line: 100_001 }]);
});

/** A text with one random edit. */
function edited(text: string, random: () => number): string {
  const lines = text.split('\n');
  const at = Math.floor(random() * lines.length);
  const any = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)]!;
  const line = lines[at]!;
  const other: Readonly<Record<string, string>> = { true: 'false', false: 'true', ADMIN: 'VIEWER', DEALER: 'VIEWER' };
  const valid = () => [
    line.replace(
      /: (true|false|ADMIN|DEALER|\d+|[\w.]+@[\w.]+)(?= |$)/,
      (_, word) => `: ${other[word] ?? word.replace(/\d/, '3')}`,
    ),
  ];
  const changed = [
    ...[valid, valid, valid],
    () => [],
    () => [line, line],
    () => [line, any(lines)],
    () => [
      line.replace(
        /: .*/,
        `: ${any([
          'null',
          '-1',
          '[]',
          '{}',
          '"x"',
          'true',
          '1e99',
          '&a x',
          '*a',
          '!!binary aa',
          '2026-01-01',
          'hidden-value',
          'VIEWER',
          '5',
        ])}`,
      ),
    ],
    () => [line.replace(/^ /, any(['', '  ', '\t']))],
    () => [
      `${line.slice(0, random() * line.length)}${any(['\u0000', '\u202e', '"', '{', '- ', ': ', '# ', 'é', '%'])}${line.slice(random() * line.length)}`,
    ],
  ];
  lines.splice(at, 1, ...any(changed)());
  return lines.join('\n');
}

/** What a registry has, by the places of the file. */
async function settingsOf({ call }: Daemon): Promise<RegistrySettings> {
  const found = settingsRows.map(async row => {
    const { path } = endpoints[isListed(row) ? row.list : row.show];
    const data = await call('GET', path);
    return [row.place, isListed(row) ? data.list : data];
  });
  return Object.fromEntries(await Promise.all(found));
}

test('1,000 random edits: all problems with their lines and without values, or a plan that names what the file names', async () => {
  const registry = await settingsOf(full);
  const random = mulberry(4901);
  const counts = { problems: 0, plans: 0, steps: 0 };
  for (let n = 0; n < 1000; n++) {
    const edits = 1 + Math.floor(random() * 3);
    const text = Array.from({ length: edits }).reduce<string>(text => edited(text, random), exported);
    const lines = text.split('\n').length;
    const found = readSettings(text);
    const plan = 'file' in found ? planOf(found.file, registry, { prune: n % 2 === 0, ownName: 'admin' }) : null;
    const problems = 'problems' in found ? found.problems : plan!.problems;
    for (const { line, message } of problems) {
      expect(line >= 1 && line <= lines, `${line} ${text}`).toBe(true);
      expect(message, text).not.toContain('hidden');
    }
    if ('file' in found)
      for (const step of plan!.steps) {
        expect(found.file.settings[step.row.place], text).toBeDefined();
        expect(JSON.stringify(step.wanted), text).not.toMatch(/env:|file:/);
        if (step.action === 'remove') expect([n % 2, step.name === 'admin'], text).toEqual([0, false]);
      }
    counts[problems.length > 0 ? 'problems' : 'plans']++;
    counts.steps += plan?.steps.length ?? 0;
  }
  expect(Math.min(counts.problems, counts.plans, counts.steps)).toBeGreaterThan(60);
});

test('20 random edits: an error and no change, or all of the file and a second run without changes', async () => {
  const daemon = await startDaemon({ env });
  try {
    const folder = temporaryFolder();
    expect((await apply(daemon, exported, '--yes', '--secrets-to', folder)).code).toBe(0);
    const random = mulberry(49);
    let now = await exportOf(daemon);
    const codes = new Map<number | null, number>();
    for (let n = 0; n < 20; n++) {
      const text = edited(edited(now, random), random);
      const { code, stdout, stderr } = await apply(daemon, text, '--yes', '--prune', '--secrets-to', folder);
      codes.set(code, (codes.get(code) ?? 0) + 1);
      expect(stdout + stderr).not.toMatch(/hidden-\w+-secret|whsec_|devmgr_\w{20}/);
      const after = await exportOf(daemon);
      if (code === 2 && !stderr.includes('not done')) expect(after, text).toBe(now);
      if (code === 0)
        expect((await apply(daemon, text, '--yes', '--prune')).stdout, text).toContain('Nothing to change');
      now = after;
    }
    expect([...codes.keys()].every(code => [0, 1, 2, 7].includes(code ?? -1))).toBe(true);
    expect(Math.min(codes.get(0) ?? 0, codes.get(2) ?? 0)).toBeGreaterThan(0);
  } finally {
    await discard(daemon);
  }
});
