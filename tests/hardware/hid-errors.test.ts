import { expect, test } from 'vitest';
import { HardwareError } from '../../drivers/hardware-error.ts';

import { describeMissing, hardwareError } from '../../drivers/hid/errors.ts';
import { howToReinstall } from '../../drivers/reinstall.ts';

test.each([
  ['libusb-1.0.so.0', 'libusb-1.0-0'],
  ['libudev.so.1', 'libudev1'],
])('the message about a missing %s names the package', (library, name) => {
  const error = new Error(`${library}: cannot open shared object file: No such file or directory`);
  expect(describeMissing(error)).toBe(
    `USB keys cannot be read: ${library} is missing. Install it with: apt-get install ${name}`,
  );
});

test('the message about another load failure contains its text and what to do', () => {
  const message = describeMissing(new Error('No native build was found'));
  expect(message).toContain('(No native build was found): run `npm ci` on this machine');
});

test.each([
  [null, 'run `npm ci` on this machine'],
  ['/usr/bin/devmgr', 'install the package again: `apt-get install --reinstall ./devmgr_VERSION_ARCH.deb`'],
  ['/opt/devmgr', 'replace /opt/devmgr with the executable for this platform'],
])('native modules of the executable %s are replaced with it', (executable, words) => {
  expect(howToReinstall(executable)).toBe(words);
});

test.each([
  [
    new Error(
      'cannot open device with path /dev/hidraw3: Failed to open a device with path /dev/hidraw3: Permission denied',
    ),
    'no-permission',
  ],
  [new TypeError('cannot open device with path /dev/hidraw3: No such file or directory'), 'removed'],
  ['could not read from HID device: No such device', 'removed'],
  ['device has been closed', 'removed'],
  [new Error('Device or resource busy'), 'busy'],
  ['something else', 'protocol'],
  [undefined, 'protocol'],
])('everything that node-hid throws becomes a HardwareError without system paths: %s', (thrown, code) => {
  const error = hardwareError(thrown, 'opening the key');
  expect(error).toBeInstanceOf(HardwareError);
  expect(error.code).toBe(code);
  expect(error.message).toMatch(/^opening the key: \S/);
  expect(error.message).not.toContain('/dev/');
});
