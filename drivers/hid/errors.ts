/** The failures of node-hid as HardwareErrors, and what an operator can do about missing libraries and permissions. */
import { HardwareError, type HardwareErrorCode } from '../hardware-error.ts';
import { howToReinstall } from '../reinstall.ts';
import { cleanText } from '../text.ts';
import { VENDOR } from '../usb/ids.ts';

/** The text of anything that was thrown, without paths of the operating system. */
export function errorText(error: unknown): string {
  const raw = error instanceof Error ? error.message : String(error);
  const pathless = raw.replace(/(?:with path )?(?:\/dev\/[^\s:',]+|\\\\[?.]\\\S+)/g, '').replace(/''/g, '');
  return cleanText(pathless) ?? 'unknown error';
}

/** node-hid passes on the texts of the operating systems and has no codes. */
const CODES: readonly [RegExp, HardwareErrorCode][] = [
  [/permission denied|not permitted|access is denied|not privileged/i, 'no-permission'],
  [/no such (?:file|device)|not connected|disconnected|has been (?:closed|removed)|not exist/i, 'removed'],
  [/busy|exclusive|sharing violation/i, 'busy'],
];

/** The failure of node-hid while `what` was being done. A HardwareError is returned unchanged. */
export function hardwareError(error: unknown, what: string): HardwareError {
  if (error instanceof HardwareError) return error;
  const text = errorText(error);
  const code = CODES.find(([pattern]) => pattern.test(text))?.[1] ?? 'protocol';
  return new HardwareError(code, `${what}: ${text}`, { cause: error });
}

/** Debian's package for each library that the native modules are linked with. */
const PACKAGES: Readonly<Record<string, string>> = {
  'libusb-1.0.so.0': 'libusb-1.0-0',
  'libudev.so.1': 'libudev1',
};

/** Missing part and its installation, from the error of a native module that did not load. */
export function describeMissing(error: unknown): string {
  const text = errorText(error);
  const library = /(?<![\w.+-])lib[\w.+-]*\.so(?:\.\d+)*/.exec(text)?.[0];
  if (library !== undefined && /cannot open shared object|no such file/i.test(text)) {
    const name = PACKAGES[library] ?? `the package that contains ${library}`;
    return `USB keys cannot be read: ${library} is missing. Install it with: apt-get install ${name}`;
  }
  return `USB keys cannot be read: node-hid does not work on this machine (${text}): ${howToReinstall()}`;
}

/** Where an administrator puts the rules. Numbered above 60, because systemd's fido_id tags FIDO keys there. */
const UDEV_RULES_FILE = '/etc/udev/rules.d/70-devmgr.rules';

const FIDO_RULE = 'SUBSYSTEM=="hidraw", ENV{ID_FIDO_TOKEN}=="1", GROUP="devmgr", MODE="0660"';
/** fido_id does not tag the OTP interface of a YubiKey. */
const YUBIKEY_RULE = `SUBSYSTEM=="hidraw", ATTRS{idVendor}=="${VENDOR.YUBICO}", GROUP="devmgr", MODE="0660"`;

/** The lines of packaging/udev/70-devmgr.rules (a test compares them). The group gives access to services and over SSH. */
export const UDEV_RULES: readonly string[] = [FIDO_RULE, YUBIKEY_RULE];

/** The problem of a key that can be listed but not opened, with the fix. */
export function permissionProblem(vendorId: string): string {
  const rule = vendorId === VENDOR.YUBICO ? YUBIKEY_RULE : FIDO_RULE;
  if (process.platform === 'win32')
    return 'Windows lets only administrators open the key: start the daemon in a terminal of an administrator';
  return process.platform === 'linux'
    ? `this user is not allowed to open the key: add the line ${rule} to ${UDEV_RULES_FILE}, join the group devmgr, run udevadm control --reload and plug the key in again`
    : 'this user is not allowed to open the key: run as a user who is';
}
