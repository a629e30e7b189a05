import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Driver } from '../../drivers/driver.ts';
import { createPcscDriver } from '../../drivers/pcsc/index.ts';
import {
  CARD_MODE,
  type Card,
  DISPOSITION,
  type Pcsc,
  type PcscReader,
  PROTOCOL,
  READER_STATE,
} from '../../drivers/pcsc/transport.ts';
import { type Recorder, recorder } from '../support/key-events.ts';
import { PCSC_TRANSPORTS } from '../support/pcsc-transports.ts';
import { type Pcscd, startPcscd, withPcscd } from '../support/pcscd.ts';
import { silentFrom, uicc } from '../support/vcard.ts';

const ICCID = '8986000000000001232';

withPcscd('faulty cards and other programs, on the real PC/SC service', () => {
  let pcscd: Pcscd;
  beforeAll(async () => {
    pcscd = await startPcscd();
  });
  afterAll(() => pcscd.stop());

  describe.each(PCSC_TRANSPORTS)('through %s', (_, load) => {
    let driver: Driver;
    let recorded: Recorder;
    let other: OtherProgram;

    beforeAll(async () => {
      other = await otherProgram(load());
    });
    afterAll(() => other.close());
    /** `deadline`: short for cards that do not answer. Elsewhere a busy machine has time. */
    function newDriver(deadline = 8_000) {
      driver = createPcscDriver({ load, deadline, retryAfter: 300 });
      recorded = recorder(driver);
    }
    beforeEach(() => newDriver());
    afterEach(async () => {
      await pcscd.removeAll();
      await driver.stop();
      await other.sees('EMPTY');
    });

    it('a card removed while it is read is not reported, and the next card is read', async () => {
      await driver.start(recorded.listener);
      const card = await pcscd.insert(silentFrom('00B0', uicc({ iccid: ICCID })));
      await card.seen('00B0');
      await card.remove();
      await other.sees('EMPTY');
      const next = await pcscd.insert(uicc({ iccid: '89019900000000000427' }));
      expect(await recorded.next('attached')).toMatchObject({ serialNumber: '89019900000000000427' });
      expect(recorded.kinds()).toEqual(['attached']);
      await next.remove();
      await recorded.next('detached');
    });

    it('a card that does not answer is reported within the deadline, and the next card is read', async () => {
      newDriver(1_500);
      await driver.start(recorded.listener);
      const card = await pcscd.insert(silentFrom('00A4', uicc({ iccid: ICCID })));
      const key = await recorded.next('attached');
      expect(key.serialNumber).toBeNull();
      expect(key.problem).toMatch(/does not answer.*Take it out/);
      await card.remove();
      expect(await recorded.next('detached')).toEqual(key);
      const next = await pcscd.insert(uicc({ iccid: ICCID }));
      expect(await recorded.next('attached')).toMatchObject({ serialNumber: ICCID, problem: null });
      await next.remove();
      await recorded.next('detached');
    });

    it('more silent cards than a client of pcsc-mini has connections do not use the connections up', async () => {
      await driver.start(recorded.listener);
      for (let round = 0; round < 6; round++) {
        const card = await pcscd.insert(silentFrom('00A4', uicc({ iccid: ICCID })));
        await card.seen('00A4');
        await card.remove();
        await other.sees('EMPTY');
      }
      const valid = await pcscd.insert(uicc({ iccid: ICCID }));
      expect(await recorded.next('attached')).toMatchObject({ serialNumber: ICCID, problem: null });
      await valid.remove();
    });

    it('a driver can be stopped while a card does not answer', async () => {
      await driver.start(recorded.listener);
      const card = await pcscd.insert(silentFrom('00A4', uicc({ iccid: ICCID })));
      await card.seen('00A4');
      await driver.stop();
      expect(driver.status().state).toBe('unavailable');
      await card.remove();
    });

    it('a card that another program holds exclusively is reported with that problem, and with its serial after the release', async () => {
      const card = await pcscd.insert(uicc({ iccid: ICCID }));
      await other.sees('PRESENT');
      const held = await other.hold('EXCLUSIVE');
      await driver.start(recorded.listener);
      expect((await recorded.next('attached')).problem).toMatch(
        /Another program has exclusive access to the card.*tried again/,
      );
      await other.release(held);
      expect(await recorded.next('changed')).toMatchObject({ serialNumber: ICCID, problem: null });
      await card.remove();
      await recorded.next('detached');
      expect(recorded.kinds().filter(kind => kind !== 'changed')).toEqual(['attached', 'detached']);
    });

    it('a card that another program keeps in a transaction is reported within the deadline, and with its serial after the release', async () => {
      const card = await pcscd.insert(uicc({ iccid: ICCID }));
      await other.sees('PRESENT');
      const held = await other.hold('SHARED');
      const transaction = await held.transaction();
      newDriver(1_500);
      await driver.start(recorded.listener);
      expect((await recorded.next('attached')).serialNumber).toBeNull();
      await transaction.end(DISPOSITION.LEAVE);
      expect(await recorded.next('changed')).toMatchObject({ serialNumber: ICCID, problem: null });
      await other.release(held);
      await card.remove();
      await recorded.next('detached');
    });

    it('a card that another program has just reset is read', async () => {
      const card = await pcscd.insert(uicc({ iccid: ICCID }));
      await other.sees('PRESENT');
      const held = await other.hold('SHARED');
      await driver.start(recorded.listener);
      expect(await recorded.next('attached')).toMatchObject({ serialNumber: ICCID });
      await other.release(held, 'RESET');
      await card.remove();
      await recorded.next('detached');
      expect(recorded.kinds()).toEqual(['attached', 'detached']);
    });

    it('a card removed and inserted faster than events arrive is two insertions', async () => {
      await driver.start(recorded.listener);
      const iccids = ['8986000000000001232', '89019900000000000427'];
      for (const iccid of iccids) {
        const card = await pcscd.insert(uicc({ iccid }));
        const key = await recorded.next('attached');
        expect(key.serialNumber).toBe(iccid);
        await card.remove();
      }
      await recorded.next('detached');
      await recorded.next('detached');
      expect(recorded.kinds()).toEqual(['attached', 'detached', 'attached', 'detached']);
    });
  });
});

type Flag = 'PRESENT' | 'EMPTY';

/** Another program that uses the first reader. */
interface OtherProgram {
  hold(mode: 'SHARED' | 'EXCLUSIVE'): Promise<Card>;
  release(card: Card, how?: 'LEAVE' | 'RESET'): Promise<void>;
  /** Resolves when the reader reports this about its card. */
  sees(flag: Flag): Promise<void>;
  close(): Promise<void>;
}

async function otherProgram(pcsc: Pcsc): Promise<OtherProgram> {
  let state = 0;
  const checks = new Set<() => void>();
  const found = Promise.withResolvers<PcscReader>();
  const watch = await pcsc.watch({
    onReader: reader => reader.name().endsWith('00 00') && found.resolve(reader),
    onReaderGone: () => undefined,
    onError: found.reject,
    onChange(name, raw) {
      if (!name.endsWith('00 00')) return;
      state = raw;
      for (const check of checks) check();
    },
  });
  const reader = await found.promise;
  return {
    hold: mode => reader.connect(CARD_MODE[mode], PROTOCOL.ANY),
    release: (card, how = 'LEAVE') => card.disconnect(DISPOSITION[how]),
    sees: flag =>
      new Promise(resolve => {
        const check = () => {
          if ((state & READER_STATE[flag]) === 0) return;
          checks.delete(check);
          resolve();
        };
        checks.add(check);
        check();
      }),
    close: () => watch.close(),
  };
}
