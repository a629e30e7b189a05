import { expect } from 'vitest';
import type { NewReceipt } from '../../../daemon/receipts/records.ts';
import { overdueLoans } from '../../../daemon/receipts/work.ts';
import { type Change, Conflict } from '../../../daemon/store/commit.ts';
import type { Store } from '../../../daemon/store/store.ts';
import { receiptText } from '../../../src/contract/receipts/text.ts';
import { addDevice, commit as commitAll, type Rule, rule, setDevice } from './fixtures.ts';

const commit = (store: Store, ...changes: readonly Change[]) => commitAll(store, changes);

const receiptOf = (receiptId: string, device: number, rest: Partial<NewReceipt> = {}): NewReceipt => ({
  receiptId,
  device,
  kind: 'handover',
  text: `devmgr receipt 1\nname: Zoë 王 ${receiptId}`,
  credentialId: 'aWQ',
  authenticatorData: 'ZGF0YQ',
  signature: 'c2ln',
  publicKey: '-----BEGIN PUBLIC KEY-----',
  proof: { proofId: 'one', grade: 'model', provedAt: '2026-11-23T00:00:00.000Z', attestation: '{}', challenge: 'Yw' },
  openUntil: null,
  ...rest,
});
const entry = { type: 'RECEIPT_SIGNED', data: { receiptId: 'RCT-A' } } as const;
const add = (receipt: NewReceipt): Change => ({ kind: 'receipt.add', receipt, entry });
const loan = (receiptId: string, device: number, openUntil: number) =>
  add(receiptOf(receiptId, device, { kind: 'loan', openUntil }));
const loanText = receiptText({
  receiptId: 'RCT-A',
  kind: 'loan',
  registryId: 'r',
  deviceId: 'DEV-1',
  serialNumber: 'S-1',
  lot: null,
  person: 'ada',
  name: 'Ada Lovelace',
  date: '2026-11-23T00:00:00.000Z',
  dueAt: '1970-01-01T00:00:05.000Z',
  terms: 'x',
});
const announce = (receipt: number): Change => ({ kind: 'loan.announce', receipt, entry: { type: 'LOAN_OVERDUE' } });

const window = { descending: false, offset: 0, limit: 100 };
const idsOf = async (store: Store, filter: Parameters<Store['receipts']>[0] | object) => {
  const { rows, total } = await store.receipts({ ...window, ...filter });
  expect(total).toBe(rows.length);
  return rows.map(({ receiptId }) => receiptId);
};

/** Rules about receipts. */
export const receiptRules: readonly Rule[] = [
  rule('a receipt is stored as given, once', async ({ store, reopen }) => {
    await commit(store, addDevice('S-1'));
    const receipt = receiptOf('RCT-A', 1);
    expect((await commit(store, add(receipt)))[0]).toMatchObject({ kind: 'added', number: 1 });
    expect((await commit(store, add({ ...receipt, text: 'other' })))[0]).toMatchObject({
      kind: 'duplicate',
      number: 1,
    });
    const again = await reopen();
    const stored = { ...receipt, number: 1, announceAt: null, closedBy: null };
    expect(await again.receipt('RCT-A')).toMatchObject(stored);
    expect(await again.receiptNumbered(1)).toMatchObject(stored);
    expect(await again.receipt('RCT-B')).toBeNull();
    const events = await again.events({ after: 0, limit: 10 });
    expect(events.at(-1)).toMatchObject({ type: 'RECEIPT_SIGNED', device: 1, subject: 1 });
    expect(JSON.stringify(events)).not.toContain('Zoë');
  }),

  rule('a receipt ends the open loans of its device, and of no other', async ({ store }) => {
    await commit(store, addDevice('S-1'), addDevice('S-2'));
    await commit(store, loan('RCT-A', 1, 5_000), loan('RCT-B', 2, 6_000));
    expect(await idsOf(store, { overdueAt: 4_999 })).toEqual([]);
    expect(await idsOf(store, { overdueAt: 5_000 })).toEqual(['RCT-A']);
    expect(await idsOf(store, { overdueAt: 6_000 })).toEqual(['RCT-A', 'RCT-B']);
    expect(await idsOf(store, { overdueAt: 6_000, device: 2 })).toEqual(['RCT-B']);
    await commit(store, add(receiptOf('RCT-C', 1, { kind: 'return' })));
    expect(await idsOf(store, { overdueAt: 6_000 })).toEqual(['RCT-B']);
    expect(await idsOf(store, { unannouncedAt: 6_000 })).toEqual(['RCT-B']);
    expect(await store.receipt('RCT-A')).toMatchObject({ closedBy: 3, openUntil: null, announceAt: null });
    expect(await idsOf(store, { device: 1 })).toEqual(['RCT-A', 'RCT-C']);
    // Two loans of one transaction: the second one ends the first.
    await commit(store, loan('RCT-D', 1, 7_000), loan('RCT-E', 1, 8_000));
    expect(await idsOf(store, { overdueAt: 9_000, device: 1 })).toEqual(['RCT-E']);
  }),

  rule('a device that was sent has arrived with its next receipt that is not a return', async ({ store }) => {
    await commit(store, addDevice('S-1'), addDevice('S-2'));
    await commit(store, setDevice(1, { shippedAt: 5, receivedAt: null }));
    await commit(store, add(receiptOf('RCT-A', 1, { kind: 'return' })), add(receiptOf('RCT-B', 2)));
    expect(await store.device(1)).toMatchObject({ shippedAt: 5, receivedAt: null, version: 2 });
    expect(await store.device(2)).toMatchObject({ shippedAt: null, receivedAt: null, version: 1 });
    await commit(store, add(receiptOf('RCT-C', 1)));
    const { receivedAt, ...arrived } = (await store.device(1))!;
    expect(receivedAt).toBe((await store.receipt('RCT-C'))!.createdAt);
    expect(arrived).toMatchObject({ shippedAt: 5, version: 3 });
    await commit(store, add(receiptOf('RCT-D', 1)));
    expect(await store.device(1)).toMatchObject({ receivedAt, version: 3 });
  }),

  rule('devices on their way are counted and paged by the time at which they were sent', async ({ store, reopen }) => {
    const numbers = [1, 2, 3, 4, 5, 6];
    await commit(store, ...numbers.map(number => addDevice(`S-${number}`)));
    const sent = (number: number, shippedAt: number | null) => setDevice(number, { status: 'ACTIVE', shippedAt });
    await commit(store, sent(1, 7), sent(2, 5), sent(3, 5), sent(4, 5), sent(5, null), sent(6, 9));
    await commit(store, add(receiptOf('RCT-A', 3)), setDevice(4, { status: 'LOCKED' }));
    const ways = async (of: Store) => [
      await of.shipmentCount(8),
      await of.shipments(8, { shippedAt: 0, number: 0 }, 10),
      await of.shipments(8, { shippedAt: 5, number: 1 }, 1),
      await of.shipments(9, { shippedAt: 5, number: 2 }, 10),
    ];
    const [first, second, third] = [
      { number: 2, shippedAt: 5 },
      { number: 1, shippedAt: 7 },
      { number: 6, shippedAt: 9 },
    ];
    const expected = [2, [first, second], [first], [second, third]];
    expect(await ways(store)).toEqual(expected);
    expect(await ways(await reopen())).toEqual(expected);
  }),

  rule('a loan is announced once, and stays overdue', async ({ store }) => {
    await commit(store, addDevice('S-1'));
    await commit(store, loan('RCT-A', 1, 5_000));
    await commit(store, announce(1));
    await expect(commit(store, announce(1))).rejects.toThrow(Conflict);
    await expect(commit(store, announce(2))).rejects.toThrow(Conflict);
    expect(await idsOf(store, { unannouncedAt: 9_000 })).toEqual([]);
    expect(await idsOf(store, { overdueAt: 9_000 })).toEqual(['RCT-A']);
    await commit(store, add(receiptOf('RCT-B', 1)));
    await expect(commit(store, announce(2))).rejects.toThrow(Conflict);
  }),

  rule('a loan of a deactivated device is not overdue', async ({ store }) => {
    await commit(store, addDevice('S-1'));
    await commit(store, loan('RCT-A', 1, 5_000));
    await commit(store, setDevice(1, { status: 'DEACTIVATED' }));
    expect(await idsOf(store, { overdueAt: 9_000 })).toEqual([]);
    expect(await idsOf(store, { unannouncedAt: 9_000 })).toEqual([]);
    expect(await idsOf(store, { device: 1 })).toEqual(['RCT-A']);
  }),

  rule('an overdue loan is announced once, by one of two daemons, also if the clock jumps', async opened => {
    const { store } = opened;
    let now = 0;
    const turn = new AbortController().signal;
    const daemonOn = (handle: Store) => overdueLoans({ store: handle, now: () => now });
    const [one, other] = [daemonOn(store), daemonOn((await opened.openAnother?.()) ?? store)];
    await commit(store, addDevice('S-1'));
    await commit(store, add(receiptOf('RCT-A', 1, { kind: 'loan', text: loanText, openUntil: 5_000 })));
    const announced = async () => {
      const events = await store.events({ after: 0, limit: 100 });
      return events.filter(({ type }) => type === 'LOAN_OVERDUE').map(({ data }) => data);
    };
    now = 4_999;
    await one.look(turn);
    expect(await announced()).toEqual([]);
    now = 10 ** 12;
    await Promise.allSettled([one.look(turn), other.look(turn)]);
    const dueAt = '1970-01-01T00:00:05.000Z';
    expect(await announced()).toEqual([expect.objectContaining({ receiptId: 'RCT-A', dueAt })]);
    for (const at of [0, 5_000, 10 ** 13]) {
      now = at;
      await one.look(turn);
      await other.look(turn);
    }
    expect(await announced()).toHaveLength(1);
    expect(JSON.stringify(await announced())).not.toContain('Ada');
  }),

  rule('the stored answers of a key are found by its serial number', async ({ store }) => {
    expect(await store.proofsOf('S-1')).toEqual([]);
  }),
];
