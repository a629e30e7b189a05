/** Registries of a given size, made through the store: rows, journal and counters are what the daemon would have written. */
import { codeDigest } from '../daemon/devices/digest.ts';
import { Home } from '../daemon/home/home.ts';
import { create } from '../daemon/people/decisions.ts';
import { subjects } from '../daemon/start/subjects.ts';
import type { Change } from '../daemon/store/commit.ts';
import { openSqliteStore } from '../daemon/store/sqlite/index.ts';
import type { Store } from '../daemon/store/store.ts';
import { undescribed } from '../src/contract/device-description.ts';

const BATCH = 10_000;
/** The first registration: later ones follow second by second, so that dates differ as they would. */
export const BEGUN = Date.UTC(2026, 0, 1);
export const DAY = 86_400_000;

/** The number from which the second number of a device is spread. */
export const SEED = 0x5bd1e995;

/** A device of the bench; always the same for the same place, whatever the size of the registry. */
export interface Sample {
  readonly serialNumber: string;
  readonly deviceType: 'UKEY' | 'SIMKEY';
  readonly manufacturer: string;
  readonly model: string;
  readonly state: 'INACTIVE' | 'ACTIVE' | 'LOCKED' | 'DEACTIVATED';
  readonly user: string;
  readonly used: boolean;
}

/** Part of seven serials in ten. */
export const commonKeyword = 'ft-2026';
/** One device in thirty. */
export const knownUser = 'fleet';

/** Spreads a number over 32 bits, no two to the same. */
function spread(n: number): number {
  let x = n >>> 0;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}

/** `n` counts from 1. */
export function sample(n: number): Sample {
  const random = spread(n);
  const other = spread(n ^ SEED);
  const share = other % 100;
  return {
    serialNumber: `${random % 10 < 7 ? 'FT-2026' : 'YK5C-31'}-${random.toString(16).padStart(8, '0').toUpperCase()}`,
    deviceType: other & 128 ? 'UKEY' : 'SIMKEY',
    manufacturer: `Maker ${(other >>> 9) % 8}`,
    model: `Model ${(other >>> 13) % 40}`,
    state: share < 40 ? 'INACTIVE' : share < 85 ? 'ACTIVE' : share < 95 ? 'LOCKED' : 'DEACTIVATED',
    user: other % 18 === 0 ? knownUser : `user-${random % 5000}`,
    used: share % 2 === 0,
  };
}

/** Fills the registry of a home, whose daemon must not run, up to a size. */
export async function fill(dir: string, devices: number, tell: (done: number) => void = () => {}): Promise<void> {
  const home = await Home.open(dir);
  const store = await openSqliteStore({
    subjects,
    file: home.path('database'),
    journalKey: await home.secretKey('journalKey'),
  });
  try {
    await store.listsReady;
    const { total } = await store.devices({ sortBy: 'deviceId', descending: false, offset: 0, limit: 1 });
    for (let from = total; from < devices; from += BATCH) {
      await addBatch(store, from + 1, Math.min(BATCH, devices - from));
      tell(Math.min(devices, from + BATCH));
    }
  } finally {
    await store.close();
  }
}

/** Adds persons to the registry of a home, whose daemon must not run: person-0, person-1, … */
export async function fillPeople(dir: string, count: number): Promise<void> {
  const home = await Home.open(dir);
  const store = await openSqliteStore({
    subjects,
    file: home.path('database'),
    journalKey: await home.secretKey('journalKey'),
  });
  const details = { names: null, externalId: null, groups: [], source: 'local' } as const;
  try {
    await store.listsReady;
    for (let from = 0; from < count; from += BATCH) {
      const persons = Array.from({ length: Math.min(BATCH, count - from) }, (_, i) => `person-${from + i}`);
      const changes = persons.map(userName =>
        create({ ...details, userName, name: `Person ${userName.slice(7)}`, email: `${userName}@example.com` }),
      );
      await store.commit({ at: BEGUN, actor: 'admin', requestId: 'bench-2', changes });
    }
  } finally {
    await store.close();
  }
}

async function addBatch(store: Store, first: number, count: number): Promise<void> {
  const at = BEGUN + first * 1000;
  const samples = Array.from({ length: count }, (_, i) => sample(first + i));
  const by = { actor: 'admin', requestId: 'bench-1' };
  const outcomes = await store.commit({ at, ...by, changes: samples.map(device => addition(device, at)) });
  if (outcomes.some(outcome => outcome.kind !== 'added')) throw new Error('a device of the bench was there before');
  await store.commit({ at, ...by, changes: samples.flatMap((device, i) => transition(device, first + i, at)) });
  // Each commit has one time: used in a hundred lots, so that the times of use differ.
  const uses = samples.flatMap((device, i): Change[] =>
    device.state === 'ACTIVE' && device.used
      ? [{ kind: 'device.use', device: first + i, seconds: 60, entry: { type: 'DEVICE_USED' } }]
      : [],
  );
  const lots = Array.from({ length: 100 }, (_, lot) => uses.filter((_use, i) => i % 100 === lot));
  await Promise.all(
    lots.map((changes, lot) => store.commit({ at: at + (spread(first + lot) % (300 * DAY)), ...by, changes })),
  );
}

function addition({ serialNumber, deviceType, manufacturer, model }: Sample, at: number): Change {
  const device = {
    ...undescribed,
    deviceType,
    serialNumber,
    manufacturer,
    model,
    hardwareVersion: '1.0',
    firmwareVersion: '5.4.3',
    activationCode: 'BBBB-CCCC-DDDD-EEEE',
    tags: {},
    proof: null,
    activationCodeExpiresAt: at + 365 * DAY,
  };
  const detail = { codeDigest: codeDigest(device) };
  return {
    kind: 'device.add',
    device,
    entry: { type: 'DEVICE_REGISTERED', data: { deviceType, serialNumber }, detail },
  };
}

function transition({ state, deviceType, user }: Sample, device: number, at: number): Change[] {
  if (state === 'INACTIVE') return [];
  const later = at + (spread(device) % (90 * DAY));
  const active = { status: 'ACTIVE', userId: user, activatedAt: later } as const;
  const data = { deviceType };
  const activation: Change = {
    kind: 'device.set',
    device,
    set: { ...active, updatedAt: later },
    entry: { type: 'DEVICE_ACTIVATED', data: { ...data, userId: user } },
  };
  if (state === 'ACTIVE') return [activation];
  if (state === 'LOCKED')
    return [
      activation,
      {
        kind: 'device.set',
        device,
        set: { status: state, lockReason: 'lost', lockedAt: later },
        entry: { type: 'DEVICE_LOCKED', data: { ...data, lockReason: 'lost' } },
      },
    ];
  return [
    {
      kind: 'device.set',
      device,
      set: { status: state, deactivatedAt: later },
      entry: { type: 'DEVICE_DEACTIVATED', data },
    },
  ];
}
