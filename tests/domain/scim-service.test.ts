/** Requests about many persons or groups must not hold the event loop. */
import fastify from 'fastify';
import { expect, it, onTestFinished } from 'vitest';
import { create } from '../../daemon/people/decisions.ts';
import type { Leavers } from '../../daemon/people/leavers.ts';
import type { PersonFilter } from '../../daemon/people/queries.ts';
import type { PersonRecord } from '../../daemon/people/records.ts';
import { readFilter } from '../../daemon/scim/filter.ts';
import { PersonPages } from '../../daemon/scim/person-pages.ts';
import { scimRoutes } from '../../daemon/scim/routes.ts';
import { ScimGroups } from '../../daemon/scim/scim-groups.ts';
import { ScimUsers } from '../../daemon/scim/scim-users.ts';
import type { Window } from '../../daemon/store/queries.ts';
import type { Store } from '../../daemon/store/store.ts';
import { openTemporary } from '../support/sqlite.ts';

const PERSONS = 5000;
const none = { name: null, names: null, email: null, externalId: null, groups: [], source: 'scim' } as const;
const request = {
  context: { caller: {} } as never,
  base: 'https://registry.test/scim/v2',
  body: null as unknown,
  ifMatch: undefined,
};

it('a filter looks at each person once, and makes the resources of its page alone', async () => {
  let made = 0;
  const personOf = (number: number): PersonRecord => ({
    ...create({ ...none, userName: `person.${number}` }).person,
    number,
    updatedAt: 0,
    search: '',
    get createdAt() {
      made++;
      return 0;
    },
  });
  const people = async ({ after = 0, limit }: PersonFilter & Window) => {
    const count = Math.max(0, Math.min(limit, PERSONS - after));
    return { rows: Array.from({ length: count }, (_, i) => personOf(after + i + 1)), total: count };
  };
  const store = { people, document: async () => null, onCommit: () => () => {} } as unknown as Store;
  const users = new ScimUsers({ store, leavers: {} as Leavers, refused: { changes: () => [] }, now: () => 0 });
  const window = { filter: readFilter('userName co "person"'), startIndex: 101, count: 50 };
  const { rows, total } = await users.list(window, request);
  expect([total, rows.length, rows[0]?.id]).toEqual([PERSONS, 50, 'PER-101']);
  expect(made).toBe(PERSONS + 50);
});

it('a person is in at most 256 groups, so that a page of persons stays small', async () => {
  const { store, cleanup } = await openTemporary();
  onTestFinished(cleanup);
  const service = new ScimGroups({ store, leavers: {} as Leavers, refused: { changes: () => [] }, now: () => 0 });
  const groups = Array.from({ length: 256 }, (_, i) => i + 1000);
  const changes = [create({ ...none, userName: 'ada', groups })];
  await store.commit({ at: 0, actor: null, requestId: null, changes });
  const body = { displayName: 'one more', members: [{ value: 'PER-1' }] };
  await expect(service.create({ ...request, body })).rejects.toMatchObject({ status: 400, scimType: 'tooMany' });
});

it('pages of all persons count and skip once, until something is committed', async () => {
  const queries: (PersonFilter & Window)[] = [];
  let commit = () => {};
  const people = async (query: PersonFilter & Window) => {
    queries.push(query);
    const first = (query.after ?? 0) + query.offset;
    const count = Math.max(0, Math.min(query.limit, PERSONS - first));
    return { rows: Array.from({ length: count }, (_, i) => ({ number: first + i + 1 })), total: PERSONS };
  };
  const onCommit = (listener: () => void) => {
    commit = listener;
    return () => {};
  };
  const pages = new PersonPages({ people, onCommit } as unknown as Store);
  for (const [offset, limit] of [
    [0, 100],
    [100, 100],
    [900, 100],
  ] as const) {
    const { rows, total } = await pages.read(offset, limit);
    expect([rows[0]?.number, rows.length, total]).toEqual([offset + 1, limit, PERSONS]);
  }
  commit();
  await pages.read(100, 100);
  expect(queries.map(({ after, offset }) => [after, offset])).toEqual([
    [undefined, 0],
    [100, 0],
    [0, 900],
    [undefined, 100],
  ]);
});

it('members of a large group are written in time slices', async () => {
  const app = fastify();
  onTestFinished(() => app.close());
  app.decorate('loopWatch', { enter: () => undefined } as never);
  const group = (count: number) => ({
    id: 'GRP-1',
    members: Array.from({ length: count }, (_, i) => ({ value: `PER-${i}` })),
  });
  const groups = {
    show: async (id: string) => group(Number(id)),
    list: async () => ({ rows: [group(2500), group(0)], total: 2 }),
  };
  const tokens = { check: async () => ({ serviceToken: { may: ['scim'] } }) };
  await app.register(scimRoutes as never, { tokens, scim: { groups } });
  const headers = { authorization: 'Bearer token' };
  const read = async (path: string) => {
    let turns = 0;
    let timer = setImmediate(function next() {
      turns++;
      timer = setImmediate(next);
    });
    const { payload } = await app.inject({ url: `/scim/v2/Groups${path}`, headers });
    clearImmediate(timer);
    return { turns, found: JSON.parse(payload) };
  };
  const [small, large] = [await read('/1'), await read('/200000')];
  expect([small.found, large.found]).toEqual([group(1), group(200_000)]);
  expect(large.turns).toBeGreaterThan(small.turns + 5);
  expect((await read('')).found.Resources).toEqual([group(2500), group(0)]);
  expect((await read('/3?attributes=members')).found).toEqual(group(3));
});
