/** A client that fails while the service runs: a new one replaces it, and the cards stay inserted. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createPcscDriver, type PcscDriver } from '../../drivers/pcsc/index.ts';
import { FakePcsc } from '../support/fake-pcsc.ts';
import { type Recorder, recorder } from '../support/key-events.ts';
import { uicc } from '../support/vcard-programs.ts';

const BROKEN = 'InternalError';

let service: FakePcsc;
let driver: PcscDriver;
let recorded: Recorder;
/** Advances the test's clock by this many milliseconds, with every timer that is due. */
const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);

beforeEach(async () => {
  service = new FakePcsc();
  driver = createPcscDriver({ load: () => service.transport() });
  recorded = recorder(driver);
  await driver.start(recorded.listener);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  service.plug('A Reader 00 00', { program: uicc({ iccid: '8986000000000001232' }) });
  await recorded.next('attached');
});
afterEach(async () => {
  vi.useRealTimers();
  await driver.stop();
});

it('reports nothing about a card that stays', async () => {
  service.fail(BROKEN);
  await pass(3_000);
  expect(recorded.kinds()).toEqual(['attached']);
});

it('reports nothing about a card that stays, even if the new client fails as well', async () => {
  service.fail(BROKEN);
  await pass(1_900);
  service.fail(BROKEN);
  await pass(3_000);
  expect(recorded.kinds()).toEqual(['attached']);
});

it('reports a card that was removed in between, however often the client fails', async () => {
  service.fail(BROKEN);
  service.forget('A Reader 00 00');
  await pass(1_900);
  service.fail(BROKEN);
  await pass(100);
  expect(recorded.kinds()).toEqual(['attached', 'detached']);
});

it('watches a reader that appears after the client failed and the service died', async () => {
  service.fail(BROKEN);
  service.forget('A Reader 00 00');
  await pass(500);
  service.fail('NoService');
  await pass(500);
  service.plug('A Reader 00 00', { program: uicc({ iccid: '8986000000000001232' }) });
  await recorded.next('detached');
  await recorded.next('attached');
  await pass(3_000);
  expect(recorded.kinds()).toEqual(['attached', 'detached', 'attached']);
});
