import type { Card, Reader, ReaderStatusFlags } from 'pcsc-mini';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Driver } from '../../drivers/driver.ts';
import { openClient } from '../../drivers/pcsc/client.ts';
import { createPcscDriver } from '../../drivers/pcsc/index.ts';
import { loadPcsc } from '../../drivers/pcsc/library.ts';
import { type Recorder, recorder } from '../support/key-events.ts';
import { type Pcscd, startPcscd, withPcscd } from '../support/pcscd.ts';
import { silentFrom, uicc } from '../support/vcard.ts';

const ICCID = '8986000000000001232';

withPcscd('cards and other programs that misbehave, on the real PC/SC service', () => {
  let pcscd: Pcscd;
  let driver: Driver;
  let told: Recorder;
  let other: OtherProgram;

  beforeAll(async () => {
    pcscd = await startPcscd();
    other = await otherProgram();
  });
  afterAll(async () => {
    await other.close();
    await pcscd.stop();
  });
  beforeEach(() => {
    driver = createPcscDriver({ deadline: 1_500, retryAfter: 300 });
    told = recorder(driver);
  });
  afterEach(async () => {
    await pcscd.removeAll();
    await driver.stop();
    await other.sees('EMPTY');
  });

  it('a card pulled while it is read is told neither as attached nor as detached, and the next card is read', async () => {
    await driver.start(told.listener);
    const card = await pcscd.insert(silentFrom('00B0', uicc({ iccid: ICCID })));
    await card.seen('00B0');
    await card.remove();
    await other.sees('EMPTY');
    const next = await pcscd.insert(uicc({ iccid: '89019900000000000427' }));
    expect(await told.next('attached')).toMatchObject({ serialNumber: '89019900000000000427' });
    expect(told.kinds()).toEqual(['attached']);
    await next.remove();
    await told.next('detached');
  });

  it('a card that never answers is given up on within the deadline, and the reader is free for the next card', async () => {
    await driver.start(told.listener);
    const card = await pcscd.insert(silentFrom('00A4', uicc({ iccid: ICCID })));
    const key = await told.next('attached');
    expect(key.serialNumber).toBeNull();
    expect(key.problem).toMatch(/does not answer.*Take it out/);
    await card.remove();
    expect(await told.next('detached')).toEqual(key);
    const next = await pcscd.insert(uicc({ iccid: ICCID }));
    expect(await told.next('attached')).toMatchObject({ serialNumber: ICCID, problem: null });
    await next.remove();
    await told.next('detached');
  });

  it('silent cards one after the other, more than the binding has connections, use none of them up', async () => {
    await driver.start(told.listener);
    for (let round = 0; round < 6; round++) {
      const card = await pcscd.insert(silentFrom('00A4', uicc({ iccid: ICCID })));
      await card.seen('00A4');
      await card.remove();
      await other.sees('EMPTY');
    }
    const good = await pcscd.insert(uicc({ iccid: ICCID }));
    expect(await told.next('attached')).toMatchObject({ serialNumber: ICCID, problem: null });
    await good.remove();
  });

  it('a driver that is stopped while a card keeps silent stops all the same', async () => {
    await driver.start(told.listener);
    const card = await pcscd.insert(silentFrom('00A4', uicc({ iccid: ICCID })));
    await card.seen('00A4');
    await driver.stop();
    expect(driver.status().state).toBe('unavailable');
    await card.remove();
  });

  it('a card that another program holds for itself is told as such, and with its serial once it is free', async () => {
    const card = await pcscd.insert(uicc({ iccid: ICCID }));
    await other.sees('PRESENT');
    const held = await other.hold('EXCLUSIVE');
    await driver.start(told.listener);
    expect((await told.next('attached')).problem).toMatch(/Another program has the card for itself.*tried again/);
    await other.release(held);
    expect(await told.next('changed')).toMatchObject({ serialNumber: ICCID, problem: null });
    await card.remove();
    await told.next('detached');
    expect(told.kinds().filter(kind => kind !== 'changed')).toEqual(['attached', 'detached']);
  });

  it('a card that another program keeps in a transaction is told as silent within the deadline, then with its serial', async () => {
    const card = await pcscd.insert(uicc({ iccid: ICCID }));
    await other.sees('PRESENT');
    const held = await other.hold('SHARED');
    const transaction = await held.transaction();
    await driver.start(told.listener);
    expect((await told.next('attached')).serialNumber).toBeNull();
    await transaction.end(loadPcsc().CardDisposition.LEAVE);
    expect(await told.next('changed')).toMatchObject({ serialNumber: ICCID, problem: null });
    await other.release(held);
    await card.remove();
    await told.next('detached');
  });

  it('a card that another program has just reset is read all the same', async () => {
    const card = await pcscd.insert(uicc({ iccid: ICCID }));
    await other.sees('PRESENT');
    const held = await other.hold('SHARED');
    await driver.start(told.listener);
    expect(await told.next('attached')).toMatchObject({ serialNumber: ICCID });
    await other.release(held, 'RESET');
    await card.remove();
    await told.next('detached');
    expect(told.kinds()).toEqual(['attached', 'detached']);
  });

  it('a card pulled and put back faster than events come is two pluggings', async () => {
    await driver.start(told.listener);
    const iccids = ['8986000000000001232', '89019900000000000427'];
    for (const iccid of iccids) {
      const card = await pcscd.insert(uicc({ iccid }));
      const key = await told.next('attached');
      expect(key.serialNumber).toBe(iccid);
      await card.remove();
    }
    await told.next('detached');
    await told.next('detached');
    expect(told.kinds()).toEqual(['attached', 'detached', 'attached', 'detached']);
  });
});

type Flag = 'PRESENT' | 'EMPTY';

/** Another program that uses the first reader. */
interface OtherProgram {
  hold(mode: 'SHARED' | 'EXCLUSIVE'): Promise<Card>;
  release(card: Card, how?: 'LEAVE' | 'RESET'): Promise<void>;
  /** Resolves when the reader says so of its card. */
  sees(flag: Flag): Promise<void>;
  close(): Promise<void>;
}

async function otherProgram(): Promise<OtherProgram> {
  const pcsc = loadPcsc();
  let status: ReaderStatusFlags | null = null;
  const checks = new Set<() => void>();
  const found = Promise.withResolvers<Reader>();
  const client = openClient(pcsc, {
    onReader: reader => reader.name().endsWith('00 00') && found.resolve(reader),
    onReaderGone: () => undefined,
    onError: found.reject,
    onChange(name, flags) {
      if (!name.endsWith('00 00')) return;
      status = flags;
      for (const check of checks) check();
    },
  });
  const reader = await found.promise;
  return {
    async hold(mode) {
      return reader.connect(pcsc.CardMode[mode]);
    },
    async release(card, how = 'LEAVE') {
      await card.disconnect(pcsc.CardDisposition[how]);
    },
    sees: flag =>
      new Promise(resolve => {
        const check = () => {
          if (!status?.has(pcsc.ReaderStatus[flag])) return;
          checks.delete(check);
          resolve();
        };
        checks.add(check);
        check();
      }),
    close: () => client.close(),
  };
}
