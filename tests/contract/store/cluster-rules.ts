import fc from 'fast-check';
import { expect } from 'vitest';
import { create, passkeysUnchanged, remove } from '../../../daemon/sign-in/passkey.ts';
import { endingSessions, type SsoConfig } from '../../../daemon/single-sign-on/records.ts';
import { CallerRefused, type Change, Conflict, type Guard, ResponseExists } from '../../../daemon/store/commit.ts';
import type { EntryType } from '../../../daemon/store/journal.ts';
import type { CommitNotice, Store } from '../../../daemon/store/store.ts';
import { deviceStatuses } from '../../../src/contract/values.ts';
import { type Acknowledged, expectSerial } from './cluster-model.ts';
import {
  addDevice,
  addToken,
  addUser,
  commit,
  commitOf,
  newPasskey,
  type OpenedStore,
  queryOf,
  type Rule,
  revokeToken,
  setDevice,
  setUser,
  useDevice,
} from './fixtures.ts';

/** A rule for `count` handles of one store. */
function clusterRule(name: string, count: number, check: (handles: readonly Store[]) => Promise<void>): Rule {
  return {
    name,
    async check({ store, openAnother }: OpenedStore) {
      const others = await Promise.all(Array.from({ length: count - 1 }, () => openAnother!()));
      try {
        await check([store, ...others]);
      } finally {
        await Promise.all(others.map(other => other.close()));
      }
    },
  };
}

const turn = () => new Promise(resolve => setImmediate(resolve));
const devices = 6;

interface Step {
  readonly handle: number;
  readonly changes: readonly Change[];
  readonly guards: readonly Guard[];
  /** Turns of the event loop until the next step. */
  readonly pause: number;
}

const device = fc.integer({ min: 1, max: devices });
const user = fc.integer({ min: 1, max: 2 });
const serial = fc.integer({ min: 1, max: 30 }).map(n => `S${n}`);
const change: fc.Arbitrary<Change> = fc.oneof(
  serial.map(name => addDevice(name)),
  fc.tuple(device, fc.constantFrom(...deviceStatuses)).map(([n, status]) => setDevice(n, { status })),
  fc.tuple(device, fc.integer({ min: 0, max: 99 })).map(([n, note]) => setDevice(n, { note: String(note) })),
  fc.tuple(device, fc.integer({ min: 0, max: 9 })).map(([n, seconds]) => useDevice(n, seconds)),
  fc.tuple(user, fc.boolean()).map(([n, revoke]) => setUser(n, {}, revoke)),
);
const guard: fc.Arbitrary<Guard> = fc.oneof(
  fc
    .tuple(device, fc.subarray([...deviceStatuses], { minLength: 2 }))
    .map(([n, status]) => ({ kind: 'device' as const, device: n, status })),
  fc
    .tuple(user, fc.integer({ min: 0, max: 3 }))
    .map(([n, tokenEpoch]) => ({ kind: 'user' as const, user: n, tokenEpoch })),
);
const steps = (handles: number): fc.Arbitrary<readonly Step[]> =>
  fc.array(
    fc.record({
      handle: fc.integer({ min: 0, max: handles - 1 }),
      changes: fc.array(change, { minLength: 1, maxLength: 4 }),
      guards: fc.array(guard, { maxLength: 1 }),
      pause: fc.integer({ min: 0, max: 3 }),
    }),
    { minLength: 20, maxLength: 60 },
  );

/** Runs the steps without waiting for one another. Resolves with the commits that were not refused. */
async function run(handles: readonly Store[], steps: readonly Step[], label: string): Promise<Acknowledged[]> {
  const running: Promise<Acknowledged | null>[] = [];
  for (const [i, { handle, changes, guards, pause }] of steps.entries()) {
    const wanted = commitOf(changes, { guards, requestId: `${label}-${i}`, at: 1_700_000_000_000 + i });
    const settled = handles[handle]!.commit(wanted).then(
      results => ({ commit: wanted, results }),
      error => {
        if (error instanceof Conflict) return null;
        throw error;
      },
    );
    running.push(settled);
    for (let left = pause; left > 0; left--) await turn();
  }
  return (await Promise.all(running)).filter(one => one !== null);
}

/** Reads the journal until `isOver` and nothing is left. Fails at a gap or a repetition. */
async function follow(store: Store, limit: number, isOver: () => boolean): Promise<number> {
  let last = 0;
  for (;;) {
    const over = isOver();
    const ids = (await store.events({ after: last, limit })).map(event => event.id);
    expect(ids).toEqual(ids.map((_, i) => last + 1 + i));
    last += ids.length;
    if (over && ids.length === 0) return last;
    await turn();
  }
}

/** The next notice of the handle that passes the test. */
function noticed(store: Store, test: (notice: CommitNotice) => boolean): Promise<CommitNotice> {
  return new Promise(resolve => {
    const stop = store.onCommit(notice => {
      if (!test(notice)) return;
      stop();
      resolve(notice);
    });
  });
}

/** Rules for stores that several handles have open, in one process or in many. */
export const clusterRules: readonly Rule[] = [
  clusterRule('commits through any handle come out as if made one after the other', 3, async handles => {
    const basis = [addUser('one', { role: 'ADMIN' }), addUser('two')];
    const first = commitOf([...basis, ...Array.from({ length: devices }, (_, i) => addDevice(`first-${i}`))]);
    const acknowledged: Acknowledged[] = [{ commit: first, results: await handles[0]!.commit(first) }];
    let round = 0;
    await fc.assert(
      fc.asyncProperty(steps(handles.length), async given => {
        acknowledged.push(...(await run(handles, given, `round-${round++}`)));
        await expectSerial(handles[round % handles.length]!, acknowledged);
      }),
      { numRuns: 8, endOnFailure: true },
    );
  }),

  clusterRule('a reader on another handle misses no entry and sees none twice', 3, async handles => {
    let writing = true;
    const [one, two, three] = handles as [Store, Store, Store];
    const readers = [follow(three, 7, () => !writing), follow(one, 100, () => !writing)];
    const writes = Array.from({ length: 60 }, async (_, i) => {
      for (let left = i % 20; left > 0; left--) await turn();
      await commit(i % 2 ? one : two, [addDevice(`R${i}`), addDevice(`R${i}b`)]);
    });
    const written = Promise.all(writes).finally(() => {
      writing = false;
    });
    expect(await Promise.all([...readers, written])).toEqual([120, 120, expect.anything()]);
  }),

  clusterRule('every handle reads a commit as soon as it is acknowledged', 2, async ([one, two]) => {
    for (let i = 1; i <= 10; i++) {
      const [writer, reader] = i % 2 ? [one!, two!] : [two!, one!];
      await commit(writer, [addDevice(`N${i}`)]);
      expect((await reader.device(i))?.serialNumber).toBe(`N${i}`);
      expect(await reader.lastEventId()).toBe(i);
      expect((await reader.devices(queryOf({ limit: 1 }))).total).toBe(i);
    }
  }),

  clusterRule('of many commits of the same transition through all handles, exactly one succeeds', 3, async handles => {
    const guards = [{ kind: 'device', device: 1, status: ['INACTIVE'] }] as const;
    await commit(handles[0]!, [addDevice('A')]);
    const results = await Promise.allSettled(
      Array.from({ length: 30 }, (_, i) =>
        commit(handles[i % 3]!, [setDevice(1, { status: 'ACTIVE', userId: `user-${i}` })], { guards }),
      ),
    );
    expect(results.filter(result => result.status === 'fulfilled')).toHaveLength(1);
    const winner = results.findIndex(result => result.status === 'fulfilled');
    for (const handle of handles) expect((await handle.device(1))?.userId).toBe(`user-${winner}`);
  }),

  clusterRule('two handles cannot disable the last two administrators', 2, async ([one, two]) => {
    const role = 'ADMIN' as const;
    await commit(one!, [addUser('one', { role }), addUser('two', { role })]);
    const disable = (store: Store, number: number) =>
      commit(store, [setUser(number, { disabled: true })], { guards: [{ kind: 'another-admin', beside: number }] });
    for (let i = 0; i < 10; i++) {
      const results = await Promise.allSettled([disable(one!, 1), disable(two!, 2)]);
      expect(results.map(result => result.status).sort()).toEqual(['fulfilled', 'rejected']);
      expect(await two!.admins()).toHaveLength(1);
      await commit(i % 2 ? one! : two!, [setUser(1, { disabled: false }), setUser(2, { disabled: false })]);
    }
  }),

  clusterRule('two handles cannot remove the last two passkeys of a user', 2, async ([one, two]) => {
    await commit(one!, [addUser('alice')]);
    for (let i = 0; i < 10; i++) {
      const owner = { username: 'alice' };
      await commit(
        one!,
        [`a-${i}`, `b-${i}`].map(id => create(newPasskey(1, id), owner)),
      );
      const keys = await two!.passkeysOf(1);
      const guards = [passkeysUnchanged(1, keys)];
      const results = await Promise.allSettled(
        keys.map((key, at) => commit(at ? one! : two!, [remove(key)], { guards })),
      );
      expect(results.map(result => result.status).sort()).toEqual(['fulfilled', 'rejected']);
      const [left, ...others] = await one!.passkeysOf(1);
      expect(others).toEqual([]);
      await commit(two!, [remove(left!)]);
    }
  }),

  clusterRule('a caller who was logged out through one handle cannot write through another', 2, async ([one, two]) => {
    await commit(one!, [addUser('bob', { role: 'DEALER' }), addDevice('A')]);
    for (let tokenEpoch = 0; tokenEpoch < 10; tokenEpoch++) {
      const [revoker, writer] = tokenEpoch % 2 ? [one!, two!] : [two!, one!];
      const caller = { kind: 'user', user: 1, tokenEpoch, role: 'DEALER' } as const;
      await commit(writer, [setDevice(1, { note: `allowed ${tokenEpoch}` })], { caller });
      await commit(revoker, [setUser(1, {}, true)]);
      await expect(commit(writer, [setDevice(1, { note: 'refused' })], { caller })).rejects.toThrow(CallerRefused);
    }
    expect((await two!.device(1))?.note).toBe('allowed 9');
  }),

  clusterRule('a change that follows from the value it replaces is lost on no handle', 3, async handles => {
    await commit(handles[0]!, [addDevice('A')]);
    const add = async (store: Store, name: string): Promise<void> => {
      for (;;) {
        const { tags } = (await store.device(1))!;
        const guards = [{ kind: 'device', device: 1, status: ['INACTIVE'], fields: { tags } }] as const;
        try {
          await commit(store, [setDevice(1, { tags: { ...tags, [name]: '' } })], { guards });
          return;
        } catch (error) {
          if (!(error instanceof Conflict)) throw error;
        }
      }
    };
    const names = Array.from({ length: 12 }, (_, i) => `tag-${String(i).padStart(2, '0')}`);
    await Promise.all(names.map((name, i) => add(handles[i % 3]!, name)));
    for (const handle of handles) expect(Object.keys((await handle.device(1))!.tags).sort()).toEqual(names);
  }),

  clusterRule('a serial number is registered once, and the other handle names the device', 2, async ([one, two]) => {
    for (let i = 1; i <= 20; i++) {
      const results = await Promise.all([commit(one!, [addDevice(`D${i}`)]), commit(two!, [addDevice(`D${i}`)])]);
      expect(results.map(([result]) => result!.kind).sort()).toEqual(['added', 'duplicate']);
      expect(results.map(([result]) => 'number' in result! && result.number)).toEqual([i, i]);
    }
  }),

  clusterRule('a refused commit of one handle does not undo those of another', 2, async ([one, two]) => {
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) =>
        i % 2
          ? commit(one!, [addDevice(`never-${i}`), setDevice(99, {})])
          : commit(two!, [addDevice(`A${i}`), addDevice(`B${i}`)]),
      ),
    );
    expect(results.map(result => result.status)).toEqual(results.map((_, i) => (i % 2 ? 'rejected' : 'fulfilled')));
    for (const store of [one!, two!]) expect((await store.devices(queryOf({ limit: 1 }))).total).toBe(20);
    expect(await one!.lastEventId()).toBe(20);
  }),

  clusterRule('totals and statistics are exact on every handle', 2, async ([one, two]) => {
    await commit(
      one!,
      Array.from({ length: 20 }, (_, i) => addDevice(`T${i}`)),
    );
    await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        commit(i % 2 ? one! : two!, [
          setDevice((i % 20) + 1, { status: deviceStatuses[i % 3]! }),
          addDevice(`U${i}`, { manufacturer: i % 4 ? 'Feitian' : 'Yubico' }),
        ]),
      ),
    );
    const query = { since: 0, codesExpireAfter: 0, codesExpireBy: 1, codesDueBy: 1, unusedSince: 0 };
    const all = (await one!.devices(queryOf({ limit: 1000 }))).rows;
    for (const store of [one!, two!]) {
      const { counts, registrations } = await store.statistics(query);
      for (const { deviceType, status, manufacturer, count } of counts) {
        const same = all.filter(
          row => row.deviceType === deviceType && row.status === status && row.manufacturer === manufacturer,
        );
        expect(same).toHaveLength(count);
        const { total } = await store.devices(queryOf({ status: [status], manufacturer, limit: 1 }));
        expect(total).toBe(count);
      }
      expect(counts.reduce((sum, { count }) => sum + count, 0)).toBe(60);
      expect([...registrations.values()].reduce((sum, count) => sum + count, 0)).toBe(60);
    }
  }),

  clusterRule('listeners learn of the commits of other handles', 2, async ([one, two]) => {
    await commit(one!, [addUser('first')]);
    const seen: { users: number[]; serviceTokens: number[] } = { users: [], serviceTokens: [] };
    two!.onCommit(({ users, serviceTokens }) => {
      seen.users.push(...users);
      seen.serviceTokens.push(...serviceTokens);
    });
    const others = ['APP_VERSION_UPLOADED', 'CREDENTIAL_BEGUN', 'PASSKEY_ADDED', 'PERSON_ADDED'] as const;
    const all = noticed(two!, ({ lastEventId }) => lastEventId >= 10);
    await commit(one!, [addDevice('A')]);
    await commit(
      one!,
      others.map(type => ({ kind: 'journal.add', entry: { type }, device: null, subject: 9 })),
    );
    await commit(one!, [addUser('bob'), addToken('line-1')]);
    await commit(one!, [setUser(1, { disabled: true }), revokeToken(1)]);
    await all;
    expect(new Set(seen.users)).toEqual(new Set([1, 2]));
    expect(new Set(seen.serviceTokens)).toEqual(new Set([1]));
    expect((await two!.user(1))?.disabled).toBe(true);
  }),

  clusterRule('an entry of a later version can be about a user or a service token', 2, async ([one, two]) => {
    const notices: unknown[] = [];
    two!.onCommit(({ users, serviceTokens }) => notices.push({ users, serviceTokens }));
    const all = noticed(two!, ({ lastEventId }) => lastEventId >= 1);
    const entry = { type: 'LATER_THING_ENDED' as EntryType };
    await commit(one!, [{ kind: 'journal.add', entry, device: null, subject: 7 }]);
    await all;
    expect(notices).toContainEqual({ users: [7], serviceTokens: [7] });
  }),

  clusterRule('listeners learn that another handle has ended all sessions of single sign-on', 2, async ([one, two]) => {
    await commit(one!, [addUser('first')]);
    const all = noticed(two!, ({ everything = false }) => everything);
    await commit(one!, endingSessions({} as SsoConfig, null, 0));
    await all;
  }),

  clusterRule('a listener misses no foreign commit between commits of its own', 2, async ([one, two]) => {
    await commit(
      one!,
      Array.from({ length: 8 }, (_, i) => addUser(`user-${i}`)),
    );
    const seen = new Set<number>();
    const { promise, resolve } = Promise.withResolvers<void>();
    two!.onCommit(({ users }) => {
      for (const number of users) seen.add(number);
      if (seen.size === 8) resolve();
    });
    for (let i = 1; i <= 8; i++) {
      const writes = [commit(one!, [setUser(i, {}, true)]), commit(two!, [addDevice(`L${i}`)])];
      await Promise.all(writes);
    }
    await promise;
  }),

  clusterRule('of commits with one response id through all handles, exactly one is carried out', 3, async handles => {
    const at = 1_700_000_000_000;
    const attempts = handles.flatMap((store, i) =>
      Array.from({ length: 4 }, (_, n) => {
        const body = Buffer.from(`${i}-${n}`);
        const response = {
          ...{ id: 'a', holder: '1', digest: 'd', expiresAt: at + 86_400_000, maxTotal: 1_000_000 },
          make: () => ({ status: 200, body }),
        };
        return commit(store, [addDevice(`${i}-${n}`)], { at, response });
      }),
    );
    const outcomes = await Promise.allSettled(attempts);
    const refused = outcomes.flatMap(outcome => (outcome.status === 'rejected' ? [outcome.reason] : []));
    expect(refused).toHaveLength(outcomes.length - 1);
    for (const reason of refused) expect(reason).toBeInstanceOf(ResponseExists);
    for (const store of handles) {
      const found = await store.response('a', at);
      expect((await store.device(1))?.serialNumber).toBe(Buffer.from(found!.body).toString());
      expect(await store.device(2)).toBeNull();
    }
  }),

  clusterRule('a handle that closes leaves the others working', 2, async ([one, two]) => {
    const [, added] = await Promise.all([two!.close(), commit(one!, [addDevice('A')])]);
    expect(added).toEqual([{ kind: 'added', number: 1 }]);
    expect(await commit(one!, [addDevice('B')])).toEqual([{ kind: 'added', number: 2 }]);
  }),
];
