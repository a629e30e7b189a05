/**
 * The udev rules that let devmgr open keys. They are the rules of packaging/udev/70-devmgr.rules: a test compares the two.
 */
import { VENDOR } from '../usb/ids.ts';

/** Where an administrator puts the rules. Numbered above 60, because systemd's fido_id tags FIDO keys there. */
export const UDEV_RULES_FILE = '/etc/udev/rules.d/70-devmgr.rules';

const FIDO_RULE = 'SUBSYSTEM=="hidraw", ENV{ID_FIDO_TOKEN}=="1", GROUP="devmgr", MODE="0660"';
/** fido_id does not tag the OTP interface of a YubiKey. */
const YUBIKEY_RULE = `SUBSYSTEM=="hidraw", ATTRS{idVendor}=="${VENDOR.YUBICO}", GROUP="devmgr", MODE="0660"`;

/** The lines of the rules file, in order. The group gives access to services and over SSH. */
export const UDEV_RULES: readonly string[] = [FIDO_RULE, YUBIKEY_RULE];

/** The problem of a key that can be listed but not opened, with the fix. */
export function permissionProblem(vendorId: string): string {
  const rule = vendorId === VENDOR.YUBICO ? YUBIKEY_RULE : FIDO_RULE;
  return process.platform === 'linux'
    ? `this user may not open the key: add the line ${rule} to ${UDEV_RULES_FILE}, join the group devmgr, run udevadm control --reload and plug the key in again`
    : 'this user may not open the key: run as a user who may';
}
