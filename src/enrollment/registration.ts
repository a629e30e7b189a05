/** The registration of an attached key: what the key reports, and what the user names in its place. */
import { type OptionalText, optionalTexts } from '../contract/device-description.ts';
import type { Key } from '../contract/hardware.ts';
import type { Tags } from '../contract/tags.ts';
import type { NumberedKey } from './registry.ts';

/** Fields that are registered with a key beside those that it reports. */
export interface RegistrationOptions {
  /** Overrides what the key reports; null does not. */
  readonly manufacturer: string | null;
  readonly model: string | null;
  /** Tags of each device that is registered; null for none. */
  readonly tags: Tags | null;
}

type NamingOptions = Pick<RegistrationOptions, 'manufacturer' | 'model'>;

/** Manufacturer and model if neither the key nor the user names them. */
const unknown = 'unknown';

/** Manufacturer and model of the key. */
export const namedBy = (
  key: Key,
  options: NamingOptions,
): { readonly manufacturer: string; readonly model: string } => ({
  manufacturer: options.manufacturer ?? key.manufacturer ?? unknown,
  model: options.model ?? key.model ?? unknown,
});

/** The versions that the key reports. */
const reportedVersions = (key: Pick<Key, OptionalText>): Partial<Record<OptionalText, string>> =>
  Object.fromEntries(optionalTexts.flatMap(name => (key[name] === null ? [] : [[name, key[name]]])));

/** The body of a registration, without a proof. */
export const registrationFor = (key: NumberedKey, options: RegistrationOptions) => ({
  deviceType: key.deviceType,
  serialNumber: key.serialNumber,
  ...namedBy(key, options),
  ...reportedVersions(key),
  ...(options.tags === null ? {} : { tags: options.tags }),
});
