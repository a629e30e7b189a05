/** `doctor` names a host controller that has no room for another key, as the kernel reports it, and devices that it could not configure. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { usbProblems } from '../../src/cli/commands/doctor/usb.ts';
import { temporaryFolder } from '../support/temporary.ts';

/** As in /dev/kmsg: priority, number, time, then the message. */
const logged = (...messages: string[]) => messages.map((text, at) => `4,${900 + at},5512${at},-;${text}\n`).join('');

function devices(values: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder();
  for (const [name, value] of Object.entries(values)) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'bConfigurationValue'), value);
  }
  return folder;
}

test('a full host controller is named once, and each device that was not configured', async () => {
  const log = () =>
    logged(
      'usb 1-4.3: new full-speed USB device number 27 using xhci_hcd',
      'xhci_hcd 0000:00:14.0: Not enough host controller resources for new device state.',
      "usb 1-4.3: can't set config #1, error -12",
      'xhci_hcd 0000:00:14.0: Not enough host controller resources for new device state.',
    );
  const found = await usbProblems({ devices: devices({ usb1: '1\n', '1-4': '1\n', '1-4.3': '' }), log });
  expect(found).toEqual([
    expect.stringContaining('0000:00:14.0 is full'),
    expect.stringContaining('the USB device 1-4.3 is plugged in'),
  ]);
});

test('a machine whose keys all work has no problem, with or without a log that may be read', async () => {
  const folder = devices({ usb1: '1\n', '1-4': '1\n' });
  expect(await usbProblems({ devices: folder, log: () => '' })).toEqual([]);
  expect(
    await usbProblems({ devices: folder, log: () => logged('xhci_hcd 0000:00:14.0: xHCI Host Controller') }),
  ).toEqual([]);
  expect(await usbProblems({ devices: join(folder, 'none'), log: () => '' })).toEqual([]);
});
