/** The words of the page of a device in German. */
import type { DeviceWords } from './words.ts';

/** Every text of the page in German. */
export const de: DeviceWords = {
  back: 'Alle Geräte',
  facts: {
    title: 'Angaben',
    serialNumber: 'Seriennummer',
    deviceType: 'Art',
    manufacturer: 'Hersteller',
    model: 'Modell',
    hardwareVersion: 'Hardwareversion',
    firmwareVersion: 'Firmwareversion',
    user: 'Benutzer',
    createdAt: 'Registriert',
    activatedAt: 'Aktiviert',
    lastUsedAt: 'Zuletzt benutzt',
    uses: 'Benutzungen',
    lockedAt: 'Gesperrt',
    lockReason: 'Grund der Sperre',
    deactivatedAt: 'Stillgelegt',
    updatedAt: 'Zuletzt geändert',
  },
};
