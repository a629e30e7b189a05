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
 * Puts a card into the first reader and pulls it, again and again, each time as soon as a driver of its own has told it;
 * leaves another in. Five changes that nobody took are more than the binding keeps.
 */
const HANDS = `
  import { writeFileSync } from 'node:fs';
  const { createPcscDriver } = await import(${module('../../drivers/pcsc/index.ts')});
  const { recorder } = await import(${module('../support/key-events.ts')});
  const { plugCard, uicc } = await import(${module('../support/vcard.ts')});
  const [port, done] = [Number(process.argv[1]), process.argv[2]];
  const driver = createPcscDriver();
  const told = recorder(driver);
  await driver.start(told.listener);
  for (let round = 0; round < 4; round++) {
    const card = await plugCard(uicc({ iccid: '${FIRST}' }), port);
    await told.next('attached');
    await card.remove();
    await told.next('detached');
  }
  await plugCard(uicc({ iccid: '${LAST}' }), port);
  await told.next('attached');
  await driver.stop();
  writeFileSync(done, '');
`;

withPcscd('a process too busy to hear of the cards that come and go', () => {
  let pcscd: Pcscd;
  let driver: Driver;
  let told: Recorder;
  let hands: ChildProcess;
  const notices: string[] = [];

  beforeEach(async () => {
    pcscd = await startPcscd();
    driver = createPcscDriver({ notice: message => notices.push(message) });
    told = recorder(driver);
    await driver.start(told.listener);
    // Else it would not hear of the cards at all, and have nothing to lose.
    await told.state('ready', /Virtual PCD 00 00.*Virtual PCD 00 01/);
  });
  afterEach(async () => {
    hands.kill();
    await once(hands, 'exit');
    await driver.stop();
    await pcscd.stop();
  });

  it('knows what is in the readers as soon as it listens again, and tells each stay once', async () => {
    const done = join(pcscd.home, 'done');
    const args = ['--input-type=module', '--eval', HANDS, String(pcscd.ports[0]), done];
    hands = spawn(process.execPath, args, { stdio: 'inherit' });
    // Nothing of this process runs meanwhile, as in a long computation: more happens than the binding can queue.
    const bell = new Int32Array(new SharedArrayBuffer(4));
    for (let waits = 0; !existsSync(done) && waits < 1_000; waits++) Atomics.wait(bell, 0, 0, 50);
    expect(existsSync(done)).toBe(true);
    while ((await told.next('attached')).serialNumber !== LAST);
    expect(driver.keys().map(key => key.serialNumber)).toEqual([LAST]);
    expect(notices).toContain('a new PC/SC client is made');
    const kinds = told.kinds();
    expect(kinds.filter(kind => kind === 'attached').length - kinds.filter(kind => kind === 'detached').length).toBe(1);
  });
});
