/** A key whose smart card another program keeps in a transaction: until then pcscd answers no one else about it. */
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
  pcsc = createPcscDriver({ load: () => service.transport(), deadline: 50 });
});
afterEach(async () => {
  held.resolve();
  await pcsc.stop();
});

it('does not prevent other keys from being read', async () => {
  service.plug('Token2 held 00 00', {
    program: token2Card({ serial: '8673400001' }),
    location: [1, 99],
    held: held.promise,
  });
  const hid = createHidDriver({ system: usb, keyCards: pcsc.keyCards });
  const recorded = recorder(hid);
  const address = usb.plug({ ids: TOKEN2, hasSmartCard: true });
  service.plug('Token2 free 00 00', { program: token2Card({ serial: '8673400002' }), location: [1, address] });
  await pcsc.start(() => undefined);
  await hid.start(recorded.listener);
  expect(await recorded.next('attached')).toMatchObject({ serialNumber: '8673400002', problem: null });
  await hid.stop();
});

it('does not prevent a driver from stopping', async () => {
  const opened = Promise.withResolvers<void>();
  const keyCards: PcscDriver['keyCards'] = {
    ...pcsc.keyCards,
    open(key, signal) {
      opened.resolve();
      return pcsc.keyCards.open(key, signal);
    },
  };
  const hid = createHidDriver({ system: usb, keyCards });
  const address = usb.plug({ ids: TOKEN2, hasSmartCard: true });
  service.plug('Token2 held 00 00', {
    program: token2Card({ serial: '8673400001' }),
    location: [1, address],
    held: held.promise,
  });
  await pcsc.start(() => undefined);
  const starting = hid.start(() => undefined);
  await opened.promise;
  await hid.stop();
  await starting;
});

it('is asked for its location once, however often it is searched', async () => {
  const reader = service.plug('Token2 held 00 00', {
    program: token2Card({ serial: '8673400001' }),
    location: [1, 1],
    held: held.promise,
  });
  await pcsc.start(() => undefined);
  const key = { keyId: 'a key', vendorId: '349e', location: { bus: 1, address: 1 } };
  for (let attempt = 0; attempt < 3; attempt++) {
    const late = AbortSignal.abort();
    await expect(pcsc.keyCards.open(key, late)).rejects.toMatchObject({ code: 'aborted' });
  }
  held.resolve();
  const card = await pcsc.keyCards.open(key, new AbortController().signal);
  await card.close();
  // Once for its location and once to be read.
  expect(reader.connections).toBe(2);
});

it('is not read if it is released after the driver was stopped', async () => {
  const reader = service.plug('Yubico YubiKey CCID 00 00', {
    program: token2Card({ serial: '8673400001' }),
    held: held.promise,
  });
  await pcsc.start(() => undefined);
  const stopped = pcsc.stop();
  service.plug('A Reader 00 00', { program: token2Card({ serial: '8673400003' }) });
  await stopped;
  held.resolve();
  // Everything that follows from it has happened by the next turn of the event loop.
  await new Promise(setImmediate);
  expect(reader.connections).toBe(1);
  expect(pcsc.keys()).toEqual([]);
});
