/**
 * Where a random PIN is after a key was issued: on the key, on the letter and, sealed, in the registry. In no file, and not in the
 * memory of the daemon.
 */
import { createWriteStream, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { writeHeapSnapshot } from 'node:v8';
import { Decrypter, generateIdentity, identityToRecipient } from 'age-encryption';
import { expect, it, onTestFinished, vi } from 'vitest';
import { backup } from '../../daemon/maintenance/backup.ts';
import { restore } from '../../daemon/maintenance/restore.ts';
import { createHidDriver } from '../../drivers/hid/index.ts';
import { start } from '../cli/program.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { FakeHid } from '../support/fake-hid.ts';
import { FidoKey } from '../support/fido-key.ts';
import { activation, data, freshSerial, register } from '../support/fleet.ts';
import { IssuableAuthenticator } from '../support/issuable-authenticator.ts';
import { startEntra } from '../support/issuing-providers.ts';
import { labelPrinter } from '../support/label-printer.ts';
import { runDaemonProgram } from '../support/programs.ts';
import { provedDevice, receiptOf, trustReceiptKeys } from '../support/receipt-key.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { authenticatorRoot } from '../support/test-authenticator.ts';

const { system } = vi.hoisted(() => ({ system: { current: null as unknown } }));
vi.mock('../../daemon/hardware/drivers.ts', () => ({
  createDrivers: (_: unknown, log: object) => [createHidDriver({ system: system.current as FakeHid, ...log })],
}));

/** The encodings of a text: plain, in two bytes each, in hex, and in base64 after 0, 1 or 2 other bytes. */
function formsOf(text: string): readonly Buffer[] {
  const inBase64 = [0, 1, 2].map(offset => {
    const whole = Buffer.from(' '.repeat(offset) + text).toString('base64');
    return whole.slice(Math.ceil((offset * 4) / 3), Math.floor(((offset + text.length) * 4) / 3) - 1);
  });
  const hex = Buffer.from(text).toString('hex');
  return [Buffer.from(text), Buffer.from(text, 'utf16le'), ...[hex, ...inBase64].map(one => Buffer.from(one))];
}

/** Files below these folders that have the text, in any form. */
const filesWith = (text: string, folders: readonly string[]): string[] =>
  folders
    .flatMap(folder => readdirSync(folder, { withFileTypes: true, recursive: true }))
    .filter(entry => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter(file => {
      const content = readFileSync(file);
      return formsOf(text).some(form => content.includes(form));
    });

it('a random PIN is in no file, log, result, backup, print queue or argument, nor in the memory of the daemon that has set it; a restored backup opens it, and has credential and receipt', async () => {
  const hid = new FakeHid();
  system.current = hid;
  const daemon = await startTestDaemon({ webhookAllow: ['127.0.0.1'], traffic: 'full' });
  onTestFinished(() => daemon.stop());
  const identity = await generateIdentity();
  const policy = { recipients: [await identityToRecipient(identity)] };
  data(await daemon.call('PUT', '/api/policies/pin', policy));
  const { state, settings } = await startEntra();
  data(await daemon.call('POST', '/api/providers', { name: 'company', ...settings }));
  const serialNumber = freshSerial('SECRET');
  const device = await register(daemon, { serialNumber });
  const { deviceId } = data(await daemon.call('POST', '/api/devices/activate', activation(device, 'ada')));
  const aaguid = 'ee882879-721c-4913-9775-3dfcce97072a';
  const authenticator = new IssuableAuthenticator({ root: authenticatorRoot(), aaguid });
  hid.plug({ serial: serialNumber, interfaces: { fido: new FidoKey({ authenticator, touched: true, issued: true }) } });
  // The printer keeps what it has printed, as many do. The station has a queue too, which keeps each job.
  const [printed, queue] = [temporaryFolder(), temporaryFolder()];
  const printer = await labelPrinter((socket, nth) => {
    void pipeline(socket, createWriteStream(join(printed, `job-${nth}`)), { end: true }).catch(() => undefined);
    socket.on('end', () => socket.end());
  });
  onTestFinished(() => void printer.server.close());
  const programs = temporaryFolder();
  mkdirSync(join(queue, 'jobs'));
  for (const name of ['lp', 'lpr'])
    writeFileSync(
      join(programs, name),
      `#!/bin/sh\nprintf '%s ' "$@" >"${queue}/jobs/$$.words"\ncat >"${queue}/jobs/$$"\n`,
      {
        mode: 0o755,
      },
    );

  // The command makes the PIN in a process of its own: nothing here knows it before it is opened below.
  const [home, temporary] = [temporaryFolder(), temporaryFolder()];
  const env = {
    DEVMGR_TOKEN: daemon.adminToken,
    DEVMGR_LABEL_PRINTER: 'lp',
    TMPDIR: temporary,
    PATH: [programs, process.env.PATH].join(delimiter),
  };
  const at = ['--server', daemon.url, '--hardware', daemon.url];
  const flags = ['--for', 'company', '--pin', 'random:16', '--printer', printer.address, '--json'];
  const running = start(['keys', 'issue', serialNumber, ...flags, ...at], { home, env });
  const { code, stdout, stderr } = await running.ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(state.accepted).toHaveLength(1);
  const snapshot = join(temporary, 'heap');
  writeHeapSnapshot(snapshot);
  const identityFile = join(temporaryFolder(), 'identity');
  writeFileSync(identityFile, identity);
  const letter = ['keys', 'letter', deviceId, '--identity-file', identityFile, '--printer', printer.address];
  const reprinted = start([...letter, '--server', daemon.url], { home, env });
  const again = await reprinted.ended;
  expect(again.code).toBe(0);
  const all = [stdout, stderr, again.stdout, again.stderr, daemon.logged()];
  const words = [running, reprinted].flatMap(({ child }) => child.spawnargs);
  writeFileSync(join(temporary, 'output'), [...all, ...words].join('\n'));
  await trustReceiptKeys(daemon);
  const signed = await provedDevice(daemon);
  const { receiptId } = await receiptOf(daemon, signed.key, {
    deviceId: signed.deviceId,
    kind: 'loan',
    dueAt: '2999-01-01T00:00:00Z',
  });
  const copies = temporaryFolder();
  const program = { home: daemon.home, json: true, file: join(copies, 'backup') };
  expect(await runDaemonProgram(backup, program as never)).toMatchObject({ code: 0 });

  const { sealed } = data(await daemon.call('GET', `/api/devices/${deviceId}/pin`));
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  const pin = await decrypter.decrypt(Buffer.from(sealed, 'base64url'), 'text');
  expect([pin.length, authenticator.isPin(pin)]).toEqual([16, true]);
  const folders = [daemon.home, home, temporary, copies, queue];
  expect(filesWith(pin, folders)).toEqual([]);
  // The letter reaches the printer and nothing else: what the printer keeps is its own.
  expect(filesWith(pin, [printed]).sort()).toEqual(['job-0', 'job-1'].map(name => join(printed, name)));
  expect(readdirSync(join(queue, 'jobs'))).toEqual([]);
  // The search finds what the files do contain.
  expect(filesWith(serialNumber, folders)).toContain(snapshot);
  expect(filesWith(sealed, folders)).toContain(join(copies, 'backup'));
  rmSync(snapshot);

  // The backup brings back what was changed since: credential, sealed PIN and receipt.
  const read = () =>
    Promise.all(
      [`devices/${deviceId}/credentials`, `receipts/${receiptId}`, `receipts/list?deviceId=${signed.deviceId}`].map(
        async path => data(await daemon.call('GET', `/api/${path}`)),
      ),
    );
  const before = await read();
  data(
    await daemon.call('POST', `/api/devices/${deviceId}/pin`, { sealed: `${sealed.slice(0, -4)}AAAA`, reset: true }),
  );
  const showEarlier = ['keys', 'letter', deviceId, '--identity-file', identityFile, '--server', daemon.url, '--json'];
  const opened = await Promise.all(['1', '2'].map(n => start([...showEarlier, '--earlier', n], { home, env }).ended));
  expect(opened.map(({ code }) => code)).toEqual([0, 5]);
  expect(JSON.parse(opened[0]!.stdout)).toMatchObject({ deviceId, pin });
  data(await daemon.call('POST', `/api/devices/${deviceId}/lock`, { reason: 'lost' }));
  await state.emptied();
  await receiptOf(daemon, signed.key, { deviceId: signed.deviceId, kind: 'return' });
  expect(await read()).not.toEqual(before);
  await daemon.stopKeepingHome();
  expect(await runDaemonProgram(restore, program as never)).toMatchObject({ code: 0 });
  await daemon.startAgain();
  expect(await read()).toEqual(before);
  expect(data(await daemon.call('GET', `/api/devices/${deviceId}/pin`)).sealed).toBe(sealed);
});
