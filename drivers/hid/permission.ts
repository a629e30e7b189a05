/** What an operator must add to the system so that keys may be opened, in one place for messages and installers. */

export const UDEV_RULES_FILE = '/etc/udev/rules.d/70-devmgr.rules';

/** Numbered above 60, where systemd's fido_id has marked the keys; GROUP is for services and for logins over SSH. */
export const UDEV_RULES: readonly string[] = [
  'SUBSYSTEM=="hidraw", ENV{ID_FIDO_TOKEN}=="1", GROUP="devmgr", MODE="0660"',
  'SUBSYSTEM=="hidraw", ATTRS{idVendor}=="1050", GROUP="devmgr", MODE="0660"',
];

/** One line for the operator whose key could be listed but not asked. */
export function notPermitted(vendorId: string): string {
  const rule = vendorId === '1050' ? UDEV_RULES[1] : UDEV_RULES[0];
  return process.platform === 'linux'
    ? `this user may not open the key: put the line ${rule} into ${UDEV_RULES_FILE}, join the group devmgr, run udevadm control --reload and plug the key in again`
    : 'this user may not open the key: run as a user who may';
}
