/** Receipts on the command line: a real daemon, the real HID driver, and an authenticator of the tests; `fido2-assert` as a judge. */
import { spawnSync } from 'node:child_process';
import { generateKeyPairSync, sign } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { receiptHash } from '../../src/contract/receipts/check.ts';
import { ANSWERING_AAGUID } from '../support/challenged.ts';
import { FidoKey } from '../support/fido-key.ts';
import { answering, success } from '../support/http-servers.ts';
import { needs } from '../support/needs.ts';
import { realHardware } from '../support/real-hardware.ts';
import { authenticatorRoot, TestAuthenticator } from '../support/test-authenticator.ts';
import { pemOf } from '../support/test-pki.ts';
import { type Daemon, devmgr, discard, programFile, startDaemon, temporaryFolder } from './program.ts';
import { atTerminal, withoutColors } from './screen.ts';

const root = authenticatorRoot('Test root of printed receipts');
let daemon: Daemon;
let folder: string;
let made = 0;
beforeAll(async () => {
  daemon = await startDaemon();
  folder = mkdtempSync(join(tmpdir(), 'devmgr-receipts-'));
  const trust = ['trust', 'add', '-', '--aaguid', ANSWERING_AAGUID, '--label', 'Test Maker'];
  expect((await daemon.run(trust, { input: pemOf(root) })).code).toBe(0);
});
afterAll(async () => {
  await discard(daemon);
  rmSync(folder, { recursive: true, force: true });
});

/** A key that someone touches, and its ACTIVE device. */
async function key(userId = 'ada') {
  const serialNumber = `RC-${++made}`;
  const authenticator = new TestAuthenticator({ root, aaguid: ANSWERING_AAGUID });
  const fido = new FidoKey({ authenticator, touched: true });
  const body = { deviceType: 'UKEY', serialNumber, manufacturer: 'Test', model: 'Key', tags: { lot: '7' } };
  const { deviceId, activationCode } = await daemon.call('POST', '/api/devices/register', body);
  await daemon.call('POST', '/api/devices/activate', { deviceId, activationCode, userId });
  const { url } = await realHardware(serialNumber, fido);
  const run = (...args: string[]) => daemon.run([...args, '--hardware', url]);
  return { deviceId, serialNumber, authenticator, fido, run };
}

/** The files of a new receipt. */
async function files(userId?: string, ...more: string[]) {
  const { deviceId, run, ...rest } = await key(userId);
  const { code, stderr, json } = await run('receipts', 'add', deviceId, '--json', ...more);
  expect([code, stderr]).toEqual([0, '']);
  const file = join(folder, `${json.receiptId}.json`);
  const pem = join(folder, `${json.receiptId}.pem`);
  const print = (...args: string[]) => daemon.run(['receipts', 'print', ...args]);
  expect((await print(json.receiptId, '--format', 'json', '--out', file)).code).toBe(0);
  expect((await print(file, '--format', 'pem', '--out', pem)).code).toBe(0);
  return { ...rest, deviceId, run, print, file, pem, receipt: JSON.parse(readFileSync(file, 'utf8')) };
}
/** Without a registry: the command has neither a login nor a daemon. */
const offline = (...args: string[]) =>
  daemon.run(['receipts', 'verify', ...args, '--json'], {
    home: temporaryFolder(),
    env: { DEVMGR_SERVER: 'http://127.0.0.1:9' },
  });

describe('a receipt', () => {
  test('is signed by a key that was not proved: two touches, no PIN, nothing stored on the key', async () => {
    const { receipt, fido, deviceId, serialNumber } = await files('ada', '--terms', 'Mine.');
    expect(receipt).toMatchObject({
      kind: 'handover',
      deviceId,
      serialNumber,
      lot: '7',
      person: 'ada',
      terms: 'Mine.',
    });
    const commands = fido.received.map(message => message.slice(0, 4));
    expect(new Set(commands)).toEqual(new Set(['1004', '1001', '1002']));
    expect(fido.received.filter(message => message.startsWith('1002'))).toHaveLength(1);
  });

  test('of a loan ends with the day, is listed as overdue, and is closed by the return', async () => {
    const { deviceId, run } = await key();
    for (const due of ['2999-02-29', '2999-04-31', '2999-13-01'])
      expect(await run('receipts', 'add', deviceId, '--due', due)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(`--due ${due} is not a day`),
      });
    expect(await run('receipts', 'add', deviceId, '--due', '2000-01-01')).toMatchObject({
      code: 2,
      stderr: 'devmgr: due must be in the future\n',
    });
    const { json: loan } = await run('receipts', 'add', deviceId, '--due', '2999-12-31', '--json');
    expect(loan).toMatchObject({ kind: 'loan', dueAt: '2999-12-31T23:59:59.000Z' });
    const list = [process.execPath, programFile, 'receipts', 'list', '--device', deviceId];
    const narrow = await atTerminal(list, { home: daemon.home, columns: 60 }).ended;
    const lines = withoutColors(narrow.stdout).split(/\r?\n/);
    expect(lines[0]).toMatch(/^RECEIPT .*PERSON +DUE/);
    expect(Math.max(...lines.map(line => line.length))).toBeLessThanOrEqual(60);
    expect((await run('receipts', 'add', deviceId, '--kind', 'return', '--due', '2999-12-31')).code).toBe(2);
    expect((await run('receipts', 'add', deviceId, '--kind', 'loan')).code).toBe(2);
    const { json: back } = await run('receipts', 'add', deviceId, '--kind', 'return', '--json');
    const { stdout } = await run('receipts', 'list', '--device', deviceId, '--csv');
    expect(stdout).toContain(`${loan.receiptId},loan,`);
    expect(stdout).toContain(`,${back.receiptId}`);
    expect((await run('receipts', 'list', '--overdue', '--json')).json.list).toEqual([]);
  });

  test('of a key that was reset is a handover of a new credential, and never a return', async () => {
    const { deviceId, run, authenticator } = await key();
    expect((await run('receipts', 'add', deviceId)).code).toBe(0);
    authenticator.reset();
    const back = await run('receipts', 'add', deviceId, '--kind', 'return');
    expect([back.code, back.stderr]).toEqual([10, expect.stringMatching(/was reset.*\n.*devmgr help receipts add\n$/)]);
    expect((await run('receipts', 'add', deviceId)).code).toBe(0);
    expect((await run('receipts', 'add', deviceId, '--kind', 'return')).code).toBe(0);
  });

  test('is signed at the enrollment', async () => {
    const { run, serialNumber } = await key('enrolled');
    const { code, rows } = await run('enroll', '--count', '1', '--activate-for', 'enrolled', '--receipt', '--json');
    expect([code, rows[0]]).toMatchObject([0, { serialNumber, receiptId: expect.stringMatching(/^RCT-/) }]);
  });
});

describe('receipts verify', () => {
  test('needs a file and one public key, and no registry', async () => {
    const { file, pem, receipt } = await files('ada', '--terms', 'Mine.\nNot lost.');
    expect((await daemon.run(['receipts', 'verify', file])).stdout).toMatch(/terms: +Mine\.\n +Not lost\.\n/);
    const { code, json } = await offline(file, '--public-key', pem);
    expect([code, json.valid, json.publicKeyTrusted]).toEqual([0, true, true]);
    expect(json.facts).toMatchObject({ receiptId: receipt.receiptId, person: 'ada', lot: '7' });
    expect((await offline(file)).json).toMatchObject({ valid: true, publicKeyTrusted: false });
  });

  test('refuses a valid receipt in place of the one that was asked for', async () => {
    const { file } = await files();
    const { url } = await answering((_, response) => response.end(success(JSON.parse(readFileSync(file, 'utf8')))));
    const other = `RCT-${'A'.repeat(20)}`;
    const env = { DEVMGR_TOKEN: 'token' };
    for (const command of ['verify', 'print']) {
      const { code, stderr } = await devmgr(['receipt', command, other, '--server', url], { env, cwd: folder });
      expect([code, stderr]).toEqual([1, expect.stringContaining(`in place of ${other}`)]);
    }
  });

  test('refuses a change of any statement, another public key, and what is not a receipt', async () => {
    const { file, pem, receipt } = await files();
    const other = await files();
    const changed = join(folder, 'changed.json');
    const check = async (change: object) => {
      writeFileSync(changed, JSON.stringify({ ...receipt, ...change }));
      return (await offline(changed, '--public-key', pem)).code;
    };
    const { text, signature } = other.receipt;
    const counted = Buffer.from(receipt.authenticatorData, 'base64url');
    counted[36]! ^= 1;
    const authenticatorData = counted.toString('base64url');
    const values = {
      receiptId: 'RCT-X',
      kind: 'return',
      deviceId: 'DEV-9',
      serialNumber: 'X',
      lot: null,
      person: 'eve',
    };
    const rest = { name: 'Eve', date: '2020-01-01T00:00:00.000Z', dueAt: '2030-01-01T00:00:00.000Z', terms: 'x' };
    const signed = { registryId: 'x', relyingParty: 'example.com', text, signature, authenticatorData };
    for (const [field, value] of Object.entries({ ...values, ...rest, ...signed }))
      expect([field, await check({ [field]: value })]).toEqual([field, 6]);
    expect(await check({})).toBe(0);
    expect((await offline(file, '--public-key', other.pem)).code).toBe(6);
    for (const text of ['', '{}', '[]', 'null', '{"text":1}', 'x'.repeat(300_000)]) {
      writeFileSync(changed, text);
      expect((await offline(changed)).code).toBe(2);
    }
  });
});

describe('receipts print', () => {
  test('writes a PDF with a name in Greek and Cyrillic letters', async () => {
    await daemon.call('POST', '/api/people', { userName: 'zoe', name: 'Ζωή Ђорђевић' });
    const { receipt, print } = await files('zoe');
    const out = join(folder, 'zoe.pdf');
    expect((await print(receipt.receiptId, '--out', out)).code).toBe(0);
    const pdf = readFileSync(out);
    expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
    expect(pdf.length).toBeGreaterThan(5000);
    expect((await print(receipt.receiptId, '--out', out)).code).toBe(2);
    const text = spawnSync('pdftotext', [out, '-'], { encoding: 'utf8' });
    if (text.error === undefined) expect(text.stdout).toContain('Ζωή Ђорђевић');
  });

  test('writes nothing if the receipt is not valid, and no file outside of the folder', async () => {
    const { receipt, print } = await files();
    const file = join(folder, 'forged.json');
    const printed = (change: object, ...more: string[]) => {
      writeFileSync(file, JSON.stringify({ ...receipt, ...change }));
      return print(file, ...more);
    };
    const forged = { person: 'eve', text: receipt.text.replace('person: ada', 'person: eve') };
    for (const change of [forged, { person: 'eve' }, { publicKey: '' }])
      expect(await printed(change, '--out', join(folder, 'forged.pdf'))).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('the receipt is not valid'),
      });
    expect(existsSync(join(folder, 'forged.pdf'))).toBe(false);
    // Anyone can sign any id with a key of their own.
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const receiptId = join(folder, 'outside');
    const text = receipt.text.replace(receipt.receiptId, receiptId);
    const signedData = [Buffer.from(receipt.authenticatorData, 'base64url'), receiptHash(text)];
    const signature = sign('sha256', Buffer.concat(signedData), privateKey).toString('base64url');
    const own = { receiptId, text, signature, publicKey: publicKey.export({ type: 'spki', format: 'pem' }) };
    const cwd = mkdtempSync(join(folder, 'cwd-'));
    writeFileSync(file, JSON.stringify({ ...receipt, ...own, proof: undefined }));
    expect(await daemon.run(['receipts', 'print', file], { cwd })).toMatchObject({ code: 0 });
    expect([existsSync(`${receiptId}.pdf`), existsSync(join(cwd, 'outside.pdf'))]).toEqual([false, true]);
  });

  test('prints no text of a file that the key has not signed', async () => {
    const { receipt, print } = await files();
    const file = join(folder, 'changed.json');
    const printed = async (change: object) => {
      writeFileSync(file, JSON.stringify({ ...receipt, ...change }));
      expect(await print(file, '--out', join(folder, 'changed.pdf'), '--force')).toMatchObject({ code: 0 });
      return readFileSync(join(folder, 'changed.pdf'));
    };
    const page = await printed({ proof: undefined });
    expect(await printed({ proof: { grade: 'unit\n\nCountersigned.' }, signedAt: 'unknown' })).toEqual(page);
  });

  test('writes nothing if the font lacks a character', async () => {
    await daemon.call('POST', '/api/people', { userName: 'wang', name: '王小明' });
    const { receipt, print } = await files('wang');
    const { code, stderr } = await print(receipt.receiptId, '--out', join(folder, 'wang.pdf'));
    expect([code, stderr]).toEqual([2, expect.stringContaining('王')]);
  });
});

needs('fido2-assert', 'fido2-tools')('fido2-assert', () => {
  const judge = (file: string, key: string) => spawnSync('fido2-assert', ['-V', '-p', '-i', file, key, 'es256']).status;

  test('verifies a receipt, and refuses another text, signature and key', async () => {
    const { print, file, pem, receipt } = await files();
    const input = join(folder, `${receipt.receiptId}.assert`);
    expect((await print(file, '--format', 'fido2', '--out', input)).code).toBe(0);
    expect(judge(input, pem)).toBe(0);
    const [hash, ...lines] = readFileSync(input, 'utf8').split('\n');
    const wrong = join(folder, 'wrong.assert');
    writeFileSync(wrong, [Buffer.alloc(32, 1).toString('base64'), ...lines].join('\n'));
    expect(judge(wrong, pem)).not.toBe(0);
    writeFileSync(wrong, [hash, 'example.com', ...lines.slice(1)].join('\n'));
    expect(judge(wrong, pem)).not.toBe(0);
    expect(judge(input, (await files()).pem)).not.toBe(0);
  });
});
