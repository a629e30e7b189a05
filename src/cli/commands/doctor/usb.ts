/** USB devices that the kernel has found and cannot use: a hub of keys can need more endpoints than its host controller has. */
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';

const DEVICES = '/sys/bus/usb/devices';
const KERNEL_LOG = '/dev/kmsg';
/** Messages of the log that are read, and bytes of one. */
const MOST_MESSAGES = 20_000;
const MESSAGE_BYTES = 8192;

/** A host controller that is full, as its driver has reported since the start of the machine. */
const FULL =
  /_hcd ([\w.:-]{1,64}): (?:Not enough host controller resources|Not enough bandwidth|No more device slots|Error while assigning device slot ID)/i;

/** The part of the system that the check needs. */
interface UsbSources {
  readonly devices?: string;
  /** The messages of the kernel; empty if this user may not read them. */
  readonly log?: () => string;
}

/** A problem for each full host controller, and for each device without a configuration. Only Linux can be asked. */
export async function usbProblems({ devices = DEVICES, log = kernelLog }: UsbSources = {}): Promise<string[]> {
  const names = await readdir(devices).catch(() => []);
  const unconfigured: string[] = [];
  for (const name of names.filter(one => !one.includes(':'))) {
    const value = await readFile(`${devices}/${name}/bConfigurationValue`, 'utf8').catch(() => null);
    if (value?.trim() === '') unconfigured.push(name);
  }
  const full = new Set(
    log()
      .split('\n')
      .flatMap(line => FULL.exec(line)?.[1] ?? []),
  );
  return [
    ...[...full].map(one => `the USB host controller ${one} is full: it has no endpoints left for another key`),
    ...unconfigured.map(one => `the USB device ${one} is plugged in, and the kernel could not configure it`),
  ];
}

/** The fix: keys with several interfaces need three or more endpoints each. */
export const usbHint =
  'plug some keys into ports of another host controller (lsusb -t shows them), or use fewer keys at a time';

/** One read returns one message; the last one fails because none is left. */
function kernelLog(): string {
  let file: number;
  try {
    file = openSync(KERNEL_LOG, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return '';
  }
  const buffer = Buffer.alloc(MESSAGE_BYTES);
  const messages: string[] = [];
  try {
    while (messages.length < MOST_MESSAGES) {
      const bytes = readSync(file, buffer);
      if (bytes === 0) break;
      messages.push(buffer.toString('utf8', 0, bytes));
    }
  } catch {
    // No message is left.
  } finally {
    closeSync(file);
  }
  return messages.join('');
}
