/**
 * How long it takes to list the credentials that an attached key may have, with all devices of one model: `node benchmarks/identities.ts
 * [DEVICES]`. Both engines; the times are of the store, as a daemon asks it. The last column is the time of all three portions.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { identityEntry } from '../daemon/identity/records.ts';
import { subjects } from '../daemon/start/subjects.ts';
import type { Change } from '../daemon/store/commit.ts';
import { openPostgresStore } from '../daemon/store/postgres/postgres-store.ts';
import { openSqliteStore } from '../daemon/store/sqlite/index.ts';
import type { Store } from '../daemon/store/store.ts';
import { identityBounds } from '../src/contract/limits.ts';
import { PostgresServer } from '../tests/support/postgres-server.ts';
import { BEGUN } from './fill.ts';
import { settings } from './postgres.ts';
import { median } from './report.ts';

const devices = Number(process.argv[2] ?? 100_000);
const BATCH = 5000;
const TIMES = 30;
const relyingParty = `${'0'.repeat(32)}.devmgr.invalid`;
const aaguid = '2fc0579f-8113-47ea-b116-bb5a8db9202a';

/** One in four has another firmware; two hundred are at the station of the question. */
function changesFor(n: number): Change[] {
  const device = {
    deviceType: 'UKEY',
    serialNumber: `P-${n}`,
    manufacturer: 'Maker',
    model: 'Model',
    hardwareVersion: null,
    firmwareVersion: null,
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
  } as const;
  const { serialNumber } = device;
  return [
    { kind: 'device.add', device, entry: { type: 'DEVICE_REGISTERED', data: { deviceType: 'UKEY', serialNumber } } },
    { kind: 'identity.add', identity, device: { serialNumber }, entry: identityEntry('bound', 'UKEY') },
  ];
}

async function measure(name: string, store: Store): Promise<void> {
  for (let from = 1; from <= devices; from += BATCH) {
    const changes = Array.from({ length: Math.min(BATCH, devices - from + 1) }, (_, i) => changesFor(from + i)).flat();
    await store.commit({ at: BEGUN + from, actor: 'admin', requestId: 'bench', changes });
  }
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
