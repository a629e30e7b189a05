/** The words of the page of a device. */
import { dictionary } from '../../text/text.ts';

const en = {
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
};

/** What the page has as words, in each language. */
export type DeviceWords = typeof en;
/** The words of the page, in the language of the person. */
export const deviceWords = dictionary(en, async () => (await import('./words.de.ts')).de);
