/** A server, or a key behind it, that puts control sequences for a terminal into every text: no command prints them. */
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { devmgr, temporaryFolder } from './program.ts';

const evil = '\u001b]0;owned\u0007\u009b2J\u202egnp\u2066\u200b\n\r\u001b[35;6m\u{e0041}x';
/** Codes of colors are those that the program itself uses. */
const controls = /\u001b(?!\[(?:0|1|2|7|3[1-46])m)|(?!\u001b)[^\P{Cc}\n\t]|[\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/u;

const texts = [
  ...[
    'deviceId',
    'deviceType',
    'serialNumber',
    'manufacturer',
    'model',
    'hardwareVersion',
    'firmwareVersion',
    'status',
  ],
  ...[
    'userId',
    'userName',
    'userEmail',
    'activationCode',
    'note',
    'createdAt',
    'activatedAt',
    'lastUsedAt',
    'lockReason',
  ],
  ...[
    'lockedAt',
    'unlockedAt',
    'deactivatedAt',
    'shippedAt',
    'receivedAt',
    'updatedAt',
    'expiresAt',
    'oldActivationCode',
    'generatedAt',
    'id',
  ],
  ...[
    'username',
    'role',
    'email',
    'expireTime',
    'until',
    'versionId',
    'platform',
    'version',
    'versionName',
    'changelog',
  ],
  ...['minSupportVersion', 'fileName', 'sha256', 'uploadedBy', 'keyId', 'serialSource', 'transport', 'reader'],
  ...['backupId', 'restoredAt', 'vendorId', 'productId', 'attachedAt', 'problem', 'name', 'state', 'detail', 'message'],
  ...['fingerprint', 'label', 'purpose', 'kind', 'subject', 'notAfter', 'importedBy', 'importedAt', 'requiredGrade'],
  ...['proofId', 'challenge', 'registryId', 'ephemeralPublicKey', 'rule', 'reason', 'grade', 'method', 'aaguid'],
  ...['firmware', 'serial', 'root', 'provedAt', 'metadataNumber'],
  ...['webhookId', 'url', 'secret', 'disabledReason', 'disabledAt', 'createdBy', 'nextAttemptAt', 'lastDeliveredAt'],
  ...[
    'waiting',
    'failures',
    'deliveredThrough',
    'eventId',
    'messageId',
    'attempt',
    'at',
    'milliseconds',
    'type',
    'httpStatus',
  ],
  // The first three are numbers, according to the interface.
  ...['totalUsageCount', 'totalUsageDuration', 'backupCount', 'lastBackupAt', 'fileSize'],
  ...['personId', 'providerId', 'credentialId', 'person', 'tenant', 'clientId', 'address', 'issuer', 'base', 'filter'],
  ...['text', 'receiptId', 'lot', 'date', 'terms', 'dueAt', 'signedAt', 'publicKey', 'leftAt', 'heldAt', 'actor'],
  ...['tokenId', 'prefix', 'code', 'requestId', 'userCode', 'sealed', 'removedAt', 'error', 'origin', 'redirectUri'],
  ...[
    'bindDn',
    'lastError',
    'loginAddress',
    'storedAt',
    'openedAt',
    'keyType',
    'lastUsed',
    'timestamp',
    'source',
    'externalId',
    'opened',
    'closed',
    'open',
    'kept',
    'outcome',
    'erasedAt',
    'where',
    'what',
    'until',
    'complete',
  ],
];
const tags = { [evil]: evil, lot: evil, shelf: 7, zone: null };
const thing = { ...Object.fromEntries(texts.map(name => [name, evil])), tags };
const counts = [{ manufacturer: evil, model: evil, count: 1 }];
const certificate = { ...thing, aaguids: [evil, 7] };
const proof = { ...thing, warnings: [evil, 7] };
const everything = {
  ...thing,
  token: 'a.b.c',
  user: thing,
  latest: thing,
  device: thing,
  proof,
  claims: {},
  evidence: null,
  certificates: [certificate],
  metadata: { ...thing, number: evil, nextUpdate: evil, entries: evil },
  warnings: [evil, 7],
  allowedAaguids: [evil],
  leastFirmware: [{ model: evil, version: evil }],
  judged: 1,
  changed: 1,
  next: null,
  statistics: thing,
  drivers: [thing],
  service: 'devmgr',
  updateAvailable: true,
  forceUpdate: true,
  results: [{ ...thing, status: 'success' }],
  list: [
    { ...thing, data: thing, proof, serialNumber: 'A-1', candidates: [thing] },
    { ...thing, data: thing, proof, candidates: [] },
  ],
  ...{ active: true, enabled: true, ok: false, delivered: false, personsRequired: false, pinned: true },
  ...{ total: 2, recipients: [evil], lockedDevices: [evil] },
  ...{
    released: [evil],
    locked: [evil],
    events: [evil],
    remains: [{ where: evil, what: evil, until: evil }],
    groups: [evil],
    attributes: { userName: evil },
    everyMinutes: 5,
  },
  groupsClaim: evil,
  roles: { ADMIN: [evil], DEALER: [evil], VIEWER: [] },
  strong: { acr: [evil], amr: [evil] },
  localAccounts: { from: evil, names: [evil] },
  register: { ...thing, backchannelLogoutUri: evil, grantTypes: [evil], scopes: [evil] },
  registrations: { perDay: [{ ...thing, start: evil, count: 1 }] },
  counts: { read: 2, new: 1, changed: 1, left: 0, back: 0, held: 0, skipped: 0 },
  dryRun: false,
  findings: [{ ...thing, check: evil, ok: false }],
  lastRun: thing,
  byStatus: { ACTIVE: 1 },
  byType: { UKEY: 1 },
  byManufacturer: counts,
  items: [{ ...thing, state: 'open' }, thing],
  head: 5,
  pagination: { page: 1, size: 20, total: 2, totalPages: 1 },
};

/** A plan of `janitor`, whose texts came from a server. */
const planned = { serialNumber: evil, status: evil, userId: evil, activatedAt: evil, lastUsedAt: evil };
const plan = [
  { plan: 'devmgr janitor', version: 1, registry: null, createdAt: evil, action: 'lock', reason: evil, criteria: {} },
  { deviceId: evil, ...planned },
  { deviceId: 'DEV-1', ...planned },
]
  .map(line => `${JSON.stringify(line)}\n`)
  .join('');

/** A spool file, with a key that waits and a conflict. */
const keyOf = (id: string) => ({
  ...{ id, at: evil, userId: evil, name: evil, serialSource: evil, simulated: false, label: false },
  registration: {
    deviceType: 'UKEY',
    serialNumber: `${id}${evil}`,
    manufacturer: evil,
    model: evil,
    tags: { lot: evil },
  },
});
const spool = (server: string) =>
  [
    { spool: 'devmgr enroll', version: 1, registry: null, servers: [server, evil], createdAt: evil },
    { key: keyOf('one') },
    { key: keyOf('two') },
    { done: 'two', at: '2026-11-22T10:00:00.000Z', result: 'conflict', deviceId: evil, message: evil },
  ]
    .map(line => `${JSON.stringify(line)}\n`)
    .join('');

let server: Server;
let url: string;
/** Since the command was started. */
let requests = 0;
/** Data of one test beside `everything`. */
let more: object = {};
let refusal: { status: number; code: number } | null = null;
beforeAll(async () => {
  server = createServer((request, response) => {
    requests++;
    request.resume().on('end', () => {
      response.writeHead(refusal?.status ?? 200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({ code: refusal?.code ?? 200, message: evil, data: refusal ? null : dataOf(request.url) }),
      );
    });
  });
  server.on('connection', socket => socket.on('error', () => undefined));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

/** Credentials are a list without pages. */
const dataOf = (path = ''): unknown => (path.endsWith('/credentials') ? [thing] : { ...everything, ...more });

/** The output of a command, on both streams. */
async function printed(line: string, home = temporaryFolder()): Promise<string> {
  const login = { token: 'a.b.c', expireTime: '2099-01-01T00:00:00.000Z', username: evil, keeper: 'file' };
  writeFileSync(join(home, 'credentials.json'), JSON.stringify({ default: { [url]: login } }));
  writeFileSync(join(home, 'password'), 'a long password\nanother password\n');
  writeFileSync(join(home, 'app.apk'), 'package');
  writeFileSync(join(home, 'one.txt'), 'DEV-1\n');
  writeFileSync(join(home, 'root.pem'), 'certificates');
  writeFileSync(join(home, 'secret'), `whsec_${Buffer.alloc(32).toString('base64')}\n`);
  writeFileSync(join(home, 'registry.yaml'), 'devmgr: 1\npolicies: {people: {leaverDelayHours: 7}}\n');
  writeFileSync(join(home, 'lock.plan'), plan);
  writeFileSync(join(home, 'keys.spool'), spool(url));
  writeFileSync(join(home, 'people.csv'), `userId,name\nann,${JSON.stringify(evil)}\n`);
  writeFileSync(join(home, 'settings.yaml'), 'devmgr: 1\nwebhooks:\n  - url: https://x.test/\n');
  writeFileSync(join(home, 'keys.csv'), 'type,serial,manufacturer,model\nUKEY,A-1,b,c\n');
  const args = line.split(' ').map(word => word.replace('~', home));
  requests = 0;
  const { code, stdout, stderr } = await devmgr([...args, '--server', url], {
    home,
    env: { DEVMGR_TOKEN: 'a.b.c', CLICOLOR_FORCE: '1' },
  });
  expect(stdout + stderr).not.toBe('');
  // A line that no command accepts sends nothing, and would show nothing.
  expect(code !== 2 || requests > 0, stderr).toBe(true);
  return stdout + stderr;
}

test.each([
  'list',
  'list --csv',
  'list --all --csv',
  'list --fields tags',
  'list --fields tags --csv',
  'list --json',
  'list --quiet',
  'list --output yaml',
  'list --output wide',
  'list --fields deviceId,status,createdAt',
  'list --jq .list[].serialNumber',
  'list --jq .list[0]',
  'list --verbose',
  'show DEV-1',
  'show DEV-1 --json',
  'show DEV-1 --output yaml',
  'show DEV-1 --jq .',
  'stats',
  'search x',
  'search x --json',
  'search x -o yaml',
  'search x --quiet',
  'ship DEV-1',
  'ssh-keys ada',
  'ssh-keys ada --json',
  'record-use DEV-1 --seconds 1',
  'record-use DEV-1 --seconds 1 --json',
  'device-backups list DEV-1',
  'device-backups list DEV-1 --csv',
  'device-backups list DEV-1 --json',
  'device-backups list DEV-1 --quiet',
  'device-backups add DEV-1 ~/app.apk',
  'device-backups download DEV-1 --out ~/backup',
  'device-backups download DEV-1 BKP-1 --out ~/backup',
  'device-backups restore DEV-1 BKP-1 --yes',
  'events',
  'events --json',
  'export',
  'export --format csv',
  'whoami',
  'open --no-browser',
  'open --no-browser --json',
  'users list',
  'users list --csv',
  'users list --output yaml',
  'tokens list --output ndjson',
  'users add bob --role VIEWER --password-file ~/password',
  'users logout USR-1',
  'users list --all',
  'users remove USR-1 --yes',
  'cleanup plan --action lock --keyword x --reason r --out ~/new.plan',
  'cleanup apply ~/lock.plan --yes',
  'cleanup apply ~/lock.plan --dry-run',
  'stocktake ~/one.txt --seen-tag seen',
  'login bob --password-file ~/password',
  'login --web',
  'register --type UKEY --serial X --manufacturer a --model b',
  'register --file ~/keys.csv',
  'register --file ~/keys.csv --dry-run',
  'register --file ~/keys.csv --skip-existing',
  'activate DEV-1 --code AAAA --user x',
  'update DEV-1 --tag lot=7',
  'lock DEV-1 --reason x',
  'replace-code DEV-1 --reason x',
  'lock --file ~/one.txt --reason x --yes',
  'replace-code --file ~/one.txt --reason x --yes',
  'replace-code --file ~/one.txt --reason x --yes --json',
  'replace-code --file ~/one.txt --reason x --yes --quiet',
  'replace-code --file ~/one.txt --reason x --yes --out ~/codes.csv --verbose',
  'unlock DEV-1 DEV-2',
  'unlock --filter status=LOCKED --yes',
  'update DEV-1 --note x',
  'label DEV-1 --dry-run',
  'label DEV-1 --dry-run --json',
  'label --filter status=ACTIVE --dry-run',
  'label DEV-1 --printer 127.0.0.1:1',
  'label DEV-1 --html ~/labels.html',
  'report --status ACTIVE',
  'report --status ACTIVE --json',
  'report --status ACTIVE --format csv',
  'report --status ACTIVE --format html',
  'apps add ~/app.apk --platform ANDROID --version 1.0',
  'apps list',
  'apps latest --platform ANDROID',
  'verify A-1',
  'verify A-1 --json',
  'verify A-1 DEV-1',
  'keys verify --all',
  'webhooks add https://x.test/',
  'webhooks add https://x.test/ --json',
  'webhooks add https://x.test/ --secret-file ~/secret',
  'webhooks list',
  'webhooks list --csv',
  'webhooks list --json',
  'webhooks list --quiet',
  'webhooks test WHK-1',
  'webhooks test WHK-1 --json',
  'webhooks disable WHK-1',
  'webhooks enable WHK-1',
  'webhooks remove WHK-1',
  'webhooks deliveries WHK-1',
  'webhooks deliveries WHK-1 --csv',
  'trust add ~/root.pem',
  'trust add ~/root.pem --json',
  'trust list',
  'trust list --csv',
  'trust list --json',
  'trust remove metadata',
  'policies show',
  'policies show --json',
  'settings export',
  'settings export --json',
  'settings apply ~/registry.yaml --dry-run',
  'settings apply ~/registry.yaml --yes',
  'policies update --require-proof unit',
  'enroll --count 1 --prove',
  'enroll --count 1 --require-proof unit --timeout 1',
  'enroll --count 1 --timeout 1 --spool ~/keys.spool',
  'enroll spool flush ~/keys.spool',
  'enroll spool flush ~/keys.spool --json',
  'enroll spool list ~/keys.spool',
  'enroll spool list ~/keys.spool --json',
  'enroll spool list ~/keys.spool --quiet',
  'enroll --roster ~/people.csv --timeout 1',
  'enroll --roster ~/people.csv --timeout 1 --json --verbose',
  'keys',
  'keys --json',
  'keys --csv',
  'doctor',
  'history DEV-1',
  'history DEV-1 --json',
  'users passkeys USR-1',
  'users remove-passkey USR-1 KEY-1 --yes',
  'users require-passkey USR-1',
  'users allow-registration USR-1',
  'users update USR-1 --disable',
  'people list',
  'people list --csv',
  'people show PER-1',
  'people add x --name y',
  'people devices PER-1',
  'people leave PER-1 --reason x --yes',
  'people back PER-1',
  'people leave held',
  'people refused',
  'people log',
  'people cases',
  'people case PER-1',
  'people case keep PER-1 device DEV-1 --reason x',
  'people case close PER-1',
  'people report PER-1',
  'people erase PER-1 --yes --password-file ~/password',
  'people report PER-1 --out ~/report.json',
  'people match',
  'people import ~/people.csv --dry-run',
  'people import ~/people.csv --json',
  'people leave release PER-1 --yes',
  'tokens list',
  'tokens list --csv',
  'tokens add x --role VIEWER',
  'tokens adopt x',
  'tokens remove x',
  'providers show oidc',
  'providers test oidc',
  'providers remove oidc --yes',
  'providers show ldap',
  'providers test ldap',
  'providers sync',
  'providers remove ldap --yes',
  'providers list',
  'providers list --csv',
  'providers show IDP-1',
  'providers test IDP-1',
  'providers reconcile IDP-1 --dry-run',
  'providers reconcile IDP-1 --yes',
  'providers remove IDP-1 --yes',
  'receipts list',
  'receipts list --csv',
  'receipts print RCT-AAAAAAAAAAAAAAAAAAAA',
  'receipts verify RCT-AAAAAAAAAAAAAAAAAAAA',
  'keys letter DEV-1 --identity-file ~/secret',
  'keys issue --for x --pin none',
  'receipts add --kind handover',
  'deactivate DEV-1 --reason x --yes --password-file ~/password',
  'report --status ACTIVE --names',
  'apps download APP-1 --out ~/dl',
  'export --names --csv',
  'api /api/devices/DEV-1',
  'api /api/devices/list --paginate',
  'api /api/devices/export',
])('%s', async line => {
  refusal = null;
  const text = await printed(line);
  expect(text).not.toMatch(controls);
  // A command that prints none of the texts shows nothing.
  expect(text).not.toMatch(/does not follow this interface|unexpected error/);
});

test('settings apply: an id of the server names no file outside of the folder for secrets', async () => {
  refusal = null;
  const home = temporaryFolder();
  more = { webhookId: `../outside${evil}` };
  expect(await printed('settings apply ~/settings.yaml --secrets-to ~/made --yes', home)).not.toMatch(controls);
  expect(readdirSync(home).filter(name => name.startsWith('outside'))).toEqual([]);
  expect(readdirSync(join(home, 'made'))).toEqual([expect.stringMatching(/^[\w.-]+-https-x\.test-$/)]);
  more = {};
});

test.each([
  { status: 500, code: 500 },
  { status: 404, code: 404 },
  { status: 400, code: 1001 },
  { status: 401, code: 1004 },
])('the message of a refusal: %j', async how => {
  refusal = how;
  for (const line of [
    'list',
    'list --json',
    'watch',
    'register --file ~/keys.csv',
    'apps download APP-1',
    'device-backups add DEV-1 ~/app.apk',
  ])
    expect(await printed(line)).not.toMatch(controls);
});
