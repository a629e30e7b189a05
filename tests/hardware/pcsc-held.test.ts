/** A key whose smart card side another program keeps in a transaction: pcscd answers nobody else about it meanwhile. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createHidDriver } from '../../drivers/hid/index.ts';
import { createPcscDriver, type PcscDriver } from '../../drivers/pcsc/index.ts';
import { FakeHid } from '../support/fake-hid.ts';
import { FakePcsc } from '../support/fake-pcsc.ts';
import { recorder } from '../support/key-events.ts';
import { token2Card } from '../support/vcard-programs.ts';

const TOKEN2 = '349e:0026';

let held: PromiseWithResolvers<void>;
let service: FakePcsc;
let usb: FakeHid;
let pcsc: PcscDriver;

beforeEach(() => {
  held = Promise.withResolvers();
  service = new FakePcsc();
  usb = new FakeHid();
  pcsc = createPcscDriver({ load: () => service.binding(), deadline: 50 });
});
afterEach(async () => {
  held.resolve();
  await pcsc.stop();
});

it('keeps no other key from being read', async () => {
  service.plug('Token2 held 00 00', {
    program: token2Card({ serial: '8673400001' }),
    place: [1, 99],
    held: held.promise,
  });
  const hid = createHidDriver({ system: usb, cardSide: pcsc.keyCards });
  const told = recorder(hid);
  const unit = usb.plug({ ids: TOKEN2, smartCard: true });
  service.plug('Token2 free 00 00', { program: token2Card({ serial: '8673400002' }), place: [1, unit] });
  await pcsc.start(() => undefined);
  await hid.start(told.listener);
  expect(await told.next('attached')).toMatchObject({ serialNumber: '8673400002', problem: null });
  await hid.stop();
});

it('keeps no driver from stopping', async () => {
  const asked = Promise.withResolvers<void>();
  const cardSide: PcscDriver['keyCards'] = {
    ...pcsc.keyCards,
    open(key, signal) {
      asked.resolve();
      return pcsc.keyCards.open(key, signal);
    },
  };
  const hid = createHidDriver({ system: usb, cardSide });
  const unit = usb.plug({ ids: TOKEN2, smartCard: true });
  service.plug('Token2 held 00 00', {
    program: token2Card({ serial: '8673400001' }),
    place: [1, unit],
    held: held.promise,
  });
  await pcsc.start(() => undefined);
  const starting = hid.start(() => undefined);
  await asked.promise;
  await hid.stop();
  await starting;
});

it('is asked for its place once, however often it is looked for', async () => {
  const reader = service.plug('Token2 held 00 00', {
    program: token2Card({ serial: '8673400001' }),
    place: [1, 1],
    held: held.promise,
  });
  await pcsc.start(() => undefined);
  const key = { keyId: 'a key', vendorId: '349e', place: { bus: 1, address: 1 } };
  for (let look = 0; look < 3; look++) {
    const late = AbortSignal.abort();
    await expect(pcsc.keyCards.open(key, late)).rejects.toMatchObject({ code: 'aborted' });
  }
  held.resolve();
  const card = await pcsc.keyCards.open(key, new AbortController().signal);
  await card.close();
  // For its place, and to be read.
  expect(reader.connections).toBe(2);
});

it('is left alone when it is let go after the driver was stopped', async () => {
  const reader = service.plug('Yubico YubiKey CCID 00 00', {
    program: token2Card({ serial: '8673400001' }),
    held: held.promise,
  });
  await pcsc.start(() => undefined);
  const stopped = pcsc.stop();
  service.plug('A Reader 00 00', { program: token2Card({ serial: '8673400003' }) });
  await stopped;
  held.resolve();
  // All that follows from it has happened by the next turn.
  await new Promise(setImmediate);
  expect(reader.connections).toBe(1);
  expect(pcsc.keys()).toEqual([]);
});
