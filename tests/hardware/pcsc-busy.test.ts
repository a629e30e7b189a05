import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Driver } from '../../drivers/driver.ts';
import { createPcscDriver } from '../../drivers/pcsc/index.ts';
import { type Recorder, recorder } from '../support/key-events.ts';
import { type Pcscd, startPcscd, withPcscd } from '../support/pcscd.ts';

const VCARD = new URL('../support/vcard.ts', import.meta.url).href;
const FIRST = '8986000000000001232';
const LAST = '89019900000000000427';

/** Puts cards into two readers and pulls them, each time as soon as the reader has powered the card; leaves one in. */
const HANDS = `
  import { writeFileSync } from 'node:fs';
  import { setTimeout as pause } from 'node:timers/promises';
  const { plugCard, uicc } = await import(${JSON.stringify(VCARD)});
  const [port, done] = [Number(process.argv[1]), process.argv[2]];
  async function pass(slot) {
    for (let round = 0; round < 4; round++) {
      const powered = Promise.withResolvers();
      const program = uicc({ iccid: '${FIRST}' });
      const card = await plugCard({ ...program, reset: powered.resolve }, port + slot);
      await powered.promise;
      await card.remove();
      // The reader looks every 400 ms: a card swapped within that time is the same card to it.
      await pause(900);
    }
  }
  await Promise.all([pass(0), pass(1)]);
  const noticed = Promise.withResolvers();
  await plugCard({ ...uicc({ iccid: '${LAST}' }), reset: noticed.resolve }, port);
  await noticed.promise;
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
  });
  afterEach(async () => {
    hands.kill();
    await once(hands, 'exit');
    await driver.stop();
    await pcscd.stop();
  });

  it('knows what is in the readers as soon as it listens again, and tells each stay once', async () => {
    const done = join(pcscd.home, 'done');
    hands = spawn(process.execPath, ['--input-type=module', '--eval', HANDS, String(pcscd.ports[0]), done], {
      stdio: 'inherit',
    });
    // Nothing of this process runs meanwhile, as in a long computation: more happens than the binding can queue.
    const bell = new Int32Array(new SharedArrayBuffer(4));
    for (let waits = 0; !existsSync(done) && waits < 400; waits++) Atomics.wait(bell, 0, 0, 50);
    while ((await told.next('attached')).serialNumber !== LAST);
    expect(driver.keys().map(key => key.serialNumber)).toEqual([LAST]);
    expect(notices).toContain('a new PC/SC client is made');
    const kinds = told.kinds();
    expect(kinds.filter(kind => kind === 'attached').length - kinds.filter(kind => kind === 'detached').length).toBe(1);
  });
});
