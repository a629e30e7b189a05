/** Decisions whether a key may be used now: by state, person, proof and advisory, and what a service token learns. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sshKeys } from '../../daemon/issuing/providers/ssh.ts';
import { decisionBounds, rateLimits } from '../../src/contract/limits.ts';
import { type Answer, adminPassword, startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { activation, data, deviceIn, register } from '../support/fleet.ts';
import { IdentityKey } from '../support/identity-key.ts';
import { answerOf, startWebauthnServer } from '../support/issuing-providers.ts';
import { serviceToken } from '../support/service-token.ts';
import { type CborInput, writeCbor } from '../support/test-cbor.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon({ webhookAllow: ['127.0.0.1'] });
});
afterAll(() => daemon?.stop());

const call = async (method: string, path: string, body?: object) => data(await daemon.call(method, path, body));
const ask = (body: object, token?: string): Promise<Answer> =>
  daemon.call('POST', '/api/decisions', body, token === undefined ? {} : { token });
const decisions = async (questions: readonly object[], more: object = {}, token?: string) =>
  data(await ask({ questions, ...more }, token)).decisions;
const decide = async (question: object, more: object = {}) => (await decisions([question], more))[0];

let persons = 0;
/** A person with an ACTIVE device. */
async function bound() {
  const { personId, userName } = await call('POST', '/api/people', { userName: `decided-${++persons}` });
  const device = await register(daemon);
  await call('POST', '/api/devices/activate', activation(device, userName));
  return { ...device, personId };
}
const lock = (deviceId: string) => call('POST', `/api/devices/${deviceId}/lock`, { reason: 'lost' });

const unknown = { allowed: false, deviceId: null, personId: null, reason: 'unknown', until: expect.any(String) };
const forNoPerson = ({ deviceId }: { deviceId: string }) => ({
  deviceId,
  personId: null,
  until: expect.any(String),
});

describe('a decision', () => {
  it.each([
    ['ACTIVE', true],
    ['INACTIVE', false],
    ['LOCKED', false],
    ['DEACTIVATED', false],
  ] as const)('on a device that is %s: %s', async (status, allowed) => {
    const device = await deviceIn(status, daemon);
    expect(await decide({ serialNumber: device.serialNumber })).toEqual({
      ...forNoPerson(device),
      allowed,
      reason: status.toLowerCase(),
    });
  });

  it('names the person, and ends with the lock and begins with the unlock at once', async () => {
    const { deviceId, personId, serialNumber } = await bound();
    expect(await decide({ serialNumber })).toMatchObject({ allowed: true, deviceId, personId });
    await lock(deviceId);
    expect(await decide({ serialNumber })).toMatchObject({ allowed: false, personId, reason: 'locked' });
    await call('POST', `/api/devices/${deviceId}/unlock`, { reason: 'found' });
    expect(await decide({ serialNumber })).toMatchObject({ allowed: true, reason: 'active' });
  });

  it('refuses the key of a person who has left, also after an unlock of the device, until the person is back', async () => {
    const { deviceId, personId, serialNumber } = await bound();
    await call('POST', `/api/people/${personId}/leave`, { reason: 'has left' });
    expect(await decide({ serialNumber })).toMatchObject({ allowed: false, personId, reason: 'left' });
    await call('POST', `/api/devices/${deviceId}/unlock`, { reason: 'by mistake' });
    expect(await decide({ serialNumber })).toMatchObject({ allowed: false, reason: 'left' });
    await call('POST', `/api/people/${personId}/return`);
    expect(await decide({ serialNumber })).toMatchObject({ allowed: true, reason: 'active' });
  });

  it('refuses the keys of a person whose devices wait for a release, although they are ACTIVE', async () => {
    const { userName, personId } = await call('POST', '/api/people', { userName: 'with-many' });
    const devices = await Promise.all(Array.from({ length: 12 }, () => register(daemon)));
    for (const device of devices) await call('POST', '/api/devices/activate', activation(device, userName));
    expect((await call('POST', `/api/people/${personId}/leave`, { reason: 'has left' })).held).toHaveLength(12);
    const { serialNumber, deviceId } = devices[0]!;
    expect((await call('GET', `/api/devices/${deviceId}`)).status).toBe('ACTIVE');
    expect(await decide({ serialNumber })).toMatchObject({ allowed: false, reason: 'left' });
  });

  it('refuses a key that does not meet the policy of proofs, which may be newer than the key', async () => {
    const { serialNumber } = await deviceIn('ACTIVE', daemon);
    const policy = { requiredGrade: 'none', allowedAaguids: [], leastFirmware: [] };
    await call('PUT', '/api/policies/proof', { ...policy, requiredGrade: 'model' });
    expect(await decide({ serialNumber })).toMatchObject({ allowed: false, reason: 'proof' });
    await call('PUT', '/api/policies/proof', policy);
    expect(await decide({ serialNumber })).toMatchObject({ allowed: true, reason: 'active' });
  });

  it('reports an advisory, and refuses for it on request', async () => {
    const { serialNumber, deviceId, activationCode } = await register(daemon, {
      manufacturer: 'Yubico',
      model: 'YubiKey 5',
    });
    await call('POST', '/api/devices/activate', { deviceId, activationCode, userId: 'alice' });
    const { proofId } = await call('POST', '/api/proofs/challenge', {});
    await call('POST', `/api/proofs/${proofId}`, { serialNumber, claims: { firmware: '5.4.3' } });
    expect(await decide({ serialNumber })).toMatchObject({ allowed: true, reason: 'advisory' });
    expect(await decide({ serialNumber }, { advisories: 'allow' })).toMatchObject({ allowed: true });
    expect(await decide({ serialNumber }, { advisories: 'refuse' })).toMatchObject({
      allowed: false,
      deviceId,
      reason: 'advisory',
    });
    await lock(deviceId);
    expect(await decide({ serialNumber })).toMatchObject({ reason: 'locked' });
  });

  it('may be kept for some seconds', async () => {
    const before = Date.now();
    const { until } = await decide({ serialNumber: 'no such key' });
    const kept = Date.parse(until) - before;
    expect(kept).toBeGreaterThanOrEqual(1000 * decisionBounds.seconds);
    expect(kept).toBeLessThan(1000 * decisionBounds.seconds + 10_000);
  });

  it('changes nothing: neither the device nor the journal', async () => {
    const { deviceId, serialNumber } = await deviceIn('ACTIVE', daemon);
    const before = await call('GET', `/api/devices/${deviceId}`);
    const { head } = await call('GET', '/api/events');
    await decide({ serialNumber });
    expect(await call('GET', `/api/devices/${deviceId}`)).toEqual(before);
    expect((await call('GET', '/api/events')).head).toBe(head);
  });
});

describe('a key is named by', () => {
  it('the credential by which the registry recognizes it, until the key has lost it', async () => {
    const key = new IdentityKey();
    const { deviceId } = await key.enroll(daemon);
    const { credentialId } = key;
    expect(await decide({ credentialId })).toMatchObject({ deviceId, reason: 'inactive' });
    await call('POST', `/api/devices/${deviceId}/reset`, { stage: 'done' });
    expect(await decide({ credentialId })).toEqual(unknown);
  });

  it('a credential at a provider, until it is removed there; not by one that two devices have', async () => {
    const { settings, state } = await startWebauthnServer();
    const { providerId } = await call('POST', '/api/providers', { name: 'decided', ...settings });
    const issue = async () => {
      const { deviceId } = await bound();
      const begun = await call('POST', `/api/devices/${deviceId}/credentials`, { providerId });
      const response = answerOf(begun);
      const path = `/api/devices/${deviceId}/credentials/${begun.credentialId}`;
      expect(await decide({ credentialId: response.id })).toEqual(unknown);
      await call('POST', path, { response });
      return { deviceId, path, credentialId: response.id };
    };
    const { deviceId, path, credentialId } = await issue();
    expect(state.accepted).toHaveLength(1);
    expect(await decide({ credentialId })).toMatchObject({ allowed: true, deviceId, reason: 'active' });
    await call('POST', `${path}/remove`);
    expect(await decide({ credentialId })).toEqual(unknown);
  });

  it.each([
    { sshKey: 'sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAA' },
    { certificate: 'ab'.repeat(32) },
  ])('%j is unknown to a registry that has none', async question => {
    expect(await decide(question)).toEqual(unknown);
  });
});

describe('a request', () => {
  it('has 100 answers in the order of its questions, of equal ones too', async () => {
    const active = await deviceIn('ACTIVE', daemon);
    const locked = await deviceIn('LOCKED', daemon);
    const key = new IdentityKey();
    const { deviceId } = await key.enroll(daemon);
    const names = [
      [{ serialNumber: active.serialNumber }, active.deviceId],
      [{ credentialId: key.credentialId }, deviceId],
      [{ serialNumber: 'none' }, null],
      [{ serialNumber: locked.serialNumber }, locked.deviceId],
    ] as const;
    const all = Array.from({ length: decisionBounds.questions }, (_, index) => names[index % names.length]!);
    const answers = await decisions(all.map(([question]) => question));
    expect(answers.map((one: { deviceId: string | null }) => one.deviceId)).toEqual(all.map(([, id]) => id));
  });

  const serialNumber = 'S-1';
  it.each([
    [{}, 'questions'],
    [{ questions: [] }, 'questions'],
    [{ questions: Array(101).fill({ serialNumber }) }, 'questions'],
    [{ questions: [{ serialNumber }, {}] }, 'questions[1]'],
    [{ questions: [{ serialNumber: null }] }, 'questions[0]'],
    [{ questions: [{ serialNumber, credentialId: 'AAAA' }] }, 'questions[0]'],
    [{ questions: [{ serialNumber }, { serialNumber: 7 }] }, 'questions[1].serialNumber'],
    [{ questions: [{ deviceId: 'DEV-1' }] }, 'questions[0]'],
    [{ questions: ['S-1'] }, 'questions[0]'],
    [{ questions: [{ serialNumber }], advisories: 'ignore' }, 'advisories'],
  ])('%j is refused and names %s', async (body, field) => {
    expect(await ask(body)).toMatchObject({ status: 400, code: 1001, message: expect.stringContaining(field) });
  });

  it('reports each question that is wrong', async () => {
    const { details } = (await (
      await fetch(`${daemon.url}/api/decisions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${daemon.adminToken}`, 'content-type': 'application/json' },
        body: JSON.stringify({ questions: [{}, { serialNumber }, {}] }),
      })
    ).json()) as { details: { field: string }[] };
    expect(details.map(({ field }) => field)).toEqual(['questions[0]', 'questions[2]']);
  });

  it('is counted by a limit of its own', async () => {
    const { headers } = await ask({ questions: [{ serialNumber }] });
    expect(headers.get('x-ratelimit-limit')).toBe(String(rateLimits.decide.count));
  });
});

describe('an SSH key', () => {
  /** A person with an ACTIVE device that has an SSH key, made for ES256. */
  async function withSshKey() {
    const device = await bound();
    providerId ??= (await call('POST', '/api/providers', { name: 'ssh', type: 'ssh' })).providerId;
    const begun = await call('POST', `/api/devices/${device.deviceId}/credentials`, { providerId });
    const response = answerOf(begun);
    await call('POST', `/api/devices/${device.deviceId}/credentials/${begun.credentialId}`, { response });
    const [{ ssh }] = await call('GET', `/api/devices/${device.deviceId}/credentials`);
    return { ...device, ...begun, key: ssh.publicKey as string, userName: `decided-${persons}` };
  }
  let providerId: string | undefined;
  const keysOf = (userName: string, headers: Record<string, string> = {}, token = daemon.adminToken) =>
    fetch(`${daemon.url}/api/decisions/ssh-keys/${userName}`, {
      headers: { authorization: `Bearer ${token}`, ...headers },
    });

  it('is a key of its device, with or without options and comment, until the device is locked or retired', async () => {
    const { deviceId, key } = await withSshKey();
    const [type, blob] = key.split(' ');
    const lines = [key, `verify-required,from="10.0.0.0/8" ${key} ada@host`, `${key} DEV-1`];
    const answers = async () => decisions([...lines, `${type} ${blob!.slice(4)}`].map(sshKey => ({ sshKey })));
    const active = { allowed: true, deviceId, reason: 'active' };
    expect(await answers()).toMatchObject([active, active, active, unknown]);
    await lock(deviceId);
    expect(await decide({ sshKey: key })).toMatchObject({ allowed: false, deviceId, reason: 'locked' });
    await call('POST', `/api/devices/${deviceId}/unlock`, { reason: 'found' });
    expect(await decide({ sshKey: key })).toMatchObject({ allowed: true });
    const retired = { reason: 'worn out', confirmPassword: adminPassword };
    await call('POST', `/api/devices/${deviceId}/deactivate`, retired);
    await expect.poll(() => decide({ sshKey: key })).toEqual(unknown);
  });

  it('is listed for its person while it is allowed; the list has an ETag that changes with it', async () => {
    const { deviceId, key, userName, personId } = await withSshKey();
    const listed = { code: 200, data: { keys: [{ key, verifyRequired: false, deviceId }] } };
    const first = await keysOf(userName.toUpperCase());
    expect(await first.json()).toMatchObject(listed);
    const etag = first.headers.get('etag')!;
    const again = await keysOf(userName, { 'if-none-match': etag });
    expect([again.status, await again.text()]).toEqual([304, '']);
    await lock(deviceId);
    const locked = await keysOf(userName, { 'if-none-match': etag });
    expect([locked.status, (await locked.json()) as object]).toMatchObject([200, { data: { keys: [] } }]);
    await call('POST', `/api/devices/${deviceId}/unlock`, { reason: 'found' });
    expect((await keysOf(userName, { 'if-none-match': etag })).status).toBe(304);
    await call('POST', `/api/people/${personId}/leave`, { reason: 'has left' });
    expect(await (await keysOf(userName)).json()).toMatchObject({ data: { keys: [] } });
    expect(await (await keysOf('nobody')).json()).toMatchObject({ code: 200, data: { keys: [] } });
  });

  it('ends no case of a leaver late, and is not to be removed while its device is locked', async () => {
    const { deviceId, personId } = await withSshKey();
    await lock(deviceId);
    await call('POST', `/api/people/${personId}/leave`, { reason: 'has left' });
    expect(await call('GET', `/api/devices/${deviceId}/credentials`)).toMatchObject([
      { pending: false, removedAt: null },
    ]);
    const { items } = await call('GET', `/api/people/${personId}/case`);
    expect(items).toContainEqual(expect.objectContaining({ kind: 'credential', state: 'closed' }));
  });

  it('of Ed25519 has the form that OpenSSH gives it', async () => {
    const { finish } = sshKeys({ verification: null }, Date.now);
    // The key of RFC 8032, 7.1, test 1, in authenticator data for ssh:.
    const x = Buffer.from('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a', 'hex');
    const cose = new Map<number, CborInput>([
      [1, 1],
      [3, -8],
      [-1, 6],
      [-2, x],
    ]);
    const authData = Buffer.concat([
      Buffer.alloc(32),
      Buffer.of(0x41),
      Buffer.alloc(20),
      Buffer.of(0, 1, 9),
      writeCbor(cose),
    ]);
    const attestationObject = writeCbor(
      new Map<string, CborInput>([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', authData],
      ]),
    );
    const response = { response: { attestationObject: Buffer.from(attestationObject).toString('base64url') } };
    expect(await finish({ response } as never)).toBe(
      'sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAINdamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1EaAAAABHNzaDo=',
    );
  });
});

describe('a service token', () => {
  it('with record-use counts each allowed key as a use of its device; others count none', async () => {
    const [active, locked] = [await deviceIn('ACTIVE', daemon), await deviceIn('LOCKED', daemon)];
    const questions = [active, locked, active].map(({ serialNumber }) => ({ serialNumber }));
    const used = async (of = active) => (await call('GET', `/api/devices/${of.deviceId}`)).statistics.totalUsageCount;
    const [counting, silent] = [
      await serviceToken(daemon, { role: 'VIEWER', may: ['decide', 'record-use'] }),
      await serviceToken(daemon, { role: 'ADMIN', may: ['decide'] }),
    ];
    await decisions(questions, {}, silent.token);
    await decisions(questions);
    expect(await used()).toBe(0);
    expect(await decisions(questions, {}, counting.token)).toMatchObject([
      { allowed: true },
      { allowed: false },
      { allowed: true },
    ]);
    expect([await used(), await used(locked)]).toEqual([2, 0]);
    expect((await call('GET', `/api/devices/${active.deviceId}`)).lastUsedAt).toEqual(expect.any(String));
    // The permission alone asks nothing.
    const alone = await serviceToken(daemon, { role: 'ADMIN', may: ['record-use'] });
    expect(await ask({ questions }, alone.token)).toMatchObject({ code: 2007 });
  });

  it('asks with the permission, whatever its role, and not without it', async () => {
    const device = await deviceIn('ACTIVE', daemon);
    const questions = [{ serialNumber: device.serialNumber }];
    const { token } = await serviceToken(daemon, { role: 'VIEWER', may: ['decide'] });
    expect((await decisions(questions, {}, token))[0]).toMatchObject({ allowed: true, deviceId: device.deviceId });
    for (const role of ['ADMIN', 'DEALER', 'VIEWER']) {
      const without = await serviceToken(daemon, { role, may: ['policies', 'webhooks', 'scim'] });
      expect(await ask({ questions }, without.token)).toMatchObject({ status: 403, code: 2007, data: null });
    }
    // The permission is for nothing else.
    expect(await daemon.call('POST', '/api/people', { userName: 'eve' }, { token })).toMatchObject({ code: 2007 });
  });

  it('without the permission learns nothing from 10,000 questions: all answers are the same', async () => {
    const [active, locked] = [await deviceIn('ACTIVE', daemon), await deviceIn('LOCKED', daemon)];
    const { token } = await serviceToken(daemon, { role: 'ADMIN', may: ['scim'] });
    const kinds = [active, locked, { serialNumber: 'none' }, { deviceId: 'none' }];
    const answers = new Set<string>();
    const keep = ({ status, code, message, data }: Answer) =>
      answers.add(JSON.stringify({ status, code, message, data }));
    for (let at = 0; at < 100; at++) {
      const { serialNumber } = kinds[at % kinds.length] as { serialNumber?: string };
      keep(await ask({ questions: Array(100).fill({ serialNumber }) }, token));
    }
    expect([...answers]).toEqual([expect.stringContaining('without decide in its permissions')]);
    answers.clear();
    for (const userName of ['alice', 'none'])
      keep(await daemon.call('GET', `/api/decisions/ssh-keys/${userName}`, undefined, { token }));
    expect([...answers]).toEqual([expect.stringContaining('without ssh in its permissions')]);
  });

  it('that asks for too many unknown keys no longer learns which others exist; allowed keys stay allowed', async () => {
    const [active, locked] = [await deviceIn('ACTIVE', daemon), await deviceIn('LOCKED', daemon)];
    const both = [{ serialNumber: locked.serialNumber }, { serialNumber: active.serialNumber }];
    const guesses = (from: number) =>
      Array.from({ length: 50 }, (_, index) => ({ serialNumber: `guess-${from + index}` }));
    const { token } = await serviceToken(daemon, { role: 'VIEWER', may: ['decide'] });
    const { token: other } = await serviceToken(daemon, { role: 'VIEWER', may: ['decide'] });
    const known = [
      { ...forNoPerson(locked), allowed: false, reason: 'locked' },
      { ...forNoPerson(active), allowed: true, reason: 'active' },
    ];
    await decisions(guesses(0), {}, token);
    // Known keys, whether they are allowed or not, do not count.
    for (let i = 0; i < 60; i++) await decisions([both[0]!, both[0]!], {}, token);
    expect(await decisions(both, {}, token)).toEqual(known);
    await decisions(guesses(50), {}, token);
    expect(await decisions(both, {}, token)).toEqual([unknown, known[1]]);
    expect(await decisions(both, {}, other)).toEqual(known);
    await decisions([...guesses(0), ...guesses(50)]);
    await decisions([...guesses(0), ...guesses(50)]);
    expect(await decisions(both)).toEqual(known);
  });
});
