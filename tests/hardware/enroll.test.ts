/** Enrolling on real parts, with the built program: a key that is plugged in is registered. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { needs } from '../support/needs.ts';
import { type Pcscd, startPcscd, withPcscd } from '../support/pcscd.ts';
import { type ProgramDaemon, runProgram, startDaemonProgram, startProgram } from '../support/program.ts';
import { UsbBus } from '../support/umockdev.ts';
import { uicc } from '../support/vcard.ts';

const codeShape = /^([A-HJ-NP-Z2-9]{4}-){3}[A-HJ-NP-Z2-9]{4}$/;
let home: string;
let daemon: ProgramDaemon;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'devmgr-enroll-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

/** Enrolls one key that is plugged in while `enroll` waits. */
async function enrollOne(plug: () => Promise<unknown>) {
  const enrolling = startProgram(['enroll', '--count', '1', '--timeout', '45', '--json'], { home });
  await Promise.race([listening(enrolling.ended), enrolling.ended]);
  await plug();
  const { code, stdout, stderr } = await enrolling.ended;
  expect(stderr).not.toMatch(/error/i);
  expect(code).toBe(0);
  const lines = stdout.trim().split('\n');
  expect(lines).toHaveLength(1);
  return JSON.parse(lines[0]!);
}

/** Resolves when `enroll` listens for keys (the daemon counts its stream) or has ended. */
async function listening(ended: Promise<unknown>): Promise<void> {
  let over = false;
  void ended.finally(() => {
    over = true;
  });
  while (!over) {
    const metrics = await (await fetch(`${daemon.url}/metrics`)).text();
    if (/^devmgr_streams\{.*\} [1-9]/m.test(metrics)) return;
  }
}

/** Resolves when the daemon lists no key: one that is still listed would count as attached at the start. */
async function nothingPlugged(): Promise<void> {
  for (;;) if ((await json('keys')).list.length === 0) return;
}

const json = async (...args: string[]) => {
  const ran = await runProgram([...args, '--json'], { home });
  expect(ran.stderr).toBe('');
  return JSON.parse(ran.stdout);
};

withPcscd('a SIM card in a reader', () => {
  let pcscd: Pcscd;
  beforeEach(async () => {
    pcscd = await startPcscd();
    daemon = await startDaemonProgram({ home });
  });
  afterEach(async () => {
    await daemon.stop();
    await pcscd.stop();
  });

  it('that is inserted while enroll waits is registered, and is recognized when it is inserted again', async () => {
    // A card that is removed while the reader powers it is reported as one that does not answer.
    let card = await pcscd.insert(uicc({ iccid: '8988211000000000006' }));
    while ((await json('keys')).list.length === 0);
    await card.remove();
    await nothingPlugged();
    const enrolled = await enrollOne(async () => {
      card = await pcscd.insert(uicc({ iccid: '8986000000000001232' }));
    });
    expect(enrolled).toMatchObject({
      result: 'registered',
      deviceId: 'DEV-1',
      deviceType: 'SIMKEY',
      serialNumber: '8986000000000001232',
      activationCode: expect.stringMatching(codeShape),
      status: 'INACTIVE',
      simulated: false,
    });
    const list = await json('list');
    expect(list.list).toMatchObject([{ deviceId: 'DEV-1', status: 'INACTIVE', serialNumber: '8986000000000001232' }]);

    await card.remove();
    await nothingPlugged();
    const again = await enrollOne(() => pcscd.insert(uicc({ iccid: '8986000000000001232' })));
    expect(again).toMatchObject({ result: 'known', deviceId: 'DEV-1', status: 'INACTIVE' });
    expect((await json('list')).pagination.total).toBe(1);
  });
});

needs('umockdev-run', 'umockdev')('a USB key', () => {
  let bus: UsbBus;
  beforeEach(async () => {
    bus = await UsbBus.create();
    daemon = await startDaemonProgram({ home, env: bus.env });
  });
  afterEach(async () => {
    await daemon.stop();
    await bus.dispose();
  });

  it('that is plugged in while enroll waits is registered, and is recognized when it is plugged in again', async () => {
    let address = 0;
    const plug = async () => {
      address = await bus.plug({ serial: 'SN-0001', manufacturer: 'Feitian', product: 'Bank key' });
    };
    expect(await enrollOne(plug)).toMatchObject({
      result: 'registered',
      deviceId: 'DEV-1',
      deviceType: 'UKEY',
      serialNumber: 'SN-0001',
      manufacturer: 'Feitian',
      model: 'Bank key',
      activationCode: expect.stringMatching(codeShape),
      status: 'INACTIVE',
      simulated: false,
    });
    expect((await json('keys')).list).toMatchObject([
      { serialNumber: 'SN-0001', device: { deviceId: 'DEV-1', status: 'INACTIVE' } },
    ]);
    const shown = await runProgram(['show', '--plugged', '--json'], { home });
    expect(JSON.parse(shown.stdout)).toMatchObject({ deviceId: 'DEV-1', statistics: { totalUsageCount: 0 } });

    await bus.pull(address);
    await nothingPlugged();
    expect(await enrollOne(plug)).toMatchObject({ result: 'known', deviceId: 'DEV-1', status: 'INACTIVE' });
    expect((await json('list')).pagination.total).toBe(1);
  });
});
