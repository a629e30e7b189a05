/** Trust and policies from the command line, and devices by their proofs. The evidence is that of a test card. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pemOf } from '../support/test-pki.ts';
import { cardRoot, TestScp11bCard } from '../support/test-scp11b-card.ts';
import { type Daemon, discard, startDaemon, temporaryFolder } from './program.ts';

let daemon: Daemon;
const root = cardRoot();
const aaguid = '2fc0579f-8113-47ea-b116-bb5a8db9202a';

/** Registers a device whose card under the root answers a challenge. */
async function proved(serialNumber: number): Promise<string> {
  const body = { deviceType: 'UKEY', serialNumber: String(serialNumber), manufacturer: 'Yubico', model: 'YubiKey 5' };
  const { deviceId } = await daemon.call('POST', '/api/devices/register', body);
  const { proofId, ephemeralPublicKey } = await daemon.call('POST', '/api/proofs/challenge');
  const card = new TestScp11bCard({ serialNumber, firmware: [5, 4, 3], formFactor: 1, root });
  await daemon.call('POST', `/api/proofs/${proofId}`, {
    serialNumber: String(serialNumber),
    claims: { firmware: '5.4.3' },
    evidence: card.evidence(ephemeralPublicKey),
  });
  return deviceId;
}

beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => discard(daemon));

test('a list without proofs has no column for them, except with --output wide', async () => {
  await daemon.register('PLAIN-1');
  expect((await daemon.run(['list'])).stdout).not.toContain('PROOF');
  expect((await daemon.run(['list', '--output', 'wide'])).stdout).toContain('PROOF');
});

test('trust list explains what to do if nothing is trusted', async () => {
  const { code, stdout, stderr } = await daemon.run(['trust', 'list']);
  expect([code, stdout]).toEqual([0, '']);
  expect(stderr).toContain('devmgr trust add FILE');
  expect((await daemon.run(['trust', 'list', '--json'])).json).toEqual({ metadata: null, certificates: [] });
});

test('certificates are imported from a file or standard input, listed, and removed by the start of the fingerprint', async () => {
  const input = pemOf(root);
  const imported = await daemon.run(['trust', 'add', '-', '--label', 'Test Maker'], { input });
  expect(imported.code).toBe(0);
  expect(imported.stdout).toMatch(/^1 certificate imported\nanchor\n/);
  expect(imported.stdout).toContain(root.fingerprint);
  expect(imported.stdout).toMatch(/vouches for: +secure channels \(SCP11b\)/);
  const { json } = await daemon.run(['trust', 'list', '--json']);
  expect(json.certificates).toMatchObject([{ fingerprint: root.fingerprint, label: 'Test Maker', purpose: 'scp11b' }]);

  const other = cardRoot();
  const file = join(temporaryFolder(), 'root.pem');
  writeFileSync(file, pemOf(other));
  const fido = await daemon.run(['trust', 'add', file, '--aaguid', aaguid.toUpperCase(), '--json']);
  expect(fido.json.certificates).toMatchObject([{ purpose: 'fido', aaguids: [aaguid] }]);
  expect((await daemon.run(['trust', 'list', '--quiet'])).stdout.trim().split('\n')).toHaveLength(2);
  expect((await daemon.run(['trust', 'list'])).stdout).toMatch(new RegExp(`^SHA-256 +LABEL(.*\n)+.*fido ${aaguid}`));
  expect((await daemon.run(['trust', 'list', '--csv'])).stdout).toMatch(/^fingerprint,label,purpose,kind,subject,/);

  const removed = await daemon.run(['trust', 'remove', other.fingerprint.slice(0, 12), '--json']);
  expect(removed.json).toEqual({ fingerprint: other.fingerprint, removed: true });
});

test('a file that is neither metadata nor certificates is refused', async () => {
  const { code, stderr } = await daemon.run(['trust', 'add', '-'], { input: 'neither\n' });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^devmgr: /);
  const both = await daemon.run(['trust', 'add', '-', '--aaguid', aaguid, '--purpose', 'scp11b'], { input: 'x' });
  expect(both.code).toBe(2);
});

test('a fingerprint that is not trusted is absent', async () => {
  const { code, stderr } = await daemon.run(['trust', 'remove', 'ffffffff']);
  expect(code).toBe(5);
  expect(stderr).toContain('begins with ffffffff');
  expect((await daemon.run(['trust', 'remove', 'f'.repeat(64)])).code).toBe(5);
  expect((await daemon.run(['trust', 'remove', 'root'])).code).toBe(2);
});

test('a device is shown, listed and exported with its proof, and selected by it', async () => {
  const deviceId = await proved(1001);
  const shown = await daemon.run(['show', deviceId]);
  expect(shown.stdout).toMatch(/ proof: +unit: a genuine key with this serial number\n/);
  expect(shown.stdout).toMatch(/ proved: +YubiKey 5 .*, firmware 5\.4\.3, serial number 1001\n/);
  expect(shown.stdout).toMatch(/ proved by: +scp11b, .*, root Test Maker\n/);
  expect(shown.stdout).toMatch(/ not proved: +that this key, and not a genuine one elsewhere, has answered/);
  expect(shown.stdout).toMatch(/ warnings: +YSA-2024-03: .*\(firmware 5\.4\.3, proved\)/);

  expect((await daemon.run(['list'])).stdout).toMatch(/^DEVICE .* PROOF(.*\n)+.* unit /);
  const csv = await daemon.run(['list', '--serial', '1001', '--csv']);
  expect(csv.stdout).toMatch(/,proof\n.*,unit\n$/);
  expect((await daemon.run(['export', '--serial', '1001', '--format', 'csv'])).stdout).toBe(csv.stdout);
  const fields = await daemon.run(['list', '--serial', '1001', '--fields', 'deviceId,proof']);
  expect(fields.stdout).toMatch(/^DEVICE ID +PROOF\nDEV-\d+ +unit\n$/);

  const ids = async (...flags: string[]) => (await daemon.run(['list', '--quiet', ...flags])).stdout;
  expect(await ids('--proof', 'unit,failed')).toBe(`${deviceId}\n`);
  expect(await ids('--advisory', 'YSA-2024-03')).toBe(`${deviceId}\n`);
  expect(await ids('--advisory', 'YSA-2019-02')).toBe('');
  expect(await ids('--aaguid', aaguid)).toBe('');
  expect(await ids('--proof', 'none')).toBe('DEV-1\n');
  const coded = await daemon.run(['replace-code', '--filter', 'proof=unit', '--reason', 'x', '--yes', '--json']);
  expect(coded.rows.map(row => row.deviceId)).toEqual([deviceId]);
});

test('keys verify --all judges stored answers by the present trust, and shows what has changed', async () => {
  expect((await daemon.run(['keys', 'verify', '--all', '--json'])).json).toMatchObject({ judged: 1, changed: 0 });
  await daemon.run(['trust', 'remove', root.fingerprint]);
  const { json } = await daemon.run(['keys', 'verify', '--all', '--json']);
  expect(json).toMatchObject({
    judged: 1,
    changed: 1,
    before: { unit: 1, claimed: 0 },
    after: { unit: 0, claimed: 1 },
  });
  await daemon.run(['trust', 'add', '-'], { input: pemOf(root) });
  const { stdout } = await daemon.run(['keys', 'verify', '--all']);
  expect(stdout).toBe('1 device checked again, 1 changed\n  claimed: 1 → 0\n  unit:    0 → 1\n');
});

test('a policy refuses registrations, names its rule, and is changed in parts', async () => {
  const args = ['policies', 'update', '--require-proof', 'unit', '--least-firmware', 'YubiKey=5.7.0'];
  expect((await daemon.run(args)).code).toBe(0);
  await daemon.run(['policies', 'update', '--allow-aaguid', aaguid.toUpperCase()]);
  expect((await daemon.run(['policies', 'show', '--json'])).json).toEqual({
    requiredGrade: 'unit',
    allowedAaguids: [aaguid],
    leastFirmware: [{ model: 'YubiKey', version: '5.7.0' }],
    identity: 'where-needed',
    personsRequired: false,
    leavers: 'lock',
    leaverDelayHours: 0,
    pinRecipients: [],
  });
  const key = ['--type', 'UKEY', '--serial', 'OTHER-1', '--manufacturer', 'Yubico', '--model', 'YubiKey 5'];
  const refused = await daemon.run(['register', ...key]);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toMatch(/proof \(required grade\): .* requires a proof of grade unit/);

  await daemon.run(['policies', 'update', '--require-proof', 'none', '--least-firmware', '', '--allow-aaguid', '']);
  const shown = await daemon.run(['policies', 'show']);
  expect(shown.stdout).toMatch(
    /required grade: +none: no proof is required\n.*: +any\n.*: +any\n.*: +where-needed\n +persons: +any user name\n/,
  );
  expect((await daemon.run(['register', ...key])).code).toBe(0);
  expect((await daemon.run(['policies', 'update'])).code).toBe(2);
  const wrong = await daemon.run(['policies', 'update', '--least-firmware', 'YubiKey=new']);
  expect([wrong.code, wrong.stderr]).toEqual([
    2,
    expect.stringMatching(/^devmgr: least-firmware must be up to four numbers with dots/),
  ]);
});
