/** Keys that prove what they are, judged by a real registry; their hardware service is one of the test's own. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Proof } from '../../src/contract/proof.ts';
import { type FakeHardwareOptions, fakeHardware } from '../support/fake-hardware.ts';
import { pemOf, type TestCertificate } from '../support/test-pki.ts';
import { cardRoot, TestScp11bCard } from '../support/test-scp11b-card.ts';
import { type Daemon, discard, startDaemon, temporaryFolder } from './program.ts';

let daemon: Daemon;
const root = cardRoot();

const cardOf = (serialNumber: number, issuer: TestCertificate = root) =>
  new TestScp11bCard({ serialNumber, firmware: [5, 7, 4], formFactor: 1, root: issuer });

const hardware = (serialNumber: number, more: Partial<FakeHardwareOptions> = {}) =>
  fakeHardware({ serialNumber: String(serialNumber), card: cardOf(serialNumber), ...more });

const register = async (serialNumber: number): Promise<string> => {
  const body = { deviceType: 'UKEY', serialNumber: String(serialNumber), manufacturer: 'Yubico', model: 'YubiKey 5' };
  return (await daemon.call('POST', '/api/devices/register', body)).deviceId;
};

beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => discard(daemon));

let serial = 1000;
beforeEach(() => {
  serial++;
});

describe('without trust', () => {
  test('a key proves nothing, the first warning explains why, and the exit code is 6', async () => {
    const { url } = await hardware(serial);
    const { code, stdout, stderr } = await daemon.run(['keys', 'verify', '--hardware', url]);
    expect([code, stderr]).toEqual([6, '']);
    expect(stdout).toContain(`${serial}  claimed`);
    expect(stdout).toMatch(/warnings: +Not proved: no trust anchor was imported for this key/);
  });
});

describe('the list of keys of a hardware service apart from the registry', () => {
  const proof: Proof = {
    method: 'claims',
    grade: 'claimed',
    model: null,
    aaguid: null,
    firmware: '5.7.4',
    serial: null,
    root: null,
    metadataNumber: null,
    provedAt: null,
    warnings: [],
  };
  const keysOf = async (more: Partial<FakeHardwareOptions>) => {
    const { url } = await hardware(serial, more);
    return (await daemon.run(['keys', '--hardware', url, '--server', daemon.url, '--json'])).json.list;
  };

  test('shows what a key claims, whether it is registered or not', async () => {
    expect(await keysOf({ proof })).toMatchObject([{ device: null, proof }]);
    const deviceId = await register(serial);
    expect(await keysOf({ proof })).toMatchObject([{ device: { deviceId }, proof }]);
  });

  test('shows only verdicts of the registry', async () => {
    expect(await keysOf({ proof: { ...proof, grade: 'unit', method: 'scp11b' } })).toMatchObject([{ proof: null }]);
    expect(await keysOf({ proof: { ...proof, grade: 'unit' } })).toMatchObject([{ proof: null }]);
  });
});

describe('with the root of its maker', () => {
  beforeAll(async () => {
    const args = ['trust', 'add', '-', '--label', 'Test Maker'];
    const { code, stdout } = await daemon.run(args, { input: pemOf(root) });
    expect(code).toBe(0);
    expect(stdout).toContain(root.fingerprint);
  });

  test('a key proves its serial number; device, list and filters have the grade', async () => {
    const deviceId = await register(serial);
    const { url, asked } = await hardware(serial);
    const { code, json } = await daemon.run(['keys', 'verify', '--hardware', url, '--json']);
    expect(code).toBe(0);
    expect(Object.keys(json).sort()).toEqual(
      ['deviceId', 'keyId', 'problem', 'proof', 'proofId', 'reason', 'rule', 'serialNumber'].sort(),
    );
    expect(json).toMatchObject({
      serialNumber: String(serial),
      deviceId,
      rule: null,
      reason: null,
      problem: null,
      proof: { grade: 'unit', method: 'scp11b', firmware: '5.7.4', serial: String(serial), root: 'Test Maker' },
    });
    expect(asked).toHaveLength(1);
    expect(asked[0]).not.toHaveProperty('method');

    const shown = await daemon.run(['show', deviceId]);
    expect(shown.stdout).toMatch(/proof: +unit: a genuine key with this serial number/);
    expect(shown.stdout).toMatch(/not proved: +that this key, and not a genuine one elsewhere/);
    const listed = await daemon.run(['list', '--proof', 'unit', '--serial', String(serial)]);
    expect(listed.stdout).toMatch(/PROOF.*\n.* unit /);
    const keys = await daemon.run(['keys', '--hardware', url, '--server', daemon.url]);
    expect(keys.stdout).toMatch(/PROOF.*\n.* unit /);
  });

  test.each(['serial number', 'keyId', 'deviceId'])('a key is named by its %s', async how => {
    const deviceId = await register(serial);
    const { url, keyId } = await hardware(serial);
    const name = { 'serial number': String(serial), keyId, deviceId }[how]!;
    expect((await daemon.run(['keys', 'verify', name, '--hardware', url, '--quiet'])).stdout).toBe(`${serial}\n`);
  });

  test('a key that is not attached is named with exit code 10', async () => {
    const { url } = await hardware(serial);
    const { code, stderr } = await daemon.run(['keys', 'verify', 'OTHER-1', '--hardware', url]);
    expect(code).toBe(10);
    expect(stderr).toContain('a key with the serial number "OTHER-1" is not attached');
  });

  test('completion offers the attached key, and fingerprints that are trusted', async () => {
    const { url } = await hardware(serial);
    const offered = async (...words: string[]) =>
      (await daemon.run(['completion', 'zsh', '--offer', '--', ...words])).stdout;
    expect(await offered('keys', 'verify', '--hardware', url, '')).toBe(`words\n${serial}\tYubiKey 5\n`);
    expect(await offered('trust', 'remove', '')).toBe(`words\n${root.fingerprint}\tTest Maker\n`);
  });

  test('--method is passed on to the key', async () => {
    const { url, asked } = await hardware(serial);
    await daemon.run(['keys', 'verify', '--hardware', url, '--method', 'scp11b']);
    expect(asked[0]).toMatchObject({ method: 'scp11b', serialNumber: String(serial) });
  });

  test.each([
    ['under another root', () => ({ card: cardOf(serial, cardRoot()) }), /certificates of the key are not trusted/],
    ['with the certificate of another serial number', () => ({ card: cardOf(serial + 5000) }), /another serial number/],
  ])('a key %s fails with exit code 6', async (_, options, words) => {
    const { url } = await hardware(serial, options());
    const { code, stdout } = await daemon.run(['keys', 'verify', '--hardware', url]);
    expect(code).toBe(6);
    expect(stdout).toContain(`${serial}  failed`);
    expect(stdout).toMatch(/failed: the evidence contradicts the key: do not use it/);
    expect(stdout.replace(/\s+/g, ' ')).toMatch(words);
  });

  test('a replayed answer fails', async () => {
    const { url } = await hardware(serial, { replays: true });
    expect((await daemon.run(['keys', 'verify', '--hardware', url])).code).toBe(0);
    const { code, json } = await daemon.run(['keys', 'verify', '--hardware', url, '--json']);
    expect(code).toBe(6);
    expect(json).toMatchObject({ proof: { grade: 'failed' }, rule: 'replay' });
  });

  test('a key that gives no evidence explains why, with exit code 10', async () => {
    const { url } = await hardware(serial, { problem: 'the key was not touched within 30 s' });
    const { code, stdout } = await daemon.run(['keys', 'verify', '--hardware', url]);
    expect(code).toBe(10);
    expect(stdout).toMatch(/no answer: +the key was not touched within 30 s/);
  });

  test('a key that waits for a touch is announced, and Ctrl-C cancels at the key', async () => {
    const { url, cancelled } = await hardware(serial, { untouched: true });
    const verifying = daemon.start(['keys', 'verify', '--hardware', url]);
    await verifying.until('stderr', /Touch the key when it blinks\./);
    verifying.child.kill('SIGINT');
    expect(await verifying.ended).toMatchObject({ code: 130, stdout: '' });
    await expect.poll(cancelled).toBe(1);
  });

  test('enroll --require-proof registers a key that proves it', async () => {
    const { url } = await hardware(serial);
    const out = join(temporaryFolder(), 'codes.csv');
    const args = ['enroll', '--count', '1', '--require-proof', 'unit', '--hardware', url, '--out', out];
    const { code, stdout } = await daemon.run(args);
    expect(code).toBe(0);
    expect(stdout).toMatch(/✓ registered {2}DEV-\d+ INACTIVE {2}UKEY \d+\n/);
    expect(stdout).toMatch(/proof {12}unit: a genuine key with this serial number; .*firmware 5\.7\.4/);
    expect(readFileSync(out, 'utf8')).toMatch(/,message,proof,check\n.*,unit,c[0-9a-f]{8}\n$/);
    const { list } = await daemon.call('GET', `/api/devices/list?serialNumber=${serial}`);
    expect(list[0].proof).toMatchObject({ grade: 'unit' });
  });

  test('enroll --require-proof does not register a key below the grade, and one line explains why', async () => {
    const { url } = await hardware(serial, { problem: 'the key has no certificate' });
    const args = ['enroll', '--timeout', '1', '--require-proof', 'model', '--hardware', url];
    const { code, stdout } = await daemon.run(args);
    expect(code).toBe(10);
    expect(stdout).toContain('✗ failed');
    expect(stdout).toContain(
      'not registered: --require-proof model: the grade of this key is claimed (the key has no certificate)',
    );
    expect((await daemon.call('GET', `/api/devices/list?serialNumber=${serial}`)).pagination.total).toBe(0);
  });

  test('enroll --prove asks for FIDO if the policy allows keys by their AAGUID, which only FIDO proves', async () => {
    await daemon.run(['policies', 'update', '--allow-aaguid', '2fc0579f-8113-47ea-b116-bb5a8db9202a']);
    const { url, asked } = await hardware(serial);
    const enrolled = await daemon.run(['enroll', '--timeout', '1', '--prove', '--hardware', url]);
    await daemon.run(['policies', 'update', '--allow-aaguid', '']);
    expect(asked[0]).toMatchObject({ method: 'fido' });
    expect(enrolled.stdout + enrolled.stderr).toContain('proof (allowed AAGUIDs)');
  });

  test('enroll --prove asks for FIDO with a service token that may not read the policy', async () => {
    await daemon.run(['policies', 'update', '--allow-aaguid', '2fc0579f-8113-47ea-b116-bb5a8db9202a']);
    const { url, asked } = await hardware(serial);
    const body = { name: 'station', role: 'DEALER', expiresInDays: 1, may: [] };
    const env = { DEVMGR_TOKEN: (await daemon.call('POST', '/api/tokens', body)).token };
    const enrolled = await daemon.run(['enroll', '--timeout', '1', '--prove', '--hardware', url], { env });
    await daemon.run(['policies', 'update', '--allow-aaguid', '']);
    expect(asked.map(({ method }) => method)).toEqual(['fido']);
    expect(enrolled.stdout + enrolled.stderr).toContain('proof (allowed AAGUIDs)');
  });

  test('enroll --prove asks a registered key only if it has proved nothing', async () => {
    await register(serial);
    const { url, asked } = await hardware(serial);
    const enroll = () => daemon.run(['enroll', '--count', '1', '--prove', '--json', '--hardware', url]);
    const first = await enroll();
    expect(first.rows).toMatchObject([{ result: 'known', proof: { grade: 'unit' } }]);
    expect((await enroll()).rows).toMatchObject([{ result: 'known', proof: { grade: 'unit' } }]);
    expect(asked).toHaveLength(1);
  });

  test('enroll without these options asks no key, and its rows have no proof', async () => {
    const { url, asked } = await hardware(serial);
    const { rows } = await daemon.run(['enroll', '--count', '1', '--json', '--hardware', url]);
    expect(rows).toHaveLength(1);
    expect(rows[0]).not.toHaveProperty('proof');
    expect(asked).toEqual([]);
  });
});

test('of several attached keys one must be named; keys that cannot prove anything say so', async () => {
  const station = await startDaemon({ args: ['--simulate-keys', '2'] });
  try {
    const several = await station.run(['keys', 'verify']);
    expect(several.code).toBe(2);
    expect(several.stderr).toContain('2 keys are attached:');
    expect(several.stderr).toContain('name one of them, or unplug the others');
    const { stdout } = await station.run(['keys', '--quiet']);
    const [first, second] = stdout.trim().split('\n');
    const one = await station.run(['keys', 'verify', first!, '--json']);
    expect(one).toMatchObject({ code: 10, json: { serialNumber: first, problem: expect.stringMatching(/./) } });
    const both = await station.run(['keys', 'verify', first!, second!, '--json']);
    expect(both.code).toBe(7);
    expect(both.rows.map(row => row.serialNumber)).toEqual([first, second]);
  } finally {
    await discard(station);
  }
});
