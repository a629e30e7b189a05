/** PINs that stations have made, sealed for recipients whom a policy names: documents that the journal proves. Decisions only, no I/O. */
import { deviceIds } from '../../src/contract/ids.ts';
import { type DocumentRecord, type DocumentSet, replace } from '../store/document.ts';
import type { Entry } from '../store/journal.ts';

/** The document with the policy. */
export const PIN_POLICY = 'pin-policy';

/** The document with the PIN of a device, by its number. */
export const pinDocument = (device: number): `pin:${number}` => `pin:${device}`;

/** A sealed PIN. Times: milliseconds since 1970 (UTC). */
export interface StoredPin {
  /** As base64url; null: the key was reset, and nothing was stored since. */
  readonly sealed: string | null;
  readonly storedAt: number;
  /** When it was last read; null: never. */
  readonly openedAt: number | null;
  /** PINs stored before, newest first. A reported reset is not proved: one of these may be the PIN of the key. */
  readonly earlier: readonly string[];
}

/** The PIN in a document; null if none is stored, or it was removed. */
export function pinIn(document: DocumentRecord | null): StoredPin | null {
  const stored = document && (JSON.parse(document.value) as (StoredPin & { readonly earlier?: unknown }) | null);
  // Early versions have stored one earlier PIN, or null.
  return stored && { ...stored, earlier: [stored.earlier ?? []].flat() as string[] };
}

/** All that were stored, newest first. */
export const sealedPins = ({ sealed, earlier }: StoredPin): readonly string[] =>
  sealed === null ? earlier : [sealed, ...earlier];

/** Stores or removes the PIN of a device, or notes that it was read. The journal has only a digest. `before`: the document's version. */
export const setPin = (
  device: number,
  before: number,
  pin: StoredPin | null,
  { type, detail }: Pick<Entry, 'type' | 'detail'>,
): DocumentSet =>
  replace({ name: pinDocument(device), version: before }, JSON.stringify(pin), {
    type,
    detail: { deviceId: deviceIds.format(device), ...detail },
  });

const HEADER = 'age-encryption.org/v1\n';

/** Whether these bytes, as base64url, are an age file: a PIN in the clear is never stored. */
export const isSealed = (text: string): boolean =>
  Buffer.from(text, 'base64url').subarray(0, HEADER.length).toString('latin1') === HEADER;
