/** The words of the page of a device in English. */
import { grouped } from '../../text/numbers.ts';

/** Every text in English. Other languages have the same entries: the type checker compares them. */
export const en = {
  back: 'All devices',
  facts: {
    title: 'Facts',
    serialNumber: 'Serial number',
    deviceType: 'Type',
    manufacturer: 'Manufacturer',
    model: 'Model',
    hardwareVersion: 'Hardware version',
    firmwareVersion: 'Firmware version',
    user: 'User',
    createdAt: 'Registered',
    activatedAt: 'Activated',
    lastUsedAt: 'Last used',
    uses: 'Uses',
    lockedAt: 'Locked',
    lockReason: 'Reason of the lock',
    deactivatedAt: 'Retired',
    updatedAt: 'Last changed',
  },
  proof: {
    title: 'Proof',
    grades: {
      none: 'Nothing is known about this key.',
      claimed: 'Nothing is proved: only the key itself reports this.',
      model:
        'It is a genuine key of its model. Its serial number is not proved: other keys of the model could claim it.',
      unit: 'It is a genuine key with this serial number.',
      failed: 'The evidence contradicts the key: do not use it.',
    },
    without: 'This device was registered without a proof.',
    model: 'Model',
    serial: 'Serial number',
    aaguid: 'AAGUID',
    firmware: 'Firmware',
    method: 'Method',
    root: 'Trust anchor',
    metadataNumber: 'FIDO metadata',
    provedAt: 'Proved',
    warnings: 'Warnings',
  },
  tags: {
    title: 'Tags',
    add: 'New tag',
    submit: 'Add',
    remove: (name: string) => `Remove the tag ${name}`,
    fault: 'Write name:value. A name begins with a letter and has small letters, digits, _ and - only.',
  },
  note: { title: 'Note', none: 'No note.' },
  readOnly: 'Tags and note can be changed while the device is inactive or active.',
  code: {
    title: 'Activation code',
    hidden: 'Hidden. It is shown for one minute.',
    show: 'Show code',
    hide: 'Hide code',
    expires: (time: string) => `Valid until ${time}`,
    qr: 'Activation code as a QR code',
  },
  action: {
    deviceId: (id: string) => `Type the id of the device, ${id}`,
    final: 'A retired device can never be used again.',
    newCode: 'The present code becomes invalid.',
    lock: 'The device cannot be used until it is unlocked.',
    unlock: 'The device can be used again.',
    activate: 'The device is bound to the user.',
  },
  history: { title: 'History', older: 'Older events', begin: 'That is all.' },
  backups: {
    title: 'Backups',
    none: 'No backups.',
    file: 'File',
    size: 'Size',
    bytes: (count: number) => `${grouped(count)} bytes`,
    at: 'Stored',
    download: 'Download',
    more: (count: number) => `${grouped(count)} older ones: devmgr backups list`,
  },
  label: { title: 'Label', text: 'On a station with a label printer:', print: 'Print this page' },
};

/** What the page has as words, in each language. */
export type DeviceWords = typeof en;
