import { expect } from 'vitest';
import {
  changed,
  type IdentityAdd,
  type IdentityRecord,
  identityEntry,
  lost,
  type NewIdentity,
} from '../../../daemon/identity/records.ts';
import { type Change, Conflict } from '../../../daemon/store/commit.ts';
import type { Store } from '../../../daemon/store/store.ts';
import { addDevice, commit as commitAll, type Rule, rule } from './fixtures.ts';

const commit = (store: Store, ...changes: readonly Change[]) => commitAll(store, changes);

const newIdentity = (credentialId: string, rest: Partial<NewIdentity> = {}): NewIdentity => ({
  credentialId,
  publicKey: 'a2V5',
  algorithm: -7,
  relyingParty: 'r.devmgr.invalid',
  aaguid: 'a',
  firmware: '',
  transports: ['usb', 'nfc'],
  numberSource: 'printed',
  counter: 0,
  station: '',
  ...rest,
});
/** Gives a device a credential with this id. */
export const add = (
  credentialId: string,
  device: IdentityAdd['device'],
  rest: Partial<IdentityAdd> = {},
): IdentityAdd => ({
  kind: 'identity.add',
  identity: newIdentity(credentialId),
  device,
  entry: identityEntry('bound', 'UKEY'),
  ...rest,
});
const openOf = async (store: Store, device: number): Promise<IdentityRecord> =>
  (await store.identitiesOf(device)).find(({ lostAt }) => lostAt === null)!;

/** Rules about the credentials by which keys are recognized. */
export const identityRules: readonly Rule[] = [
  rule('the credential of a key is stored with the device that the commit registers', async ({ store, reopen }) => {
    await commit(store, addDevice('S-1'), add('one', { serialNumber: 'S-1' }));
    const again = await reopen();
    expect(await again.identitiesOf(1)).toMatchObject([{ ...newIdentity('one'), device: 1, number: 1, lostAt: null }]);
    expect(await again.identityWith('one')).toMatchObject({ device: 1 });
    expect(await again.identityWith('two')).toBeNull();
    expect([...(await again.presentIdentities(['two', 'one']))]).toMatchObject([['one', { device: 1 }]]);
    expect([...(await again.devicesNumbered([2, 1]))]).toMatchObject([[1, { serialNumber: 'S-1' }]]);
    expect([...(await again.devicesWithSerial(['S-2', 'S-1']))]).toMatchObject([['S-1', { number: 1 }]]);
    expect((await again.device(1))?.version).toBe(1);
    const events = await again.events({ after: 0, limit: 10 });
    expect(events.at(-1)).toMatchObject({ type: 'DEVICE_IDENTITY', device: 1, subject: 1, data: { change: 'bound' } });
  }),

  rule('a device has one credential, and a credential one device', async ({ store }) => {
    await commit(store, addDevice('S-1'), addDevice('S-2'));
    expect(await store.anyIdentity()).toEqual([]);
    await commit(store, add('one', 1));
    expect(await store.anyIdentity()).toHaveLength(1);
    expect((await store.device(1))?.version).toBe(2);
    await expect(commit(store, add('two', 1))).rejects.toThrow(Conflict);
    await expect(commit(store, add('one', 2))).rejects.toThrow(Conflict);
    const open = await openOf(store, 1);
    await commit(store, lost(open, 'UKEY', 'replaced', 0), add('two', 1, { replaces: open.number }));
    expect(await openOf(store, 1)).toMatchObject({ credentialId: 'two' });
    // The id of a credential that was lost is not bound again.
    await expect(commit(store, add('one', 2))).rejects.toThrow(Conflict);
  }),

  rule('a change of a credential that was changed at the same time is a conflict', async ({ store }) => {
    await commit(store, addDevice('S-1'), add('one', { serialNumber: 'S-1' }));
    const open = await openOf(store, 1);
    await commit(store, changed(open, { seenAt: 5, station: 'a' }, null));
    expect((await store.device(1))?.version).toBe(1);
    await expect(commit(store, lost(open, 'UKEY', 'reset', 0))).rejects.toThrow(Conflict);
    await commit(store, changed(await openOf(store, 1), { provedAt: 1 }, identityEntry('proved', 'UKEY')));
    expect(await openOf(store, 1)).toMatchObject({ station: 'a', version: 3 });
    expect((await store.device(1))?.version).toBe(2);
  }),

  rule('candidates are those of the model, the likeliest first', async ({ store }) => {
    const places = [
      ['one', 'b', '2'],
      ['two', 'a', '1'],
      ['three', 'b', '1'],
      ['four', 'b', '2'],
    ] as const;
    for (const [index, [id, station, firmware]] of places.entries())
      await commit(
        store,
        addDevice(`S-${index}`),
        add(id, { serialNumber: `S-${index}` }, { identity: newIdentity(id, { station, firmware }) }),
      );
    await commit(
      store,
      addDevice('S-9'),
      add('x', { serialNumber: 'S-9' }, { identity: newIdentity('x', { aaguid: 'b' }) }),
    );
    const query = { relyingParty: 'r.devmgr.invalid', aaguid: 'a', firmware: '2', station: 'a', portion: 1 };
    const idsOf = async (rest: object = {}) =>
      (await store.identityCandidates({ ...query, ...rest })).map(({ credentialId }) => credentialId);
    expect(await idsOf()).toEqual(['two', 'four', 'one', 'three']);
    expect(await store.identityCandidates(query)).toContainEqual({
      credentialId: 'two',
      device: 2,
      serialNumber: 'S-1',
    });
    expect(await idsOf({ relyingParty: 'another' })).toEqual([]);
    await commit(store, lost(await openOf(store, 2), 'UKEY', 'reset', 0));
    expect(await idsOf()).toEqual(['four', 'one', 'three']);
  }),
];
