import { expect } from 'vitest';
import {
  type Commit,
  Conflict,
  LARGE_RESPONSE,
  ResponseExists,
  type ResponsePart,
  StoreFailure,
} from '../../../daemon/store/commit.ts';
import type { Store } from '../../../daemon/store/store.ts';
import { addDevice, commit, commitOf, type Rule, rule, setDevice } from './fixtures.ts';

const DAY = 86_400_000;
const { at } = commitOf([]);

/** The part of a commit that stores a response; its body is `text`. */
const part = (id: string, text = `response ${id}`, rest: Partial<ResponsePart> = {}): ResponsePart => ({
  id,
  holder: '1',
  digest: `digest ${id}`,
  expiresAt: at + DAY,
  maxTotal: 1_000_000,
  make: () => ({ status: 200, body: Buffer.from(text) }),
  ...rest,
});
const stored = (store: Store, response: ResponsePart, changes: Commit['changes'] = [], rest: Partial<Commit> = {}) =>
  commit(store, changes, { response, ...rest });
const textOf = async (store: Store, id: string, when = at) => {
  const found = await store.response(id, when);
  return found && Buffer.from(found.body).toString();
};
const large = (id: string, letter: string) => part(id, letter.repeat(LARGE_RESPONSE), { maxTotal: 2 * LARGE_RESPONSE });
const expire = (until: number, most = 10) =>
  ({ kind: 'response.expire', until, beyond: until + 2 * DAY, most }) as const;

/** Rules about responses to requests with an idempotency key. */
export const responseRules: readonly Rule[] = [
  rule('a response is stored with the changes, made of their results, also after a restart', async opened => {
    const make: ResponsePart['make'] = results => ({ status: 201, body: Buffer.from(JSON.stringify(results)) });
    const results = await stored(opened.store, part('a', '', { make }), [addDevice('S-1'), addDevice('S-1')]);
    const expected = { digest: 'digest a', status: 201, body: expect.anything() };
    expect(await opened.store.response('a', at)).toEqual(expected);
    expect(await textOf(opened.store, 'a')).toBe(JSON.stringify(results));
    expect(await opened.store.response('b', at)).toBeNull();
    const reopened = await opened.reopen();
    expect(await textOf(reopened, 'a')).toBe(JSON.stringify(results));
    expect((await reopened.device(1))?.serialNumber).toBe('S-1');
  }),

  rule('a commit whose id is taken is refused before anything is written', async ({ store }) => {
    await stored(store, part('a', 'first'), [addDevice('S-1')]);
    await expect(stored(store, part('a', 'second'), [addDevice('S-2')])).rejects.toThrow(ResponseExists);
    expect(await textOf(store, 'a')).toBe('first');
    expect(await store.device(2)).toBeNull();
    expect(await store.lastEventId()).toBe(1);
  }),

  rule(
    'of commits with one id that arrive together, the first is carried out; the others are refused',
    async ({ store }) => {
      const outcomes = await Promise.allSettled(
        [1, 2, 3, 4].map(i => stored(store, part('a', `response ${i}`), [addDevice(`S-${i}`)])),
      );
      expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected']);
      for (const outcome of outcomes.slice(1))
        expect((outcome as PromiseRejectedResult).reason).toBeInstanceOf(ResponseExists);
      expect(await textOf(store, 'a')).toBe('response 1');
      expect(await store.device(2)).toBeNull();
    },
  ),

  rule('a refused commit stores no response, and a commit without changes can store one', async ({ store }) => {
    const refused = stored(store, part('a'), [addDevice('S-1'), setDevice(7, { status: 'LOCKED' })]);
    await expect(refused).rejects.toThrow(Conflict);
    expect(await store.response('a', at)).toBeNull();
    expect(await stored(store, part('a', 'refused'))).toEqual([]);
    expect(await textOf(store, 'a')).toBe('refused');
    expect(await store.lastEventId()).toBe(0);
  }),

  rule('a response that is not made is not stored; one that fails undoes the commit', async ({ store }) => {
    await stored(store, part('a', '', { make: () => null }), [addDevice('S-1')]);
    expect(await store.response('a', at)).toBeNull();
    const fails = part('b', '', {
      make: () => {
        throw new StoreFailure('not made');
      },
    });
    await expect(stored(store, fails, [addDevice('S-2')])).rejects.toThrow(StoreFailure);
    expect(await store.device(2)).toBeNull();
    expect((await commit(store, [addDevice('S-3')]))[0]).toEqual({ kind: 'added', number: 2 });
  }),

  rule('a response is valid until it expires; then its id is free', async ({ store }) => {
    await stored(store, part('a', 'first'), [addDevice('S-1')]);
    expect(await textOf(store, 'a', at + DAY - 1)).toBe('first');
    expect(await textOf(store, 'a', at + DAY)).toBeNull();
    const late = { at: at + DAY };
    await stored(store, part('a', 'second', { expiresAt: at + 2 * DAY }), [addDevice('S-2')], late);
    expect(await textOf(store, 'a', at + DAY)).toBe('second');
    expect(await store.device(2)).not.toBeNull();
  }),

  rule('expired responses are removed in portions, and so are those of a clock that was ahead', async ({ store }) => {
    for (const id of ['a', 'b', 'c']) await stored(store, part(id));
    await stored(store, part('valid', 'valid', { expiresAt: at + 2 * DAY }));
    await stored(store, part('ahead', 'ahead', { expiresAt: at + 9 * DAY }));
    const removed = async (until: number, most?: number) => (await commit(store, [expire(until, most)]))[0];
    expect(await removed(at, 10)).toEqual({ kind: 'removed', count: 1 });
    expect(await textOf(store, 'ahead')).toBeNull();
    expect(await removed(at + DAY, 2)).toEqual({ kind: 'removed', count: 2 });
    expect(await removed(at + DAY, 2)).toEqual({ kind: 'removed', count: 1 });
    expect(await removed(at + DAY, 2)).toEqual({ kind: 'removed', count: 0 });
    expect(await textOf(store, 'valid')).toBe('valid');
    expect(await store.lastEventId()).toBe(0);
  }),

  rule('beyond the total of a holder its oldest large responses are removed, and no others', async ({ store }) => {
    await stored(store, part('small'));
    await stored(store, { ...large('other', 'o'), holder: '2' });
    for (const id of ['a', 'b', 'c']) await stored(store, large(id, id));
    const left = await Promise.all(['small', 'other', 'a', 'b', 'c'].map(id => store.response(id, at)));
    expect(left.map(found => found !== null)).toEqual([true, true, false, true, true]);
  }),
];
