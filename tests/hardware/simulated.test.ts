import { describe, expect, it } from 'vitest';
import type { TrafficLine } from '../../drivers/driver.ts';
import { toHex } from '../../drivers/protocols/hex.ts';
import { createSimulatedDriver } from '../../drivers/simulated/index.ts';
import { recorder } from '../support/key-events.ts';

describe('simulated keys', () => {
  it('are attached at the start, UKEY and SIMKEY in turn, and say that they are simulated', async () => {
    const driver = createSimulatedDriver({ count: 3 });
    const recorded = recorder(driver);
    await driver.start(recorded.listener);
    const shown = driver.keys().map(key => [key.deviceType, key.serialNumber, key.model, key.transport, key.simulated]);
    expect(shown).toEqual([
      ['UKEY', 'SIM-UKEY-0001', 'Simulated UKEY', 'HID', true],
      ['SIMKEY', 'SIM-SIMKEY-0002', 'Simulated SIMKEY', 'PCSC', true],
      ['UKEY', 'SIM-UKEY-0003', 'Simulated UKEY', 'HID', true],
    ]);
    expect(recorded.kinds()).toEqual(['attached', 'attached', 'attached']);
    expect(driver.keys().every(key => key.serialSource === 'simulated' && key.manufacturer === 'devmgr')).toBe(true);
  });

  it('have the same serials at each start, and new keyIds', async () => {
    const [first, second] = [createSimulatedDriver({ count: 2 }), createSimulatedDriver({ count: 2 })];
    await first.start(() => undefined);
    await second.start(() => undefined);
    expect(first.keys().map(key => key.serialNumber)).toEqual(second.keys().map(key => key.serialNumber));
    expect(new Set([...first.keys(), ...second.keys()].map(key => key.keyId)).size).toBe(4);
  });

  it('get the lowest free number or the requested one, each once', async () => {
    const driver = createSimulatedDriver({ count: 3 });
    await driver.start(() => undefined);
    await driver.detach(driver.keys()[0]?.keyId);
    expect((await driver.attach()).serialNumber).toBe('SIM-UKEY-0001');
    expect((await driver.attach(9)).serialNumber).toBe('SIM-UKEY-0009');
    await expect(driver.attach(9)).rejects.toThrow('simulated key 9 is already plugged in');
    await expect(driver.attach(0)).rejects.toThrow(RangeError);
    const both = await Promise.allSettled([driver.attach(20), driver.attach(20)]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('are unplugged by their keyId, or the last one first', async () => {
    const driver = createSimulatedDriver({ count: 2 });
    await driver.start(() => undefined);
    await driver.detach();
    expect(driver.keys().map(key => key.serialNumber)).toEqual(['SIM-UKEY-0001']);
    await driver.detach(driver.keys()[0]?.keyId);
    await expect(driver.detach()).rejects.toThrow('no key is plugged in');
    await expect(driver.detach('nothing')).rejects.toThrow('no key nothing is plugged in');
  });

  it('cannot be attached to a driver that is not running', async () => {
    await expect(createSimulatedDriver({ count: 1 }).attach()).rejects.toThrow('is not running');
  });

  it('of type SIMKEY are read with commands as a real card is, and refuse what a real card refuses', async () => {
    const traffic: TrafficLine[] = [];
    const driver = createSimulatedDriver({ count: 2, traffic: line => traffic.push(line) });
    await driver.start(() => undefined);
    const lines = traffic.map(line => `${line.direction} ${toHex(line.bytes)}`);
    expect(lines.slice(0, 4)).toEqual(['out 00A40004023F00', 'in 6A82', 'out A0A40000023F00', 'in 6E00']);
    const serial = Buffer.from('SIM-SIMKEY-0002').toString('hex').toUpperCase();
    expect(lines.slice(-4)).toEqual(['out 00CA004F00', 'in 610F', 'out 00C000000F', `in ${serial}9000`]);
  });
});
