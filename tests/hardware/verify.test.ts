/** `devmgr keys verify` with a YubiKey on the real PC/SC service, whose card is under a root of the test. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Pcscd, startPcscd, withPcscd } from '../support/pcscd.ts';
import { type ProgramDaemon, runProgram, startDaemonProgram } from '../support/program.ts';
import { pemOf } from '../support/test-pki.ts';
import { cardRoot } from '../support/test-scp11b-card.ts';
import { yubiKey574 } from '../support/yubikey-574.ts';

withPcscd('a YubiKey 5.7.4', () => {
  const root = cardRoot();
  let home: string;
  let pcscd: Pcscd;
  let daemon: ProgramDaemon;
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'devmgr-verify-'));
    pcscd = await startPcscd({ reader: 'Yubico YubiKey CCID' });
    daemon = await startDaemonProgram({ home });
  });
  afterAll(async () => {
    await daemon.stop();
    await pcscd.stop();
    await rm(home, { recursive: true, force: true });
  });

  const devmgr = (args: readonly string[], input = '') => runProgram(args, { home, input });

  it('is enrolled with --require-proof unit; a second proof needs a replug', async () => {
    expect(await devmgr(['trust', 'add', '-', '--json'], pemOf(root))).toMatchObject({ code: 0, stderr: '' });
    await pcscd.insert(yubiKey574({ root }).program);
    const enrolled = await devmgr(['enroll', '--count', '1', '--timeout', '45', '--require-proof', 'unit', '--json']);
    expect(enrolled.code).toBe(0);
    expect(JSON.parse(enrolled.stdout)).toMatchObject({
      result: 'registered',
      serialNumber: '12345678',
      proof: { grade: 'unit', method: 'scp11b', serial: '12345678', firmware: '5.7.4' },
    });
    const keys = JSON.parse((await devmgr(['keys', '--json'])).stdout);
    expect(keys.list).toMatchObject([{ serialNumber: '12345678', proof: { grade: 'unit' } }]);

    const again = await devmgr(['keys', 'verify', '12345678', '--method', 'scp11b', '--json']);
    expect(again.code).toBe(10);
    expect(JSON.parse(again.stdout).problem).toMatch(/unplug it and plug it in again/);
    const { list } = JSON.parse((await devmgr(['list', '--proof', 'unit', '--json'])).stdout);
    expect(list).toMatchObject([{ serialNumber: '12345678' }]);
  });
});
