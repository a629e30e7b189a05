/** A watch that fails while the service lives: a new one takes its place, and the cards stay where they are. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createPcscDriver, type PcscDriver } from '../../drivers/pcsc/index.ts';
import { FakePcsc } from '../support/fake-pcsc.ts';
import { type Recorder, recorder } from '../support/key-events.ts';
import { uicc } from '../support/vcard-programs.ts';

const BROKEN = 'InternalError';

let service: FakePcsc;
let driver: PcscDriver;
let told: Recorder;
/** The clock is the test's: this lets so much of it pass, with everything that falls due. */
const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);

beforeEach(async () => {
  service = new FakePcsc();
  driver = createPcscDriver({ load: () => service.binding() });
  told = recorder(driver);
  await driver.start(told.listener);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  service.plug('A Reader 00 00', { program: uicc({ iccid: '8986000000000001232' }) });
  await told.next('attached');
});
afterEach(async () => {
  vi.useRealTimers();
  await driver.stop();
});

it('tells nothing of a card that stays', async () => {
  service.fail(BROKEN);
  await pass(3_000);
  expect(told.kinds()).toEqual(['attached']);
});

it('tells nothing of a card that stays, when the new watch fails as well', async () => {
  service.fail(BROKEN);
  await pass(1_900);
  service.fail(BROKEN);
  await pass(3_000);
  expect(told.kinds()).toEqual(['attached']);
});

it('tells of a card that was pulled meanwhile, however often the watch fails', async () => {
  service.fail(BROKEN);
  service.forget('A Reader 00 00');
  await pass(1_900);
  service.fail(BROKEN);
  await pass(100);
  expect(told.kinds()).toEqual(['attached', 'detached']);
});

it('watches a reader that the service names after it has failed and died', async () => {
  service.fail(BROKEN);
  service.forget('A Reader 00 00');
  await pass(500);
  service.fail('NoService');
  await pass(500);
  service.plug('A Reader 00 00', { program: uicc({ iccid: '8986000000000001232' }) });
  await told.next('detached');
  await told.next('attached');
  await pass(3_000);
  expect(told.kinds()).toEqual(['attached', 'detached', 'attached']);
});
