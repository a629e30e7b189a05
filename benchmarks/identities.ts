/**
 * How long it takes to list the credentials that an attached key may have, with all devices of one model: `node benchmarks/identities.ts
 * [DEVICES]`. Both engines; the times are of the store, as a daemon asks it. The last column is the time of all three portions. Then keys
 * are plugged in at a station with a daemon on SQLite: the time from their being listed until they are recognized.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { AttachedKeys } from '../daemon/hardware/attached-keys.ts';
import { Home } from '../daemon/home/home.ts';
import { identityEntry, type NewIdentity } from '../daemon/identity/records.ts';
import { subjects } from '../daemon/start/subjects.ts';
import type { Change } from '../daemon/store/commit.ts';
import { openPostgresStore } from '../daemon/store/postgres/postgres-store.ts';
import { openSqliteStore } from '../daemon/store/sqlite/index.ts';
import type { Store } from '../daemon/store/store.ts';
import { createHidDriver } from '../drivers/hid/index.ts';
import { undescribed } from '../src/contract/device-description.ts';
import { endpoints } from '../src/contract/endpoints.ts';
import type { Key } from '../src/contract/hardware.ts';
import { identityBounds } from '../src/contract/limits.ts';
import { poll } from '../src/delivery/wait.ts';
import { Recognition } from '../src/enrollment/recognition.ts';
import type { Send } from '../src/enrollment/send.ts';
import { startTestDaemon } from '../tests/support/daemon.ts';
import { FakeHid } from '../tests/support/fake-hid.ts';
import { FidoKey } from '../tests/support/fido-key.ts';
import { PostgresServer } from '../tests/support/postgres-server.ts';
import { authenticatorRoot, TestAuthenticator } from '../tests/support/test-authenticator.ts';
import { BEGUN } from './fill.ts';
import { settings } from './postgres.ts';
import { median } from './report.ts';

const devices = Number(process.argv[2] ?? 100_000);
const BATCH = 5000;
const TIMES = 30;
const relyingParty = `${'0'.repeat(32)}.devmgr.invalid`;
const aaguid = '2fc0579f-8113-47ea-b116-bb5a8db9202a';

/** One in four has another firmware; two hundred are at the station of the question. */
function changesFor(n: number, of: Partial<NewIdentity> = {}): Change[] {
  const device = {
    ...undescribed,
    deviceType: 'UKEY',
    serialNumber: `P-${n}`,
    manufacturer: 'Maker',
    model: 'Model',
    activationCode: 'BBBB-CCCC-DDDD-EEEE',
    activationCodeExpiresAt: BEGUN,
    tags: {},
    proof: null,
  } as const;
  const identity = {
    credentialId: Buffer.from(`credential ${n}`.padEnd(64, '.')).toString('base64url'),
    publicKey: 'A'.repeat(103),
    algorithm: -7,
    relyingParty,
    aaguid,
    firmware: n % 4 === 0 ? '5.1.2' : '5.4.3',
    transports: ['usb'],
    numberSource: 'printed',
    counter: 0,
    station: n % (devices / 200) === 0 ? 'line-1' : `line-${2 + (n % 50)}`,
    ...of,
  } as const;
  const { serialNumber } = device;
  return [
    { kind: 'device.add', device, entry: { type: 'DEVICE_REGISTERED', data: { deviceType: 'UKEY', serialNumber } } },
    { kind: 'identity.add', identity, device: { serialNumber }, entry: identityEntry('bound', 'UKEY') },
  ];
}

async function add(store: Store, first: number, last: number, of?: Partial<NewIdentity>): Promise<void> {
  for (let from = first; from <= last; from += BATCH) {
    const changes = Array.from({ length: Math.min(BATCH, last - from + 1) }, (_, i) => changesFor(from + i, of)).flat();
    await store.commit({ at: BEGUN + from, actor: 'admin', requestId: 'bench', changes });
  }
}

async function measure(name: string, store: Store): Promise<void> {
  await add(store, 1, devices);
  const query = { relyingParty, aaguid, firmware: '5.4.3', station: 'line-1' };
  const asked = async (portion: number) => {
    const began = performance.now();
    const { length } = await store.identityCandidates({ ...query, portion });
    if (length !== identityBounds.portions[portion - 1])
      throw new Error(`portion ${portion} has ${length} credentials`);
    return performance.now() - began;
  };
  const times: number[][] = [];
  for (let i = -3; i < TIMES; i++) {
    const portions = [await asked(1), await asked(2), await asked(3)];
    if (i >= 0) times.push([...portions, portions.reduce((sum, one) => sum + one, 0)]);
  }
  const row = [0, 1, 2, 3].map(column => median(times.map(one => one[column]!)).toFixed(1));
  process.stdout.write(`${name}, ${devices} devices: ${row.join(' ms, ')} ms\n`);
}

const folder = await mkdtemp(join(tmpdir(), 'devmgr-identities-'));
const sqlite = await openSqliteStore({ subjects, file: join(folder, 'devmgr.db'), journalKey: new Uint8Array(32) });
await measure('SQLite', sqlite);
await sqlite.close();
await rm(folder, { recursive: true });
const server = await PostgresServer.start({ settings });
const url = server.url(await server.database());
const postgres = await openPostgresStore({ subjects, url, env: {}, journalKey: new Uint8Array(32) });
await measure('PostgreSQL', postgres);
await postgres.close();
await server.stop();

/** Keys of each place in the order of candidates, and how many others come before the key in all. */
const PLUGGED = 10;
const places = [
  ['at another station, 4,000 keys ago', 4000],
  ['at another station, 1,000 keys ago', 1000],
  ['at this station', 0],
] as const;

/** Plugs keys in at a station of this name; `rounds` are its requests for candidates. */
async function stationOf(name: string, call: Awaited<ReturnType<typeof startTestDaemon>>['call']) {
  const system = new FakeHid();
  const store = { devicesBySerial: async () => new Map() } as never;
  const parts = { store, hub: { publish: () => {} }, now: Date.now, log: pino({ level: 'silent' }) };
  const keys = new AttachedKeys({ drivers: [createHidDriver({ system })], ...parts });
  await keys.start();
  let rounds = 0;
  const registry = (async (operation, { params, body }: { params?: { identityId: string }; body?: object }) => {
    if (operation === 'listIdentityCandidates') rounds++;
    const { method, path } = endpoints[operation];
    return (await call(method, path.replace('{identityId}', params?.identityId ?? ''), body)).data;
  }) as Send;
  const hardware = (async (operation: string, { params, body }: { params: { keyId: string }; body: never }) =>
    operation === 'listKeys'
      ? { list: await keys.list(), drivers: [] }
      : keys.identify(params.keyId, body, new AbortController().signal)) as Send;
  const recognition = new Recognition(registry, hardware, poll, { station: async () => name });
  return {
    ...{ registry, recognition, keys },
    rounds: () => rounds,
    async plugged<T>(authenticator: TestAuthenticator, work: (key: Key) => Promise<T>): Promise<T> {
      const listed = (length: number) =>
        poll(async () => ((await keys.list()).length === length ? true : null), { everyMs: 2, forMs: 10_000 });
      const address = system.plug({
        serial: null,
        interfaces: { fido: new FidoKey({ authenticator, touched: true }) },
      });
      await listed(1);
      try {
        return await work((await keys.list())[0]!);
      } finally {
        system.unplug(address);
        await listed(0);
      }
    },
  };
}

async function endToEnd(): Promise<void> {
  const daemon = await startTestDaemon();
  const root = authenticatorRoot('Root of the bench');
  const tried: { place: string; rounds: number; ms: number }[] = [];
  const enrolled: [place: string, number: string, key: TestAuthenticator][] = [];
  let others = 0;
  for (const [at, [place, before]] of places.entries()) {
    const line = await stationOf(before === 0 ? 'line-1' : 'line-9', daemon.call);
    let like: Partial<NewIdentity> = {};
    for (let i = 0; i < PLUGGED; i++) {
      const [key, number] = [new TestAuthenticator({ root, aaguid }), `K-${at}-${i}`];
      await line.plugged(key, async attached => {
        const { identity } = await line.recognition.make(await line.recognition.numbered(attached, number));
        const body = { deviceType: 'UKEY', serialNumber: number, manufacturer: 'Maker', model: 'Model', identity };
        await line.registry('registerDevice', { body } as never);
        const { relyingParty: own } = await line.registry('createIdentityChallenge', { body: {} });
        like = { relyingParty: own, firmware: identity?.firmware ?? '', station: 'line-8' };
      });
      enrolled.push([place, number, key]);
    }
    await line.keys.stop();
    await daemon.stopKeepingHome();
    const home = await Home.open(daemon.home);
    const journalKey = await home.secretKey('journalKey');
    const store = await openSqliteStore({ subjects, file: home.path('database'), journalKey });
    // The first ones were seen long before the keys, and the others after those of this place.
    if (at === 0) {
      others = devices - places[0][1];
      await add(store, 1, others, like);
    }
    const next = before - (places[at + 1]?.[1] ?? 0);
    const changes = Array.from({ length: next }, (_, i) => changesFor(others + i + 1, like)).flat();
    if (next > 0) await store.commit({ at: Date.now(), actor: 'admin', requestId: 'bench', changes });
    others += next;
    await store.close();
    await daemon.startAgain();
  }
  const station = await stationOf('line-1', daemon.call);
  for (const [place, number, key] of enrolled) {
    const before = station.rounds();
    await station.plugged(key, async attached => {
      const began = performance.now();
      const { serialNumber } = await station.recognition.recognized(attached);
      if (serialNumber !== number) throw new Error(`${number} is recognized as ${serialNumber}`);
      tried.push({ place, rounds: station.rounds() - before, ms: performance.now() - began });
    });
  }
  for (const [place, list] of Object.entries(Object.groupBy(tried, one => one.place))) {
    const rounds = Math.max(...list!.map(one => one.rounds));
    if (rounds > identityBounds.portions.length) throw new Error(`${rounds} requests for candidates`);
    process.stdout.write(`${place}: ${rounds} requests, ${median(list!.map(({ ms }) => ms)).toFixed(0)} ms\n`);
  }
  await station.keys.stop();
  await daemon.stop();
}
await endToEnd();
