import { expect } from 'vitest';
import { proofDigest } from '../../../daemon/devices/digest.ts';
import type { StoredProof } from '../../../daemon/devices/proof.ts';
import type { DeviceFilter } from '../../../daemon/devices/queries.ts';
import { pinIn, setPin } from '../../../daemon/issuing/pin.ts';
import { answerDigest, type ProofRecord } from '../../../daemon/proofs/records.ts';
import { type Change, Conflict } from '../../../daemon/store/commit.ts';
import { replace } from '../../../daemon/store/document.ts';
import type { Store } from '../../../daemon/store/store.ts';
import type { ProofGrade } from '../../../src/contract/key-values.ts';
import { addDevice, commit, queryOf, type Rule, rule, setDevice } from './fixtures.ts';

const AAGUID = '11111111-2222-4333-8444-555555555555';

/** An answer, and the text that a device gets from it. */
export function answerOf(proofId: string, serialNumber: string, rest: Partial<ProofRecord> = {}): ProofRecord {
  const answer = {
    proofId,
    serialNumber,
    createdAt: 1_000,
    receivedBy: 'admin',
    registryId: 'registry',
    challenge: 'Y2hhbGxlbmdl',
    ephemeralKey: 'a2V5',
    described: null,
    claims: '{"firmware":"5.7.4"}',
    evidence: '{"method":"fido"}',
    evidenceDigest: `digest of ${proofId}`,
    ...rest,
  };
  return { proof: textOf(answer, 'model'), ...answer };
}

/** The value of the column of a device. */
export function textOf(
  answer: Omit<ProofRecord, 'proof'>,
  grade: ProofGrade,
  advisories: readonly string[] = [],
): string {
  const nothing = { method: null, model: null, firmware: null, serial: null, root: null, metadataNumber: null };
  const proof = { ...nothing, grade, aaguid: AAGUID, provedAt: null, warnings: [] };
  const { proofId } = answer;
  const hasEvidence = answer.evidence !== null;
  const stored: StoredProof = { proof, rule: null, advisories, proofId, answer: answerDigest(answer), hasEvidence };
  return JSON.stringify(stored);
}

const add = (proof: ProofRecord, isRegistered = false): Change => ({
  kind: 'proof.add',
  proof,
  isRegistered,
  entry: isRegistered ? null : { type: 'PROOF_RECEIVED' },
});

/** Gives a device a proof. */
export function proveDevice(device: number, text: string): Change {
  const change = setDevice(device, { proof: text });
  return { ...change, entry: { type: 'DEVICE_PROVED', detail: { proofDigest: proofDigest(text) } } };
}

const numbersOf = async (store: Store, filter: DeviceFilter) => {
  const { rows, total } = await store.devices(queryOf({ ...filter, sortBy: 'deviceId', descending: false }));
  expect(total).toBe(rows.length);
  const scanned: number[] = [];
  for await (const batch of store.scanDevices(filter)) scanned.push(...batch.map(({ number }) => number));
  expect(scanned).toEqual(rows.map(({ number }) => number));
  return scanned;
};

/** Rules about proofs of keys and about documents. */
export const proofRules: readonly Rule[] = [
  rule('an answer of a key that a commit right before it registers is refused', async ({ store }) => {
    const many = Array.from({ length: 20 }, (_, n) => addDevice(`SN-${n}`));
    const [, answered] = await Promise.allSettled([commit(store, many), commit(store, [add(answerOf('P1', 'SN-19'))])]);
    expect(answered).toMatchObject({ reason: expect.any(Conflict) });
    expect(await store.proof('P1')).toBeNull();
  }),

  rule('an answer is stored as given, once for each challenge', async ({ store, reopen }) => {
    const answer = answerOf('P1', 'A');
    expect(await store.proof('P1')).toBeNull();
    await commit(store, [add(answer)]);
    expect(await store.proof('P1')).toEqual(answer);
    await expect(commit(store, [add(answerOf('P1', 'B'))])).rejects.toThrow(Conflict);
    expect(await (await reopen()).proof('P1')).toEqual(answer);
  }),

  rule(
    'an answer for a serial number that was registered since the check is not stored beside the device',
    async ({ store }) => {
      await commit(store, [addDevice('A')]);
      await expect(commit(store, [add(answerOf('P1', 'A'))])).rejects.toThrow(Conflict);
      await commit(store, [add(answerOf('P1', 'A'), true)]);
      await commit(store, [add(answerOf('P2', 'B')), addDevice('B')]);
      expect((await store.proof('P2'))?.serialNumber).toBe('B');
    },
  ),

  rule('the last answer of a serial number is found, evidence before claims', async ({ store }) => {
    await commit(store, [add(answerOf('P1', 'A')), add(answerOf('P2', 'A')), add(answerOf('P3', 'B'))]);
    await commit(store, [add(answerOf('P4', 'A', { evidence: null, evidenceDigest: null }))]);
    const found = await store.latestProofs(['A', 'B', 'C']);
    expect([...found].map(([serial, { proofId }]) => [serial, proofId]).sort()).toEqual([
      ['A', 'P2'],
      ['B', 'P3'],
    ]);
    expect(found.get('B')).toMatchObject({ serialNumber: 'B', createdAt: 1_000 });
    expect([...(await store.latestProofs([]))]).toEqual([]);
  }),

  rule('evidence is recognized in answers to other challenges', async ({ store }) => {
    await commit(store, [add(answerOf('P1', 'A'))]);
    expect(await store.hasEvidence('digest of P1', 'P2')).toBe(true);
    expect(await store.hasEvidence('digest of P1', 'P1')).toBe(false);
    expect(await store.hasEvidence('another', 'P2')).toBe(false);
  }),

  rule('of a serial number the last four answers are kept, but all to recent challenges', async ({ store }) => {
    const at = 10_000_000;
    const ids = ['P1', 'P2', 'P3', 'P4', 'P5', 'P6'];
    for (const id of ids) await commit(store, [add(answerOf(id, 'A', { createdAt: at }))], { at });
    const kept = async () => {
      const found = await Promise.all(ids.map(id => store.proof(id)));
      return found.flatMap(answer => answer?.proofId ?? []);
    };
    expect(await kept()).toEqual(ids);
    await commit(store, [add(answerOf('P7', 'A', { createdAt: 2 * at }))], { at: 2 * at });
    expect(await kept()).toEqual(['P4', 'P5', 'P6']);
  }),

  rule('answers for serial numbers that are not registered expire', async ({ store }) => {
    await commit(store, [add(answerOf('P1', 'A', { createdAt: 5 })), add(answerOf('P2', 'B', { createdAt: 5 }))]);
    await commit(store, [addDevice('B'), add(answerOf('P3', 'C')), add(answerOf('P4', 'D')), add(answerOf('P5', 'E'))]);
    await commit(store, [{ kind: 'proof.expire', until: 6, total: 2 }]);
    const found = await Promise.all(['P1', 'P2', 'P3', 'P4', 'P5'].map(id => store.proof(id)));
    expect(found.map(answer => answer?.proofId ?? null)).toEqual([null, 'P2', null, 'P4', 'P5']);
  }),

  rule('lists and scans find devices by grade, AAGUID and advisory', async ({ store, reopen }) => {
    const text = (id: string, grade: ProofGrade, advisories?: string[]) => textOf(answerOf(id, id), grade, advisories);
    await commit(store, [
      addDevice('A'),
      addDevice('B', { proof: text('P2', 'unit') }),
      addDevice('C'),
      addDevice('D'),
    ]);
    await commit(store, [proveDevice(3, text('P3', 'model', ['YSA-2024-03'])), proveDevice(4, text('P4', 'failed'))]);
    const check = async (handle: Store) => {
      expect(await numbersOf(handle, { proof: ['unit'] })).toEqual([2]);
      expect(await numbersOf(handle, { proof: ['none'] })).toEqual([1]);
      expect(await numbersOf(handle, { proof: ['model', 'none', 'claimed'] })).toEqual([1, 3]);
      expect(await numbersOf(handle, { aaguid: AAGUID })).toEqual([2, 3, 4]);
      expect(await numbersOf(handle, { aaguid: 'another' })).toEqual([]);
      expect(await numbersOf(handle, { advisory: 'YSA-2024-03', proof: ['model'] })).toEqual([3]);
      expect(await numbersOf(handle, { advisory: 'YSA-2024-03', status: ['ACTIVE'] })).toEqual([]);
      expect((await handle.device(2))?.proof).toBe(text('P2', 'unit'));
    };
    await check(store);
    await check(await reopen());
  }),

  rule('lists follow a proof that changes', async ({ store }) => {
    const text = (grade: ProofGrade, advisories?: string[]) => textOf(answerOf('P1', 'A'), grade, advisories);
    await commit(store, [addDevice('A'), addDevice('B')]);
    await commit(store, [proveDevice(1, text('model', ['YSA-2024-03']))]);
    expect(await numbersOf(store, { advisory: 'YSA-2024-03' })).toEqual([1]);
    await commit(store, [proveDevice(1, text('unit'))]);
    expect(await numbersOf(store, { advisory: 'YSA-2024-03' })).toEqual([]);
    expect(await numbersOf(store, { proof: ['model'] })).toEqual([]);
    expect(await numbersOf(store, { proof: ['unit'] })).toEqual([1]);
  }),

  rule('a document is replaced from the version that was read', async ({ store, reopen }) => {
    const set = (version: number, value: string) =>
      replace({ name: 'trust', version }, value, { type: 'TRUST_IMPORTED', detail: {} });
    expect(await store.document('trust')).toBeNull();
    expect(await store.documentVersion('trust')).toBe(0);
    await commit(store, [set(0, 'one')]);
    await expect(commit(store, [set(0, 'other')])).rejects.toThrow(Conflict);
    await commit(store, [set(1, 'two')]);
    const again = await reopen();
    expect(await again.document('trust')).toEqual({ name: 'trust', version: 2, value: 'two' });
    expect(await again.documentVersion('trust')).toBe(2);
    expect(await again.documentVersion('metadata')).toBe(0);
  }),

  rule('the sealed PIN of a device is removed in the commit that retires it', async ({ store, reopen }) => {
    const pin = { sealed: 'YWdl', storedAt: 1, openedAt: null, earlier: [] };
    await commit(store, [addDevice('A'), addDevice('B')]);
    await commit(
      store,
      [1, 2].map(device => setPin(device, 0, pin, { type: 'PIN_STORED' })),
    );
    await commit(store, [setDevice(1, { status: 'LOCKED' })]);
    expect(pinIn(await store.document('pin:1'))).toEqual(pin);
    await commit(store, [setDevice(1, { status: 'DEACTIVATED' })]);
    const again = await reopen();
    expect(await again.document('pin:1')).toEqual({ name: 'pin:1', version: 2, value: 'null' });
    expect(pinIn(await again.document('pin:2'))).toEqual(pin);
  }),

  rule('a guard holds the version of a document', async ({ store }) => {
    const guards = [{ kind: 'document', name: 'proof-policy', version: 0 }] as const;
    await commit(store, [addDevice('A')], { guards });
    await commit(store, [replace({ name: 'proof-policy', version: 0 }, '{}', { type: 'PROOF_POLICY_SET' })]);
    await expect(commit(store, [addDevice('B')], { guards })).rejects.toThrow(Conflict);
    await commit(store, [addDevice('B')], { guards: [{ ...guards[0], version: 1 }] });
  }),

  rule('a guard on the answers of a key refuses a commit after one was stored', async ({ store }) => {
    const guarded = (serialNumber: string) => ({ guards: [{ kind: 'unanswered', serialNumber }] as const });
    await commit(store, [addDevice('A')], guarded('A'));
    await commit(store, [add(answerOf('P1', 'B'))]);
    await expect(commit(store, [addDevice('B')], guarded('B'))).rejects.toThrow(Conflict);
    await commit(store, [addDevice('C')], guarded('C'));
    expect([...(await store.devicesBySerial(['A', 'B', 'C'])).keys()].sort()).toEqual(['A', 'C']);
    await commit(store, [{ kind: 'proof.expire', until: 2_000, total: 10 }]);
    await commit(store, [addDevice('B')], guarded('B'));
  }),

  rule('a guard on answers sees one of the same transaction', async ({ store }) => {
    const guards = [{ kind: 'unanswered', serialNumber: 'A' }] as const;
    await commit(store, [addDevice('B')], { guards });
    const [stored, added] = await Promise.allSettled([
      commit(store, [add(answerOf('P1', 'A'))]),
      commit(store, [addDevice('A')], { guards }),
    ]);
    expect([stored.status, added.status]).toEqual(['fulfilled', 'rejected']);
  }),
];
