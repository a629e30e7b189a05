/** Dependencies of tests of issuing keys: providers under a name, and keys at stations of their own. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { expect, onTestFinished } from 'vitest';
import { adminPassword } from '../support/daemon.ts';
import { startEntra, type startOkta } from '../support/issuing-providers.ts';
import { issuingStation } from '../support/issuing-station.ts';
import { type Daemon, temporaryFolder } from './program.ts';

/** A file with this line. */
export const secretFile = (text: string): string => {
  const file = join(temporaryFolder(), 'secret');
  writeFileSync(file, `${text}\n`, { mode: 0o600 });
  return file;
};

/** With this daemon. */
export function issuingBy(daemon: () => Daemon) {
  /** A key at a station of its own, whose device is ACTIVE. */
  async function plugged(serial: string, options: Parameters<typeof issuingStation>[1] = {}, userId = 'ada.lovelace') {
    const station = await issuingStation(serial, options);
    onTestFinished(station.stop);
    const { deviceId, activationCode } = await daemon().register(serial);
    await daemon().call('POST', '/api/devices/activate', { deviceId, activationCode, userId });
    const issue = (names: string, pin: string, ...more: string[]) =>
      daemon().run([
        'keys',
        'issue',
        '--for',
        names,
        '--pin-file',
        secretFile(pin),
        '--hardware',
        station.url,
        ...more,
      ]);
    return { ...station, station: station.url, deviceId, issue };
  }

  /** A provider under a name. */
  async function provider(name: string, start: typeof startEntra | typeof startOkta = startEntra) {
    const { state, settings } = await start();
    await daemon().call('POST', '/api/providers', { name, ...settings });
    return state;
  }

  /** An age identity in a file, and its recipient in the policy. */
  async function recipient(): Promise<string> {
    const identity = await generateIdentity();
    const set = ['policies', 'update', '--pin-recipient', await identityToRecipient(identity)];
    expect(await daemon().run(set)).toMatchObject({ code: 0, stdout: expect.stringContaining('PINs open for') });
    return secretFile(identity);
  }

  /** A key at a station of its own, which is not registered. */
  async function unregistered(serial: string) {
    const station = await issuingStation(serial);
    onTestFinished(station.stop);
    return station;
  }

  /** Removes a provider whose only credential is that of this device: a registry has at most 16 providers. */
  async function removeProvider(name: string, deviceId: string) {
    const retire = ['deactivate', deviceId, '--reason', 'worn out', '--yes', '--password-file'];
    expect(await daemon().run([...retire, secretFile(adminPassword)])).toMatchObject({ code: 0 });
    await expect.poll(async () => (await daemon().run(['providers', 'remove', name, '--yes'])).code).toBe(0);
  }

  return { plugged, provider, recipient, unregistered, removeProvider };
}
