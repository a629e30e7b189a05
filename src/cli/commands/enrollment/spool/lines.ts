/**
 * The lines of a spool file: a header, a line for each key, and a line for each step of its delivery. Lines are only appended. No
 * line has an activation code or a token. An enrollment gets the key of a line as if it were plugged in.
 */
import {
  type DescribedText,
  describedNames,
  describedTexts,
  undescribed,
} from '../../../../contract/device-description.ts';
import type { Key } from '../../../../contract/hardware.ts';
import { isObject, objectIn } from '../../../../contract/json-object.ts';
import { deviceTypes } from '../../../../contract/values.ts';
import { type EnrollKeyOptions, outcomeOf, type ProofOutcome } from '../../../../enrollment/key-enrollment.ts';
import type { EnrollmentOutcome } from '../../../../enrollment/outcome.ts';
import { registrationFor } from '../../../../enrollment/registration.ts';
import type { NumberedKey } from '../../../../enrollment/registry.ts';
import type { KeyLabel } from '../labels/enrolled.ts';

const kind = 'devmgr enroll';
const version = 1;

/** For which registry the keys are. */
export interface SpoolHeader {
  /** The instanceId of the registry; null if the station had not met it. */
  readonly registry: string | null;
  /** Addresses of the registry, as the station names them. */
  readonly servers: readonly string[];
  /** ISO 8601. */
  readonly createdAt: string;
}

/** A key that waits for its registration. */
export interface SpoolEntry {
  /** The idempotency key of the registration. */
  readonly id: string;
  /** ISO 8601: when the key was plugged in, by the clock of the station. */
  readonly at: string;
  /** The body of the registration. It never changes: the idempotency key belongs to it. */
  readonly registration: ReturnType<typeof registrationFor>;
  /** Activate the key for this user; null leaves it INACTIVE. */
  readonly userId: string | null;
  /** The name in the roster; null if that has none, absent without a roster. */
  readonly name?: string | null;
  readonly serialSource: string | null;
  readonly simulated: boolean;
  /** Whether the run printed labels. */
  readonly label: boolean;
  /** The proof of the key for its registration; absent or null if it was not asked. */
  readonly proof?: ProofOutcome | null;
  /** The work after the binding that needs the key; absent if there is none. */
  readonly then?: HandoverNeeds;
}

/** The work that is left when a key is bound. */
export interface HandoverNeeds {
  /** Names of the providers at which it is issued. */
  readonly providers: readonly string[];
  /** Whether it signs a receipt. */
  readonly receipt: boolean;
}

/** How the delivery of a key has ended. */
export const endings = ['registered', 'known', 'conflict', 'failed'] as const;
type Ending = (typeof endings)[number];

/** The last step of a key. */
export interface SpoolEnding {
  readonly at: string;
  readonly result: Ending;
  readonly deviceId: string | null;
  /** Why it is a conflict or has failed; null if it is neither. */
  readonly message: string | null;
}

/** A line after the header. */
export type SpoolLine =
  | { readonly key: SpoolEntry }
  /** The registration is sent after this line is on the disk: the registry may have received it. */
  | { readonly sent: string; readonly at: string }
  | ({ readonly done: string } & SpoolEnding)
  /** The key was begun and never waited: it is none of the keys of the file. */
  | { readonly ended: string; readonly at: string };

/** The first line of a file. */
export const headerLine = (header: SpoolHeader): object => ({ spool: kind, version, ...header });

/** The header; `version` if a later version of devmgr wrote it, null if the line is not a header. */
export function readHeader(text: string): SpoolHeader | 'version' | null {
  const line = objectIn(text);
  if (line === null || line.spool !== kind) return null;
  if (line.version !== version) return 'version';
  const { registry, servers, createdAt } = line;
  const isHeader = isTextOrNull(registry) && isTexts(servers) && typeof createdAt === 'string';
  return isHeader ? { registry, servers, createdAt } : null;
}

/** Null if the text is not a line of a spool: another program wrote it, or it is incomplete after a crash. */
export function readLine(text: string): SpoolLine | null {
  const line = objectIn(text);
  if (line === null) return null;
  if ('key' in line) return isEntry(line.key) ? { key: line.key } : null;
  const { sent, done, ended, at } = line;
  if (typeof at !== 'string' || !Number.isFinite(Date.parse(at))) return null;
  if (typeof sent === 'string') return { sent, at };
  if (typeof ended === 'string') return { ended, at };
  const { result, deviceId, message } = line;
  const ending = endings.find(known => known === result);
  if (typeof done !== 'string' || ending === undefined || !isTextOrNull(deviceId) || !isTextOrNull(message))
    return null;
  return { done, at, result: ending, deviceId, message };
}

const isTextOrNull = (value: unknown): value is string | null => value === null || typeof value === 'string';
const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every(text => typeof text === 'string');

function isEntry(value: unknown): value is SpoolEntry {
  if (!isObject(value)) return false;
  const { id, at, registration, userId, name, serialSource, simulated, label, proof, then } = value;
  return (
    typeof id === 'string' &&
    /^[\w-]{1,100}$/.test(id) &&
    typeof at === 'string' &&
    isRegistration(registration) &&
    isTextOrNull(userId) &&
    (name === undefined || isTextOrNull(name)) &&
    isTextOrNull(serialSource) &&
    typeof simulated === 'boolean' &&
    typeof label === 'boolean' &&
    (proof === undefined || proof === null || isObject(proof)) &&
    (then === undefined || (isObject(then) && isTexts(then.providers) && typeof then.receipt === 'boolean'))
  );
}

function isRegistration(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { deviceType, serialNumber, tags } = value;
  const isText = (name: DescribedText) =>
    typeof value[name] === 'string' || (value[name] === undefined && !describedTexts[name].isRequired);
  return (
    deviceTypes.some(type => type === deviceType) &&
    typeof serialNumber === 'string' &&
    describedNames.every(isText) &&
    (tags === undefined || (isObject(tags) && Object.values(tags).every(text => typeof text === 'string')))
  );
}

/** How a run spools. */
export interface SpoolOptions extends EnrollKeyOptions {
  /** Null if the run prints no labels. */
  readonly label: KeyLabel | null;
}

/** The entry of a key. `name`: that of the person in a roster; undefined without a roster. */
export const entryOf = (
  key: NumberedKey,
  id: string,
  options: SpoolOptions,
  name: string | null | undefined,
): SpoolEntry => ({
  id,
  at: new Date().toISOString(),
  registration: registrationFor(key, options),
  userId: options.activateFor,
  ...(name === undefined ? {} : { name }),
  serialSource: key.serialSource,
  simulated: key.simulated,
  label: options.label !== null,
});

/** The key of an entry, as far as an enrollment reads it: `registrationFor` makes the body of the entry from it again. */
export const keyOf = ({ registration, serialSource, simulated }: SpoolEntry): Key =>
  ({
    ...undescribed,
    ...registration,
    serialSource,
    simulated,
    problem: null,
  }) as unknown as Key;

/** How the key of an entry is enrolled. */
export const optionsOf = ({ registration, userId }: SpoolEntry): EnrollKeyOptions => ({
  manufacturer: null,
  model: null,
  activateFor: userId,
  dryRun: false,
  proof: null,
  tags: registration.tags ?? null,
});

/** The row of an entry. That of a roster has its person, whatever has become of the key. */
export const rowOf = ({ name, userId }: SpoolEntry, outcome: EnrollmentOutcome): EnrollmentOutcome =>
  name === undefined ? outcome : { ...outcome, userId, name };

/** The row of an entry that waits, or that could not be spooled. */
export const waitingRow = (
  entry: SpoolEntry,
  what: Pick<EnrollmentOutcome, 'result'> & Partial<EnrollmentOutcome>,
): EnrollmentOutcome => rowOf(entry, outcomeOf(keyOf(entry), optionsOf(entry), what));
