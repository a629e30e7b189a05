import { expect } from 'vitest';
import { create, edit } from '../../../daemon/people/decisions.ts';
import type { Change } from '../../../daemon/store/commit.ts';
import type { Store } from '../../../daemon/store/store.ts';
import { searchWords } from '../../../src/contract/search-words.ts';
import { addDevice, commit, numbersOf, queryOf, type Rule, rule, setDevice } from './fixtures.ts';
import { agree, all } from './list-rules.ts';

const add = (userName: string, name: string | null): Change =>
  create({
    userName,
    name,
    names: null,
    email: `${userName}@secret.example`,
    externalId: null,
    groups: [],
    source: 'local',
  });
const bind = (device: number, userId: string): Change =>
  setDevice(device, { status: 'ACTIVE', userId, activatedAt: 1 });

const makers = ['Yubico', 'Nitrokey', 'SoloKeys GmbH', 'ÉCLAIR'];
const models = ['YubiKey 5C', 'Nitrokey 3A NFC', '100%_\\', 'Σολο'];

/** Devices of which each word of the rules finds some. */
async function fill(store: Store): Promise<void> {
  const devices = Array.from({ length: 60 }, (_, i) =>
    addDevice(`SN-${i * 7}-x`, {
      manufacturer: makers[i % 4]!,
      model: models[(i >> 2) % 4]!,
      tags: { ...(i % 3 ? { site: i % 2 ? 'Bonn' : 'KÖLN' } : {}), ...(i % 7 ? {} : { asset: `A-${i}` }) },
    }),
  );
  await commit(store, devices);
  await commit(store, [
    add('ada', 'Ada Lovelace'),
    add('Grace.H', 'Ｇrace Hopper'),
    add('rené', 'Rene\u0301 Descartes'),
  ]);
  const owners = ['ada', 'grace.h', 'RENE\u0301', 'nobody', 'Ünal'];
  await commit(
    store,
    Array.from({ length: 20 }, (_, i) => bind(3 * i + 1, owners[i % 5]!)),
  );
  await commit(store, [
    setDevice(2, { note: 'Lent to Ada\nuntil May: "quoted"' }),
    setDevice(4, { note: 'GRÜSSE aus Bonn' }),
    setDevice(6, { note: 'x' }),
  ]);
}

async function namesOf(store: Store): Promise<Map<number, string | null>> {
  const persons = await Promise.all([1, 2, 3].map(number => store.person(number)));
  return new Map(persons.map((person, i) => [i + 1, person?.name ?? null]));
}

const searches = [
  ...[
    'yubikey',
    'NITROKEY',
    'YubiKey 5C',
    '"YubiKey 5C"',
    'maker:nitro',
    'model:nitro',
    'maker:"solokeys g"',
    'éclair',
    'E\u0301CLAIR',
  ],
  ...['site:Bonn', 'SITE:köln', 'tag:bonn', 'tag:site', 'bonn', 'asset:a-1', 'nn asset', 'tag:o', 'te:b'],
  ...[
    'ada',
    'person:ada',
    'lovelace',
    'person:love',
    'GRACE',
    'ｇRACE',
    'rené',
    'person:descartes',
    'ünal',
    'person:n',
  ],
  ...[
    'dev-1',
    'DEV-',
    'sn-7',
    '7',
    'x',
    'sn-7 bonn',
    'lent may',
    '"to ada"',
    '"quoted"',
    'grüsse',
    '%',
    '_',
    '100%_\\',
    'σολ',
    '\\',
  ],
  ...[
    'secret',
    'nothing',
    'maker:bonn',
    'person:yubico',
    'tag:ada',
    'maker:y model:3 tag:bonn person:a',
    '\n',
    "a'b",
    'b"o',
    'NOT',
    'a*',
  ],
];

async function allAgree(store: Store, texts: readonly string[] = searches): Promise<void> {
  const devices = await all(store, 60);
  const names = await namesOf(store);
  for (const text of texts) {
    const search = searchWords(text);
    for (const part of [{}, { status: ['ACTIVE'] }, { sortBy: 'model', descending: false, limit: 7 }] as const)
      await agree(store, devices, queryOf({ search, ...part }), names);
    const found: number[] = [];
    for await (const rows of store.scanDevices({ search })) found.push(...numbersOf(rows));
    const { rows } = await store.devices(queryOf({ search, sortBy: 'deviceId', descending: false, limit: 100 }));
    expect([text, ...found]).toEqual([text, ...numbersOf(rows)]);
  }
}

const totalOf = async (store: Store, text: string): Promise<number> =>
  (await store.devices(queryOf({ search: searchWords(text) }))).total;

/** Searches whose devices a change concerns. */
const changing = [
  'lovelace',
  'augusta',
  'ada',
  'person:countess',
  'site:',
  'bonn',
  'asset:a-',
  'lent',
  'returned',
  '1',
];

/** Rules about searches of devices. */
export const searchRules: readonly Rule[] = [
  rule('a search finds each field that contains its words, in upper or lower case', async ({ store }) => {
    await fill(store);
    await allAgree(store);
    // Once more: an engine may remember what it has found.
    await allAgree(store, changing);
    for (const text of ['yubikey', 'site:bonn', 'lovelace', 'person:rené', 'grüsse', 'asset:a-', 'sn-7'])
      expect([text, await totalOf(store, text)]).not.toEqual([text, 0]);
    expect(await totalOf(store, 'secret')).toBe(0);
  }),

  rule('a search finds what a change has made, and nothing of before', async ({ store }) => {
    await fill(store);
    await allAgree(store, changing);
    const person = (await store.person(1))!;
    await commit(store, [edit(person, { name: 'Augusta King' })!]);
    await commit(store, [
      setDevice(2, { note: null }),
      setDevice(4, { note: 'returned' }),
      setDevice(9, { tags: { site: 'Ulm' } }),
      setDevice(15, { tags: { asset: 'A-77' } }),
      bind(5, 'ada'),
      setDevice(1, { status: 'DEACTIVATED', userId: null }),
    ]);
    await allAgree(store, changing);
    expect(await totalOf(store, 'lovelace')).toBe(0);
    expect(await totalOf(store, 'augusta')).toBeGreaterThan(0);
    expect(await totalOf(store, 'site:ulm')).toBe(1);
    expect(await totalOf(store, 'lent')).toBe(0);
    const renamed = (await store.person(1))!;
    await commit(store, [edit(renamed, { name: null, userName: 'countess' })!]);
    await allAgree(store, changing);
    expect(await totalOf(store, 'augusta')).toBe(0);
    expect(await totalOf(store, 'person:countess')).toBeGreaterThan(0);
  }),

  rule('a word that thousands of texts contain finds all of their devices', async ({ store }) => {
    const count = 2300;
    for (let from = 0; from < count; from += 1150)
      await commit(
        store,
        Array.from({ length: 1150 }, (_, i) => addDevice(`S${from + i}`, { tags: { asset: `unit-${from + i}` } })),
      );
    expect(await totalOf(store, 'unit-')).toBe(count);
    expect(await totalOf(store, 'asset:unit-1 maker:f')).toBe(await totalOf(store, 'tag:unit-1'));
    expect(await totalOf(store, 't-22')).toBe(111);
    expect(await totalOf(store, 'person:u')).toBe(0);
    const { rows } = await store.devices(queryOf({ search: searchWords('unit-'), offset: 1000, limit: 3 }));
    expect(numbersOf(rows)).toEqual([1300, 1299, 1298]);
  }),
];
