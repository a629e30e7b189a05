/** Receipts over the interface: what a key signs, and what is refused. */
import { createPublicKey } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { checkReceipt, readPublicKey, receiptHash } from '../../src/contract/receipts/check.ts';
import { readReceiptText, receiptText } from '../../src/contract/receipts/text.ts';
import type { Receipt } from '../../src/contract/receipts.ts';
import { adminPassword, startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { data, deviceIn, freshSerial, register } from '../support/fleet.ts';
import { IdentityKey, identityChallenge } from '../support/identity-key.ts';
import { provedDevice, ReceiptKey, receiptOf, signedBy, terms, trustReceiptKeys } from '../support/receipt-key.ts';
import { itAnswersLikeExamples } from '../support/recorded-examples.ts';
import { authenticatorRoot } from '../support/test-authenticator.ts';

let daemon: TestDaemon;
let dealer: string;
beforeAll(async () => {
  daemon = await startTestDaemon();
  dealer = (await daemon.user('receipts-dealer', 'DEALER')).token;
  await trustReceiptKeys(daemon);
});
afterAll(() => daemon?.stop());

const soon = () => new Date(Date.now() + 86_400_000).toISOString();
const create = (body: object, token?: string) =>
  daemon.call('POST', '/api/receipts', { kind: 'handover', terms, ...body }, token === undefined ? {} : { token });
const submit = (path: string, body: object, token?: string) =>
  daemon.call('POST', path, body, token === undefined ? {} : { token });
const listed = async (query: string): Promise<Receipt[]> =>
  data(await daemon.call('GET', `/api/receipts/list?${query}`)).list;
const act = (deviceId: string, operation: string, body: object) =>
  daemon.call('POST', `/api/devices/${deviceId}/${operation}`, body);

describe('a receipt', () => {
  it('states person, serial number, lot, date and terms, and verifies with one public key', async () => {
    data(await daemon.call('POST', '/api/people', { userName: 'receipts.zoë', name: 'Zoë  王' }));
    const device = await register(daemon, { tags: { lot: '7' } });
    const { deviceId, activationCode, serialNumber } = device;
    data(await daemon.call('POST', '/api/devices/activate', { deviceId, activationCode, userId: 'receipts.zoë' }));
    const key = new ReceiptKey();
    await key.prove(daemon, serialNumber);
    const { path, made, body } = await signedBy(daemon, key, { deviceId, terms: 'One.\nTwo: 2' });
    expect(made.challenge).toBe(receiptHash(made.text).toString('base64url'));
    const stored: Receipt = data(await submit(path, body));
    const facts = {
      kind: 'handover',
      deviceId,
      serialNumber,
      lot: '7',
      person: 'receipts.zoë',
      name: 'Zoë 王',
      dueAt: null,
    };
    expect(stored).toMatchObject({ ...facts, receiptId: made.receiptId, terms: 'One.\nTwo: 2', closedBy: null });
    expect(data(await daemon.call('GET', path))).toEqual(stored);
    expect(await listed(`deviceId=${deviceId}`)).toMatchObject([{ receiptId: made.receiptId, ...facts }]);
    expect(checkReceipt(stored, createPublicKey(stored.publicKey))).toMatchObject(facts);
  });

  it('is not stored before the key has signed', async () => {
    const { deviceId } = await deviceIn('ACTIVE', daemon);
    const { receiptId, credentials } = data(await create({ deviceId }));
    expect(credentials).toEqual([]);
    expect(receiptId).toMatch(/^RCT-[A-Z2-9]{20}$/);
    expect(await daemon.call('GET', `/api/receipts/${receiptId}`)).toMatchObject({ status: 404, code: 404 });
  });

  it('is signed once: of two simultaneous submissions one is stored', async () => {
    const { deviceId, key } = await provedDevice(daemon);
    const { path, body } = await signedBy(daemon, key, { deviceId });
    const answers = await Promise.all([submit(path, body), submit(path, body)]);
    expect(answers.map(({ code }) => code).sort()).toEqual([1001, 200].sort());
    expect(await submit(path, body)).toMatchObject({ code: 1001, message: expect.stringContaining('signed before') });
  });

  it('is written by U2F keys that support FIDO2 too', async () => {
    const { deviceId, serialNumber } = await deviceIn('ACTIVE', daemon);
    const u2fRoot = authenticatorRoot('Test root of U2F');
    await trustReceiptKeys(daemon, u2fRoot, '');
    const key = new ReceiptKey({ root: u2fRoot, certifiedAaguid: null });
    expect(await key.prove(daemon, serialNumber, { u2f: true })).toMatchObject({ grade: 'model', method: 'u2f' });
    expect(await receiptOf(daemon, key, { deviceId })).toMatchObject({ proof: { grade: 'model' } });
  });

  it.each([
    ['handover', { INACTIVE: 1001, ACTIVE: 200, LOCKED: 2004, DEACTIVATED: 2005 }],
    ['return', { INACTIVE: 1001, ACTIVE: 200, LOCKED: 200, DEACTIVATED: 1001 }],
  ] as const)('%s is refused by the state of the device', async (kind, codes) => {
    for (const [state, code] of Object.entries(codes)) {
      const { deviceId } = await deviceIn(state as keyof typeof codes, daemon);
      expect([state, (await create({ deviceId, kind })).code]).toEqual([state, code]);
    }
  });

  it('of a device that was deactivated after its handover can be a return', async () => {
    const { deviceId, key } = await provedDevice(daemon);
    await receiptOf(daemon, key, { deviceId });
    data(await act(deviceId, 'deactivate', { reason: 'leaver', confirmPassword: adminPassword }));
    expect(await receiptOf(daemon, key, { deviceId, kind: 'return' })).toMatchObject({ kind: 'return' });
  });

  it.each([
    ['no terms', { terms: ' ' }, 'terms'],
    ['terms that are too long', { terms: 'x'.repeat(1001) }, 'terms'],
    ['an unknown kind', { kind: 'sale' }, 'kind'],
    ['a handover with an end', { dueAt: soon() }, 'dueAt'],
    ['a loan without an end', { kind: 'loan' }, 'dueAt'],
    ['a loan with a day instead of a time', { kind: 'loan', dueAt: '2030-01-01' }, 'dueAt'],
    ['a loan whose end is in the year 10000 in UTC', { kind: 'loan', dueAt: '9999-12-31T23:59:59-01:00' }, 'dueAt'],
    ['a loan that ended', { kind: 'loan', dueAt: '2020-01-01T00:00:00Z' }, 'dueAt'],
  ])('with %s is 1001 and names the field', async (_what, body, field) => {
    const { deviceId } = await deviceIn('ACTIVE', daemon);
    // The body is checked before the device is read.
    for (const device of [deviceId, 'DEV-999999'])
      expect(await create({ deviceId: device, ...body })).toMatchObject({
        code: 1001,
        message: expect.stringContaining(field),
      });
  });

  it('of an unknown device is 2001', async () => {
    expect(await create({ deviceId: 'DEV-999999' })).toMatchObject({ code: 2001 });
    expect(await daemon.call('GET', '/api/receipts/list?deviceId=DEV-999999')).toMatchObject({ code: 2001 });
  });
});

describe('a receipt is not forged', () => {
  it('by a change of any character of the text, any byte of the data or of the signature', async () => {
    const { deviceId, key } = await provedDevice(daemon);
    const stored = await receiptOf(daemon, key, { deviceId });
    const publicKey = createPublicKey(stored.publicKey);
    const changed = (text: string, at: number) =>
      text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1);
    for (const field of ['text', 'authenticatorData', 'signature'] as const)
      for (let at = 0; at < stored[field].length; at++)
        expect([field, at, typeof checkReceipt({ ...stored, [field]: changed(stored[field], at) }, publicKey)]).toEqual(
          [field, at, 'string'],
        );
    const bytes = Buffer.from(stored.signature, 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const flipped = Buffer.from(bytes);
      flipped[bit >> 3]! ^= 1 << (bit & 7);
      expect(typeof checkReceipt({ ...stored, signature: flipped.toString('base64url') }, publicKey)).toBe('string');
    }
  });

  it('over the interface: text, caller, credential and signature must be those of the request', async () => {
    const { deviceId, key } = await provedDevice(daemon);
    const { path, body } = await signedBy(daemon, key, { deviceId });
    const other = await signedBy(daemon, key, { deviceId, terms: 'other terms' });
    const refused = async (change: object, code: number, at = path, token?: string) =>
      expect((await submit(at, { ...body, ...change }, token)).code).toBe(code);
    await refused({ text: body.text.replace('handover', 'return') }, 404);
    await refused({ text: other.body.text }, 404);
    await refused({}, 404, other.path);
    await refused({}, 404, path, dealer);
    await refused({ signature: other.body.signature }, 1001);
    await refused({ credentialId: 'AAAA' }, 1001);
    await refused({ signature: 'A'.repeat(1000) }, 1001);
    await refused({ text: 'x'.repeat(4001) }, 1001);
    expect(await listed(`deviceId=${deviceId}`)).toEqual([]);
    expect((await submit(path, body)).code).toBe(200);
  });

  it('without a key, by a key that is not proved, or by a credential made in software', async () => {
    const { deviceId, serialNumber } = await deviceIn('ACTIVE', daemon);
    const software = new ReceiptKey({ root: authenticatorRoot('A maker that no one trusts') });
    expect((await software.prove(daemon, serialNumber)).grade).toBe('failed');
    expect(data(await create({ deviceId })).credentials).toEqual([]);
  });

  it('by another key: a return is signed with the credential of the handover', async () => {
    const { deviceId, serialNumber, key } = await provedDevice(daemon);
    await receiptOf(daemon, key, { deviceId });
    const second = new ReceiptKey();
    await second.prove(daemon, serialNumber);
    const { credentials } = data(await create({ deviceId, kind: 'return' }));
    expect(credentials).toHaveLength(1);
    expect(second.sign('text', credentials)).toBeNull();
    // A DEALER cannot replace the key; an ADMIN answers for it.
    expect(data(await create({ deviceId }, dealer)).credentials).toEqual(credentials);
    expect(data(await create({ deviceId })).credentials).toHaveLength(2);
    expect(await receiptOf(daemon, second, { deviceId })).toMatchObject({ kind: 'handover' });
  });

  it('the credential of the last receipt stays known when newer proofs have replaced its own', async () => {
    const { deviceId, serialNumber, key } = await provedDevice(daemon);
    const { credentialId } = await receiptOf(daemon, key, { deviceId });
    for (let i = 0; i < 6; i++) await new ReceiptKey().prove(daemon, serialNumber);
    expect(data(await create({ deviceId, kind: 'return' })).credentials).toEqual([credentialId]);
  });

  it('a key that proves its serial number replaces another one without an ADMIN', async () => {
    const serialNumber = String(60_000_000 + (process.pid % 1_000_000));
    const device = await register(daemon, { serialNumber });
    const { deviceId, activationCode } = device;
    data(await daemon.call('POST', '/api/devices/activate', { deviceId, activationCode, userId: 'alice' }));
    const octets = Buffer.alloc(4);
    octets.writeUInt32BE(Number(serialNumber));
    const key = new ReceiptKey({ serialOctets: octets });
    expect((await key.prove(daemon, serialNumber)).grade).toBe('unit');
    await receiptOf(daemon, key, { deviceId });
    await key.prove(daemon, serialNumber);
    expect(data(await create({ deviceId }, dealer)).credentials).toHaveLength(2);
  });

  it('with a lone surrogate in the place of a replacement character, which has the same bytes', async () => {
    const { deviceId, key } = await provedDevice(daemon);
    const stored = await receiptOf(daemon, key, { deviceId, terms: 'as agreed \ufffd' });
    const publicKey = createPublicKey(stored.publicKey);
    expect(checkReceipt(stored, publicKey)).toMatchObject({ terms: 'as agreed \ufffd' });
    const text = stored.text.replace('\ufffd', '\ud800');
    expect(receiptHash(text)).toEqual(receiptHash(stored.text));
    expect(checkReceipt({ ...stored, text }, publicKey)).toBe('the text is not the text of a receipt');
  });

  it('after a clock that was ahead is set back', async () => {
    const { deviceId, key } = await provedDevice(daemon);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
    const early = await signedBy(daemon, key, { deviceId }).finally(() => vi.useRealTimers());
    const answer = await submit(early.path, early.body);
    expect(answer).toMatchObject({ code: 1001, message: expect.stringContaining('expired') });
  });

  it('after five minutes, or for another person', async () => {
    const { deviceId, key } = await provedDevice(daemon);
    const late = await signedBy(daemon, key, { deviceId });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 5 * 60_000 + 1000 });
    try {
      const answer = await submit(late.path, late.body);
      expect(answer).toMatchObject({ code: 1001, message: expect.stringContaining('expired') });
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('a proof for a receipt', () => {
  it('does not replace a proof with grade model or unit', async () => {
    const { deviceId, key, serialNumber } = await provedDevice(daemon);
    const before = data(await daemon.call('GET', `/api/devices/${deviceId}`)).proof;
    expect(before.grade).toBe('model');
    await key.prove(daemon, serialNumber);
    expect(data(await daemon.call('GET', `/api/devices/${deviceId}`)).proof).toEqual(before);
    expect(data(await create({ deviceId })).credentials).toHaveLength(2);
  });
});

describe('a loan', () => {
  it('is closed by the next receipt of its device', async () => {
    const { deviceId, key } = await provedDevice(daemon);
    const loan = await receiptOf(daemon, key, { deviceId, kind: 'loan', dueAt: soon() });
    const back = await receiptOf(daemon, key, { deviceId, kind: 'return' });
    expect(data(await daemon.call('GET', `/api/receipts/${loan.receiptId}`)).closedBy).toBe(back.receiptId);
  });
});

describe('the text', () => {
  const facts = {
    receiptId: 'RCT-A',
    kind: 'loan',
    registryId: 'r',
    deviceId: 'DEV-1',
    serialNumber: 'S',
    lot: null,
    person: 'ada',
    name: null,
    date: '2026-11-23T00:00:00.000Z',
    dueAt: '2027-01-01T00:00:00.000Z',
    terms: 'terms:\ndevice: DEV-2',
  } as const;

  it('has one form for its facts, and one meaning', () => {
    const text = receiptText(facts);
    expect(readReceiptText(text)).toEqual(facts);
    for (const wrong of [
      `${text}\n`.replace('kind', 'Kind'),
      text.replace('\n', '\r\n'),
      text.replace('loan', 'sale'),
      '',
    ])
      expect(readReceiptText(wrong)).toBeNull();
  });

  it('reads hostile texts within bounds', () => {
    for (const text of [
      '\n'.repeat(4000),
      'kind: '.repeat(600),
      'devmgr receipt 1\nkind: loan',
      '\u0000',
      '🔑'.repeat(999),
    ])
      expect(readReceiptText(text)).toBeNull();
    expect(readPublicKey('-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----')).toBeNull();
    expect(freshSerial()).not.toBe('');
  });
});

describe('a key that is recognized by a credential', () => {
  /** An ACTIVE device, its key, and a receipt that the key signs. */
  async function recognized(as?: string) {
    const key = new IdentityKey();
    const { deviceId, activationCode, serialNumber } = await key.enroll(daemon, {}, {}, as);
    data(await daemon.call('POST', '/api/devices/activate', { deviceId, activationCode, userId: 'ida' }));
    const signed = async (kind: string, by: IdentityKey, token?: string) => {
      const made = data(await create({ deviceId, kind }, token));
      const body = { text: made.text, ...by.signHash(made.relyingParty, receiptHash(made.text)) };
      return { made, answer: await submit(`/api/receipts/${made.receiptId}`, body, token) };
    };
    return { key, deviceId, serialNumber, signed };
  }

  it('signs handover and return with it, also if no maker is trusted, and the receipt has the grade', async () => {
    const { key, deviceId, signed } = await recognized();
    const { made, answer } = await signed('handover', key, dealer);
    const { relyingParty, credentials, problem } = made;
    expect([credentials, problem]).toEqual([[key.credentialId], null]);
    const receipt: Receipt = data(answer);
    expect(receipt).toMatchObject({ relyingParty, proof: { grade: 'claimed', proofId: null, attestation: null } });
    expect(relyingParty).toBe(`${receipt.registryId}.devmgr.invalid`);
    expect(checkReceipt(receipt, createPublicKey(receipt.publicKey))).toMatchObject({ deviceId, kind: 'handover' });
    expect(
      checkReceipt(
        { ...receipt, text: receipt.text.replace(receipt.registryId, '0'.repeat(32)) },
        createPublicKey(receipt.publicKey),
      ),
    ).toMatch(/relying party/);
    expect(data((await signed('return', key, dealer)).answer)).toMatchObject({ kind: 'return' });
  });

  it('needs an ADMIN with a credential that was made after the last receipt, and returns with the one of that receipt', async () => {
    const { key, deviceId, signed } = await recognized();
    data((await signed('handover', key)).answer);
    data(await daemon.call('POST', `/api/devices/${deviceId}/reset`, { stage: 'done' }));
    const other = new IdentityKey();
    const asked = await identityChallenge(daemon);
    const bound = { deviceId, evidence: other.make(asked), numberSource: 'printed' };
    data(await daemon.call('POST', `/api/identity/${asked.identityId}/bind`, bound));
    for (const kind of ['handover', 'return'])
      expect((await signed(kind, other, dealer)).answer).toMatchObject({
        code: 1001,
        message: expect.stringMatching(/may not sign/),
      });
    expect((await signed('return', other)).answer.code).toBe(1001);
    expect((await signed('handover', other)).answer.code).toBe(200);
    expect((await signed('return', other, dealer)).answer.code).toBe(200);
  });

  it('signs with the one of its proof if it has one, and not with its own for that relying party', async () => {
    const { key, deviceId, serialNumber, signed } = await recognized();
    const genuine = new ReceiptKey();
    await genuine.prove(daemon, serialNumber);
    onTestFinished(() => void vi.useRealTimers());
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 6 * 60_000 });
    const { path, body, made } = await signedBy(daemon, genuine, { deviceId });
    expect(made.credentials).not.toContain(key.credentialId);
    expect(await submit(path, body)).toMatchObject({ code: 1001, message: /must sign with it for this receipt/ });
    data(await submit(path, { ...body, ...(await key.allow(daemon, 'receipt', deviceId)) }));
    const answer = (await signed('handover', key, dealer)).answer;
    expect(answer.code).toBe(1001);
  });
});

it('a key that cannot sign is not asked for a proof in vain', async () => {
  const { deviceId, serialNumber } = await deviceIn('ACTIVE', daemon);
  expect(data(await create({ deviceId }))).toMatchObject({ credentials: [], problem: null });
  await new ReceiptKey({ root: authenticatorRoot('Another root') }).prove(daemon, serialNumber);
  expect(data(await create({ deviceId }))).toMatchObject({
    credentials: [],
    problem: expect.stringMatching(/no model/),
  });
});

itAnswersLikeExamples({
  createReceipt: [200, 2001, 2004, 2005],
  submitReceipt: [200, 404],
  getReceipt: [200, 404],
});
