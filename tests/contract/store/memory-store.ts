import {
  type AppRecord,
  type BackupRecord,
  type Change,
  type Commit,
  type CommitNotice,
  Conflict,
  type DeviceRecord,
  type Entry,
  type EventRecord,
  type Guard,
  type Outcome,
  type Store,
  StoreFailure,
  type UserRecord,
  type Window,
} from '../../../daemon/store/store.ts';
import { listModel } from './list-model.ts';
import type { OpenedStore } from './makings.ts';

/** Ways in which a store can be wrong; the suite must notice each. */
export type Fault =
  | 'skips an entry'
  | 'writes an entry for a duplicate'
  | 'keeps half of a refused commit'
  | 'ignores guards on status'
  | 'ignores guards on codes'
  | 'ignores guards on tokens'
  | 'ignores the guard of the last administrator'
  | 'leaves gaps in numbers'
  | 'leaves gaps in the journal'
  | 'one refusal undoes what came with it'
  | 'forgets at a restart'
  | 'acknowledges before it has written'
  | 'tells listeners after it acknowledges'
  | 'shows what is not committed'
  | 'takes % for a wildcard'
  | 'puts nulls first when descending'
  | 'counts the page in place of all'
  | 'forgets the actor'
  | 'takes commits after closing';

interface Kept {
  /** Places of serials among the devices. */
  serials: Map<string, number>;
  devices: DeviceRecord[];
  users: UserRecord[];
  apps: AppRecord[];
  backups: BackupRecord[];
  events: EventRecord[];
}

const empty = (): Kept => ({ serials: new Map(), devices: [], users: [], apps: [], backups: [], events: [] });
const turn = () => new Promise(resolve => setImmediate(resolve));

/** The contract in a few plain lines, kept in memory: what the suite is tried on, whole and with each fault. */
export async function openMemoryStore(fault?: Fault): Promise<OpenedStore> {
  let disk = empty();
  const open = () =>
    memoryStore(
      () => disk,
      kept => (disk = kept),
      fault,
    );
  const first = open();
  return {
    store: first,
    reopen: async () => {
      await first.close();
      if (fault === 'forgets at a restart') disk = empty();
      return open();
    },
    cleanup: async () => {},
  };
}

function memoryStore(read: () => Kept, write: (kept: Kept) => void, fault: Fault | undefined): Store {
  const listeners = new Set<(notice: CommitNotice) => void>();
  let closed = false;
  let queue: Promise<unknown> = Promise.resolve();
  const present = () => {
    if (closed) throw new StoreFailure('the store is closed');
    return read();
  };
  const tell = (commit: Commit, kept: Kept, outcomes: readonly Outcome[]) => {
    const users = commit.changes.flatMap((change, i) => {
      const outcome = outcomes[i]!;
      if (change.kind === 'user.set') return [change.user];
      return change.kind === 'user.add' && outcome.kind === 'added' ? [outcome.number] : [];
    });
    for (const listener of listeners) {
      try {
        listener({ lastEventId: kept.events.length, users });
      } catch {}
    }
  };
  const apply = async (commit: Commit): Promise<readonly Outcome[]> => {
    await turn();
    const kept = structuredClone(read());
    if (fault === 'shows what is not committed') write(kept);
    const outcomes: Outcome[] = [];
    try {
      for (const guard of commit.guards ?? []) checkGuard(kept, guard, fault);
      for (const change of commit.changes) {
        outcomes.push(applyChange(kept, change, commit, fault));
        if (outcomes.length % 1000 === 0) await turn();
      }
    } catch (error) {
      if (fault === 'keeps half of a refused commit') write(kept);
      if (fault === 'one refusal undoes what came with it') write(empty());
      throw error;
    }
    if (fault !== 'acknowledges before it has written') write(kept);
    else setTimeout(() => write(kept), 5);
    if (fault === 'tells listeners after it acknowledges') setImmediate(() => tell(commit, kept, outcomes));
    else tell(commit, kept, outcomes);
    return outcomes;
  };
  const pageOf = <T extends { number: number; createdAt: number }>(records: readonly T[], window: Window) => {
    const sorted = [...records].sort((a, b) => a.createdAt - b.createdAt || a.number - b.number);
    if (window.descending) sorted.reverse();
    return { rows: sorted.slice(window.offset, window.offset + window.limit), total: sorted.length };
  };
  return {
    device: async number => present().devices[number - 1] ?? null,
    devicesBySerial: async serials => {
      const wanted = new Set(serials);
      const found = present().devices.filter(device => wanted.has(device.serialNumber));
      return new Map(found.map(({ serialNumber, number, status }) => [serialNumber, { number, status }]));
    },
    devices: async query => {
      const keyword = fault === 'takes % for a wildcard' ? query.keyword?.replaceAll('%', '') : query.keyword;
      const page = listModel(present().devices, { ...query, keyword });
      if (fault === 'counts the page in place of all') return { ...page, total: page.rows.length };
      if (fault !== 'puts nulls first when descending' || !query.descending) return page;
      const { sortBy } = query;
      const isNull = (row: object) => Number((row as Record<string, unknown>)[sortBy] === null);
      return { ...page, rows: [...page.rows].sort((a, b) => isNull(b) - isNull(a)) };
    },
    user: async number => present().users[number - 1] ?? null,
    userByName: async username => present().users.find(user => user.username === username) ?? null,
    users: async window => pageOf(present().users, window),
    admins: async () => present().users.filter(user => user.role === 'ADMIN' && !user.disabled),
    app: async number => present().apps[number - 1] ?? null,
    apps: async ({ platform, ...window }) =>
      pageOf(
        present().apps.filter(app => platform === undefined || app.platform === platform),
        window,
      ),
    appsOf: async platform => {
      const all = { descending: false, offset: 0, limit: Number.POSITIVE_INFINITY };
      return pageOf(
        present().apps.filter(app => app.platform === platform),
        all,
      ).rows;
    },
    backup: async number => present().backups[number - 1] ?? null,
    backups: async (device, window) =>
      pageOf(
        present().backups.filter(backup => backup.device === device),
        window,
      ),
    events: async filter =>
      present()
        .events.filter(
          event =>
            event.id > filter.after &&
            (filter.types?.includes(event.type) ?? true) &&
            (filter.device === undefined || event.device === filter.device) &&
            (filter.actor === undefined || event.actor === filter.actor) &&
            (filter.from === undefined || event.at >= filter.from) &&
            (filter.to === undefined || event.at <= filter.to),
        )
        .slice(0, filter.limit),
    lastEventId: async () => present().events.at(-1)?.id ?? 0,
    knownBlobs: async names => {
      const known = new Set([...present().apps, ...present().backups].map(record => record.blob));
      return new Set(names.filter(name => known.has(name)));
    },
    commit: async commit => {
      if (closed && fault !== 'takes commits after closing') throw new StoreFailure('the store is closed');
      const result = queue.then(() => apply(commit));
      queue = result.catch(() => {});
      return result;
    },
    onCommit(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    health: async () => ({ ready: !closed, detail: 'memory' }),
    close: async () => {
      await queue;
      closed = true;
    },
  };
}

function checkGuard({ devices, users }: Kept, guard: Guard, fault: Fault | undefined): void {
  const need = (holds: boolean) => {
    if (!holds) throw new Conflict(guard.kind);
  };
  if (guard.kind === 'user') {
    const held = users[guard.user - 1]?.tokenEpoch === guard.tokenEpoch;
    need(held || fault === 'ignores guards on tokens');
    return;
  }
  if (guard.kind === 'another-admin') {
    const other = users.some(user => user.number !== guard.beside && user.role === 'ADMIN' && !user.disabled);
    need(other || fault === 'ignores the guard of the last administrator');
    return;
  }
  const device = devices[guard.device - 1];
  if (fault !== 'ignores guards on status') need(device !== undefined && guard.status.includes(device.status));
  if (fault !== 'ignores guards on codes')
    need(guard.activationCode === undefined || guard.activationCode === device?.activationCode);
}

function applyChange(kept: Kept, change: Change, commit: Commit, fault: Fault | undefined): Outcome {
  const { at } = commit;
  const write = (entry: Entry, device: number | null, subject: number | null) => {
    if (fault === 'skips an entry' && entry.type === 'DEVICE_USED') return;
    const id = kept.events.length + 1 + (fault === 'leaves gaps in the journal' ? 1 : 0);
    const actor = fault === 'forgets the actor' ? null : commit.actor;
    const { type, data = {}, detail = {} } = entry;
    kept.events.push({ id, at, type, device, subject, actor, requestId: commit.requestId, data, detail });
  };
  const next = (records: readonly unknown[]) => records.length + 1;
  const duplicate = (number: number, status: DeviceRecord['status'] | null): Outcome => {
    if (fault === 'writes an entry for a duplicate') write(change.entry, null, null);
    return { kind: 'duplicate', number, status };
  };
  const deviceOf = (number: number) => {
    const device = kept.devices[number - 1];
    if (!device) throw new Conflict(`device ${number}`);
    return (values: Partial<DeviceRecord>) => (kept.devices[number - 1] = { ...device, ...values });
  };
  switch (change.kind) {
    case 'device.add': {
      if (change.device.manufacturer === null) throw new StoreFailure('no manufacturer');
      const twin = kept.devices[kept.serials.get(change.device.serialNumber) ?? -1];
      if (twin) return duplicate(twin.number, twin.status);
      const number = next(kept.devices) + (fault === 'leaves gaps in numbers' ? 1 : 0);
      kept.serials.set(change.device.serialNumber, kept.devices.length);
      kept.devices.push({ ...blank, ...change.device, number, createdAt: at });
      write(change.entry, number, null);
      return { kind: 'added', number };
    }
    case 'device.set':
      deviceOf(change.device)(change.set);
      write(change.entry, change.device, null);
      return { kind: 'done' };
    case 'device.use': {
      const device = kept.devices[change.device - 1];
      const usageCount = (device?.usageCount ?? 0) + 1;
      const usageSeconds = (device?.usageSeconds ?? 0) + change.seconds;
      deviceOf(change.device)({ usageCount, usageSeconds, lastUsedAt: at });
      write(change.entry, change.device, null);
      return { kind: 'used', usageCount, usageSeconds };
    }
    case 'user.add': {
      const twin = kept.users.find(user => user.username === change.user.username);
      if (twin) return duplicate(twin.number, null);
      const number = next(kept.users);
      kept.users.push({ ...change.user, number, createdAt: at, tokenEpoch: 0 });
      write(change.entry, null, number);
      return { kind: 'added', number };
    }
    case 'user.set': {
      const user = kept.users[change.user - 1];
      if (!user) throw new Conflict(`user ${change.user}`);
      const tokenEpoch = user.tokenEpoch + Number(change.revoke);
      kept.users[change.user - 1] = { ...user, ...change.set, tokenEpoch };
      write(change.entry, null, change.user);
      return { kind: 'done' };
    }
    case 'app.add': {
      const key = (app: Omit<AppRecord, 'number' | 'createdAt'>) => `${app.platform} ${app.version} ${app.extension}`;
      const twin = kept.apps.find(app => key(app) === key(change.app));
      if (twin) return duplicate(twin.number, null);
      const number = next(kept.apps);
      kept.apps.push({ ...change.app, number, createdAt: at });
      write(change.entry, null, number);
      return { kind: 'added', number };
    }
    case 'backup.add': {
      const number = next(kept.backups);
      const backupCount = (kept.devices[change.backup.device - 1]?.backupCount ?? 0) + 1;
      deviceOf(change.backup.device)({ backupCount, lastBackupAt: at });
      kept.backups.push({ ...change.backup, number, createdAt: at });
      write(change.entry, change.backup.device, number);
      return { kind: 'added', number };
    }
    case 'backup.restore':
      if (kept.backups[change.backup - 1]?.device !== change.device) throw new Conflict('backup');
      write(change.entry, change.device, change.backup);
      return { kind: 'done' };
  }
}

const blank = {
  status: 'INACTIVE',
  userId: null,
  note: null,
  activatedAt: null,
  lastUsedAt: null,
  lockReason: null,
  lockedAt: null,
  deactivatedAt: null,
  updatedAt: null,
  usageCount: 0,
  usageSeconds: 0,
  backupCount: 0,
  lastBackupAt: null,
} as const;
