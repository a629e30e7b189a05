import {
  type ChangeResult,
  type Commit,
  type CommitNotice,
  type Store,
  StoreFailure,
  type Window,
} from '../../../daemon/store/store.ts';
import type { OpenedStore } from './fixtures.ts';
import { listModel } from './list-model.ts';
import { applyChange, checkGuard, empty, type Fault, type Kept } from './memory-changes.ts';

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
  const tell = (commit: Commit, kept: Kept, outcomes: readonly ChangeResult[]) => {
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
  const apply = async (commit: Commit): Promise<readonly ChangeResult[]> => {
    await turn();
    const kept = structuredClone(read());
    if (fault === 'shows what is not committed') write(kept);
    const outcomes: ChangeResult[] = [];
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
