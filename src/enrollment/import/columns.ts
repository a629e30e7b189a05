/** Names of columns and properties: which field of a registration each stands for. */
import { plainName } from '../../contract/csv.ts';
import { forEachText } from '../../contract/device-description.ts';
import type { Registration } from '../../contract/devices.ts';
import { registrationFields } from '../../contract/readers.ts';

/** A field of a registration. */
export type RegistrationField = keyof Registration;

/** Accepted names beside that of the field, in lower case. */
const spellings: Readonly<Partial<Record<RegistrationField, readonly string[]>>> = {
  deviceType: ['type', 'kind'],
  serialNumber: ['serial', 'serialno', 'serialnum', 'serialnr', 'sn'],
  ...forEachText(({ spellings }) => spellings),
};

const byName = new Map(
  registrationFields.flatMap(field =>
    [field.toLowerCase(), ...(spellings[field] ?? [])].map(name => [name, field] as const),
  ),
);

/** The field that the name of a column or a property stands for; null if none. Case, spaces and punctuation do not matter. */
export const fieldOf = (name: string): RegistrationField | null => byName.get(plainName(name)) ?? null;

const mostListed = 50;
const longestListed = 100;

/** Names of columns for a message: the first ones, and the number of the others. */
export function fewOf(names: readonly string[]): string {
  const shown = names.slice(0, mostListed).map(name => name.slice(0, longestListed));
  const others = names.length - shown.length;
  return others === 0 ? shown.join(', ') : `${shown.join(', ')} and ${others} more`;
}

/** Secrets that were found in an input and dropped while it was read: how many, under which names. Never their values. */
export class DroppedSecrets {
  readonly #counts = new Map<string, number>();

  note(name: string, count = 1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + count);
  }

  /** A sentence for people; null if there were none. */
  get words(): string | null {
    if (this.#counts.size === 0) return null;
    const names = [...this.#counts].map(([name, count]) => `${name} (${count} ${count === 1 ? 'value' : 'values'})`);
    return `Secrets were dropped while reading, not sent and not stored: ${names.join(', ')}.`;
  }
}
