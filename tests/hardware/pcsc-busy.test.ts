import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Driver } from '../../drivers/driver.ts';
import { createPcscDriver } from '../../drivers/pcsc/index.ts';
import { type Recorder, recorder } from '../support/key-events.ts';
import { type Pcscd, startPcscd, withPcscd } from '../support/pcscd.ts';

const module = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
const FIRST = '8986000000000001232';
const LAST = '89019900000000000427';

/**
 * Another process that inserts a card into the first reader and removes it, four times, each time as soon as its own driver
 * has reported it; then it leaves another card in.
 */
const OTHER_PROCESS = `
  import { writeFileSync } from 'node:fs';
  const { createPcscDriver } = await import(${module('../../drivers/pcsc/index.ts')});
  const { recorder } = await import(${module('../support/key-events.ts')});
  const { plugCard, uicc } = await import(${module('../support/vcard.ts')});
  const [port, done] = [Number(process.argv[1]), process.argv[2]];
  const driver = createPcscDriver();
  const recorded = recorder(driver);
  await driver.start(recorded.listener);
  for (let round = 0; round < 4; round++) {
    const card = await plugCard(uicc({ iccid: '${FIRST}' }), port);
    await recorded.next('attached');
    await card.remove();
    await recorded.next('detached');
  }
  await plugCard(uicc({ iccid: '${LAST}' }), port);
  await recorded.next('attached');
  await driver.stop();
  writeFileSync(done, '');
`;

withPcscd('a process that is too busy to receive events', () => {
  let pcscd: Pcscd;
  let driver: Driver;
  let recorded: Recorder;
  let other: ChildProcess;
  const notices: string[] = [];

  beforeEach(async () => {
    pcscd = await startPcscd();
    driver = createPcscDriver({ notice: message => notices.push(message) });
    recorded = recorder(driver);
    await driver.start(recorded.listener);
    // Otherwise it would have no events to miss.
    await recorded.state('ready', /Virtual PCD 00 00.*Virtual PCD 00 01/);
  });
  afterEach(async () => {
    other.kill();
    await once(other, 'exit');
    await driver.stop();
    await pcscd.stop();
  });

  it('knows what is in the readers as soon as it runs again, and reports each insertion once', async () => {
    const done = join(pcscd.home, 'done');
    const args = ['--input-type=module', '--eval', OTHER_PROCESS, String(pcscd.ports[0]), done];
    other = spawn(process.execPath, args, { stdio: 'inherit' });
    // Blocks this process like a long computation, until all of it has happened.
    const bell = new Int32Array(new SharedArrayBuffer(4));
    for (let waits = 0; !existsSync(done) && waits < 1_000; waits++) Atomics.wait(bell, 0, 0, 50);
    expect(existsSync(done)).toBe(true);
    while ((await recorded.next('attached')).serialNumber !== LAST);
    expect(driver.keys().map(key => key.serialNumber)).toEqual([LAST]);
    expect(notices).toEqual([]);
    const kinds = recorded.kinds();
    expect(kinds.filter(kind => kind === 'attached').length - kinds.filter(kind => kind === 'detached').length).toBe(1);
  });
});
