import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { AttachedKey, Driver, TrafficLine } from '../../drivers/driver.ts';
import { createPcscDriver } from '../../drivers/pcsc/index.ts';
import { toHex } from '../../drivers/protocols/hex.ts';
import { type Recorder, recorder } from '../support/key-events.ts';
import { type Pcscd, startPcscd, withPcscd } from '../support/pcscd.ts';
import { asking } from '../support/proof-requests.ts';
import {
  type CardProgram,
  cardOf,
  classicSim,
  contactlessCard,
  cplcData,
  euicc,
  javaCard,
  muteCard,
  openPgpCard,
  uicc,
} from '../support/vcard.ts';

withPcscd('cards in a reader of the real PC/SC service', () => {
  let pcscd: Pcscd;
  let driver: Driver;
  let recorded: Recorder;
  let traffic: TrafficLine[];

  beforeAll(async () => {
    pcscd = await startPcscd();
  });
  afterAll(() => pcscd.stop());

  beforeEach(async () => {
    traffic = [];
    driver = createPcscDriver({ traffic: line => traffic.push(line) });
    recorded = recorder(driver);
    await driver.start(recorded.listener);
  });
  afterEach(async () => {
    await pcscd.removeAll();
    await driver.stop();
  });

  it('a UICC is reported with its ICCID, and once more when it is removed', async () => {
    const card = await pcscd.insert(uicc({ iccid: '8986000000000001232' }));
    const key = await recorded.next('attached');
    expect(key).toMatchObject({
      deviceType: 'SIMKEY',
      serialNumber: '8986000000000001232',
      serialSource: 'iccid',
      model: 'UICC',
      transport: 'PCSC',
      reader: 'Virtual PCD 00 00',
      simulated: false,
      problem: null,
    });
    expect(driver.keys()).toEqual([key]);
    await card.remove();
    expect(await recorded.next('detached')).toEqual(key);
    expect(driver.keys()).toEqual([]);
    expect(recorded.kinds()).toEqual(['attached', 'detached']);
  });

  it('a card shows its answer to reset, and cannot prove what it is', async () => {
    await pcscd.insert(uicc({ iccid: '8986000000000001232' }));
    const { keyId, claims } = await recorded.next('attached');
    expect(claims).toEqual({ atr: '3B9F96801FC78031E073FE211B63E208A8830F900088' });
    const { request } = asking({}, '8986000000000001232');
    await expect(
      driver.prove(keyId, request, { signal: new AbortController().signal, onTouch: () => {} }),
    ).rejects.toMatchObject({ code: 'unavailable', message: expect.stringMatching(/card in a reader cannot prove/) });
  });

  it('a classic SIM is read in class A0', async () => {
    expect(await readOnce(classicSim({ iccid: '89019900000000000427' }))).toMatchObject({
      serialNumber: '89019900000000000427',
      serialSource: 'iccid',
      model: 'SIM',
      problem: null,
    });
    expect(traffic.map(line => toHex(line.bytes))).toContain('A0A40000022FE2');
  });

  it('an eUICC without a profile is identified by its EID, and its channel is closed', async () => {
    const eid = '89049032000000000000000000000163';
    expect(await readOnce(euicc({ eid }))).toMatchObject({ serialNumber: eid, serialSource: 'eid', model: 'eUICC' });
    expect(traffic.map(line => toHex(line.bytes))).toContain('0070800100');
  });

  it('a Java card is identified by the CPLC data of its chip', async () => {
    const chip = { fabricator: '4790', type: '5168', date: '4126', serial: '0A1B2C3D', batch: '0042' };
    expect(await readOnce(javaCard({ cplc: cplcData(chip) }))).toMatchObject({
      serialNumber: '4790516841260A1B2C3D0042',
      serialSource: 'cplc',
      manufacturer: 'NXP',
    });
  });

  it('an OpenPGP card is identified by maker and number', async () => {
    const card = openPgpCard({ aid: 'D276000124010304000F1234ABCD0000' });
    expect(await readOnce(card)).toMatchObject({
      serialNumber: '000F:1234ABCD',
      serialSource: 'openpgp',
      manufacturer: 'Nitrokey',
      model: 'OpenPGP card 3.4',
    });
  });

  it('a contactless card is identified by its UID', async () => {
    expect(await readOnce(contactlessCard({ uid: '04A1B2C3D4E5F6' }))).toMatchObject({
      serialNumber: '04A1B2C3D4E5F6',
      serialSource: 'uid',
    });
  });

  it('a contactless card with a random UID is listed without a serial, and its problem explains why', async () => {
    const key = await readOnce(contactlessCard({ uid: '08A1B2C3' }));
    expect(key).toMatchObject({ serialNumber: null, serialSource: null });
    expect(key.problem).toMatch(/random at each tap.*by hand/);
  });

  it('a card without a known serial source is listed, and its problem explains what to do', async () => {
    const key = await readOnce(cardOf([]));
    expect(key.serialNumber).toBeNull();
    expect(key.problem).toMatch(/No serial could be read.*Register the card by hand/);
  });

  it('a mute card is listed, and its problem lists the causes', async () => {
    const key = await readOnce(muteCard());
    expect(key.serialNumber).toBeNull();
    expect(key.problem).toMatch(/no sign of life.*upside down.*wrong type.*dirty/);
  });

  it('two cards in two readers are two keys, each with its reader', async () => {
    const cards = [
      await pcscd.insert(uicc({ iccid: '8986000000000001232' }), 0),
      await pcscd.insert(uicc({ iccid: '89019900000000000427' }), 1),
    ];
    await recorded.next('attached');
    await recorded.next('attached');
    const found = driver.keys().map(key => [key.reader, key.serialNumber]);
    expect(found.sort()).toEqual([
      ['Virtual PCD 00 00', '8986000000000001232'],
      ['Virtual PCD 00 01', '89019900000000000427'],
    ]);
    await Promise.all(cards.map(card => card.remove()));
    await recorded.next('detached');
    await recorded.next('detached');
  });

  it('a card that pcscd powers down is still attached', async () => {
    const card = await pcscd.insert(uicc({ iccid: '8986000000000001232' }));
    await recorded.next('attached');
    await card.poweredDown();
    expect(driver.keys()).toHaveLength(1);
    await card.remove();
    await recorded.next('detached');
    expect(recorded.kinds()).toEqual(['attached', 'detached']);
  });

  it('every command and response is reported as traffic of its key', async () => {
    const key = await readOnce(uicc({ iccid: '8986000000000001232' }));
    // Its report about itself is read after that.
    expect(traffic.slice(0, 10).map(line => [line.direction, toHex(line.bytes)])).toEqual([
      ['out', '00A40004023F00'],
      ['in', '6108'],
      ['out', '00C0000008'],
      ['in', '62088202412183029000'],
      ['out', '00A40004022FE2'],
      ['in', '6108'],
      ['out', '00C0000008'],
      ['in', '62088202412183029000'],
      ['out', '00B000000A'],
      ['in', '986800000000001032F29000'],
    ]);
    expect(new Set(traffic.map(line => `${line.driver} ${line.keyId}`))).toEqual(new Set([`pcsc ${key.keyId}`]));
  });

  /** Inserts a card, waits until it is reported, and removes it. */
  async function readOnce(program: CardProgram): Promise<AttachedKey> {
    const card = await pcscd.insert(program);
    const key = await recorded.next('attached');
    await card.remove();
    await recorded.next('detached');
    return key;
  }
});
