/** Changes, commits and queries for the rules about stores. */

import { createHash } from 'node:crypto';
import fc from 'fast-check';
import type { NewServiceToken } from '../../../daemon/accounts/service-token.ts';
import { codeDigest, proofDigest } from '../../../daemon/devices/digest.ts';
import type { DeviceQuery } from '../../../daemon/devices/queries.ts';
import type { DeviceRow, DeviceSet, NewDevice } from '../../../daemon/devices/records.ts';
import type { AppRecord } from '../../../daemon/files/app.ts';
import type { BackupRecord } from '../../../daemon/files/backup.ts';
import type { UserRecord } from '../../../daemon/requests/callers.ts';
import type { NewPasskey } from '../../../daemon/sign-in/passkey.ts';
import type { Change, ChangeResult, Commit } from '../../../daemon/store/commit.ts';
import type { Store } from '../../../daemon/store/store.ts';
import { undescribed } from '../../../src/contract/device-description.ts';
import { hasTags } from '../../../src/contract/tags.ts';

export interface OpenedStore {
  readonly store: Store;
  /** Closes the store and opens it again with what it has stored. */
  reopen(): Promise<Store>;
  /** Opens the same store a further time, as another process would; absent if the engine does not support that. */
  openAnother?(): Promise<Store>;
  /** Whether times that run backwards are raised to that of the commit before. */
  readonly raisesTimes?: boolean;
  cleanup(): Promise<void>;
}

/** Opens an empty store. */
export type OpenStore = () => Promise<OpenedStore>;

/** A rule that every store must keep. `check` throws if it is broken. */
export interface Rule {
  readonly name: string;
  check(opened: OpenedStore): Promise<void>;
}

export const rule = (name: string, check: (opened: OpenedStore) => Promise<void>): Rule => ({ name, check });

export const newDevice = (serialNumber: string, rest: Partial<NewDevice> = {}): NewDevice => ({
  ...undescribed,
  deviceType: 'UKEY',
  serialNumber,
  manufacturer: 'Feitian',
  model: 'ePass K9',
  firmwareVersion: '1.0.3',
  activationCode: `CODE-${serialNumber}`,
  activationCodeExpiresAt: 2_000_000_000_000,
  tags: {},
  proof: null,
  ...rest,
});

const provedBy = (proof: string | null | undefined) => (proof ? { proofDigest: proofDigest(proof) } : {});

export const addDevice = (serialNumber: string, rest: Partial<NewDevice> = {}): Change => {
  const device = newDevice(serialNumber, rest);
  const data = { deviceType: device.deviceType, serialNumber };
  const detail = {
    codeDigest: codeDigest(device),
    ...(hasTags(device.tags) ? { tags: device.tags } : {}),
    ...provedBy(device.proof),
  };
  return { kind: 'device.add', device, entry: { type: 'DEVICE_REGISTERED', data, detail } };
};

/** A device that `userId` has already. */
export const addBound = (serialNumber: string, userId: string, rest: Partial<NewDevice> = {}): Change => {
  const add = addDevice(serialNumber, rest) as Extract<Change, { kind: 'device.add' }>;
  const data = { deviceType: add.device.deviceType, userId };
  return { ...add, owner: { userId, entry: { type: 'DEVICE_ACTIVATED', data } } };
};

const typeOf = {
  INACTIVE: 'DEVICE_UPDATED',
  ACTIVE: 'DEVICE_UNLOCKED',
  LOCKED: 'DEVICE_LOCKED',
  DEACTIVATED: 'DEVICE_DEACTIVATED',
} as const;

export const setDevice = (device: number, set: DeviceSet): Extract<Change, { kind: 'device.set' }> => ({
  kind: 'device.set',
  device,
  set,
  entry: {
    type: typeOf[set.status ?? 'INACTIVE'],
    data: { deviceType: 'UKEY', ...(set.userId ? { userId: set.userId } : {}) },
    ...(set.tags && (set.status ?? 'INACTIVE') === 'INACTIVE' ? { detail: { after: { tags: set.tags } } } : {}),
  },
});

export const useDevice = (device: number, seconds: number): Change => ({
  kind: 'device.use',
  device,
  seconds,
  entry: { type: 'DEVICE_USED', detail: { seconds } },
});

export const addUser = (username: string, rest: Partial<Omit<UserRecord, 'number' | 'createdAt'>> = {}): Change => ({
  kind: 'user.add',
  user: { username, passwordHash: `hash of ${username}`, role: 'DEALER', email: null, disabled: false, ...rest },
  entry: { type: 'USER_CREATED', detail: { username } },
});

type SetUser = Extract<Change, { kind: 'user.set' }>;
export const setUser = (user: number, set: SetUser['set'], revoke = false): Change => ({
  kind: 'user.set',
  user,
  set,
  revoke,
  entry: { type: 'USER_UPDATED' },
});

export const addApp = (version: string, rest: Partial<Omit<AppRecord, 'number' | 'createdAt'>> = {}): Change => {
  const platform = rest.platform ?? 'ANDROID';
  const app = {
    platform,
    version,
    versionName: null,
    changelog: 'first\nsecond',
    forceUpdate: false,
    minSupportVersion: null,
    fileName: `devmgr-${version}.apk`,
    extension: 'apk',
    fileSize: 3,
    sha256: 'a'.repeat(64),
    uploadedBy: 'admin',
    blob: `blob-of-${platform}-${version}`,
    ...rest,
  };
  return { kind: 'app.add', app, entry: { type: 'APP_VERSION_UPLOADED', data: { platform, version } } };
};

export const addBackup = (device: number, rest: Partial<Omit<BackupRecord, 'number' | 'createdAt'>> = {}): Change => ({
  kind: 'backup.add',
  backup: {
    device,
    fileName: 'key.bak',
    fileSize: 5,
    sha256: 'b'.repeat(64),
    note: null,
    blob: `backup-of-${device}`,
    ...rest,
  },
  entry: { type: 'BACKUP_CREATED' },
});

export const restoreBackup = (device: number, backup: number): Change => ({
  kind: 'backup.restore',
  device,
  backup,
  entry: { type: 'BACKUP_RESTORED' },
});

export const addToken = (name: string, rest: Partial<NewServiceToken> = {}): Change => ({
  kind: 'token.add',
  token: {
    name,
    role: 'DEALER',
    sha256: createHash('sha256').update(name).digest('hex'),
    createdBy: 'admin',
    owner: null,
    expiresAt: 2_000_000_000_000,
    allowedFrom: null,
    may: [],
    ...rest,
  },
  entry: { type: 'TOKEN_CREATED', detail: { name } },
});

export const revokeToken = (token: number): Change => ({
  kind: 'token.revoke',
  token,
  entry: { type: 'TOKEN_REVOKED' },
});

export const newPasskey = (owner: number, credentialId: string, rest: Partial<NewPasskey> = {}): NewPasskey => ({
  owner,
  name: 'desk',
  credentialId,
  publicKey: `public key of ${credentialId}`,
  rpId: 'localhost',
  transports: ['usb', 'nfc'],
  aaguid: '00000000-0000-0000-0000-000000000000',
  signCount: 0,
  ...rest,
});

export const commitOf = (changes: readonly Change[], rest: Partial<Omit<Commit, 'changes'>> = {}): Commit => ({
  at: 1_700_000_000_000,
  actor: 'admin',
  requestId: 'request-1',
  changes,
  ...rest,
});

export const commit = (
  store: Store,
  changes: readonly Change[],
  rest: Partial<Omit<Commit, 'changes'>> = {},
): Promise<readonly ChangeResult[]> => store.commit(commitOf(changes, rest));

export const queryOf = (rest: Partial<DeviceQuery> = {}): DeviceQuery => ({
  sortBy: 'createTime',
  descending: true,
  offset: 0,
  limit: 100,
  ...rest,
});

export const numbersOf = (rows: readonly Pick<DeviceRow, 'number'>[]): number[] => rows.map(row => row.number);

/** Everything that a store returns, to compare two moments. */
export async function everything(store: Store): Promise<unknown> {
  const devices = await store.devices(queryOf({ limit: 1000 }));
  const window = { descending: false, offset: 0, limit: 1000 };
  return {
    devices: await Promise.all(numbersOf(devices.rows).map(number => store.device(number))),
    total: devices.total,
    users: await store.users(window),
    apps: await store.apps(window),
    serviceTokens: await store.serviceTokens(window),
    events: await store.events({ after: 0, limit: 1000 }),
    lastEventId: await store.lastEventId(),
  };
}

/** A filter that four of five queries lack. If each of a dozen filters were in every second query, almost no query would match a device. */
export const sometimes = <T>(values: fc.Arbitrary<T>) =>
  fc.oneof({ arbitrary: fc.constant(undefined), weight: 4 }, { arbitrary: values, weight: 1 });
