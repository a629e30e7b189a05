import { hostname } from 'node:os';
import type { DataOf } from '../../../contract/define.ts';
import type { DeviceDetail } from '../../../contract/device-shapes.ts';
import type { Key } from '../../../contract/hardware.ts';
import type { IdentityCandidate } from '../../../contract/identity-shapes.ts';
import type { Proof } from '../../../contract/proof.ts';
import type { Routes } from '../../../contract/routes.ts';
import { recordClaims } from '../../../enrollment/claims-record.ts';
import { otherKeyOf } from '../../../enrollment/other-key.ts';
import { recognizedBy } from '../../../enrollment/own-number.ts';
import { Recognition } from '../../../enrollment/recognition.ts';
import type { DeviceQuestions, NumberedKey } from '../../../enrollment/registry.ts';
import { isAwayCode, questionsBy } from '../../../enrollment/requests.ts';
import type { Contradiction } from '../../../enrollment/same-device.ts';
import type { Send } from '../../../enrollment/send.ts';
import type { Client } from '../../client/client.ts';
import { isServerRefusal } from '../../client/failures.ts';
import { Fault, failure, isFault } from '../../fault.ts';
import { poll } from '../../retry.ts';
import { isLoopback } from '../../settings/settings.ts';
import type { Context } from '../context.ts';
import { findBySerial } from './find-device.ts';

/** Why a key is not the device that has its serial number, in words. */
export const otherKeyWords = ({ deviceId, serialNumber: serial }: DeviceDetail, found: Contradiction): string =>
  found.what === 'credential'
    ? found.shown === 'none'
      ? `it lacks the credential of ${deviceId}: it is another key with the serial number ${serial}, or it was reset elsewhere. Only an ADMIN can confirm that it was reset: devmgr enroll --count 1 --printed ${serial} --was-reset`
      : `it is ${found.shown} by its credential, and reports the serial number ${serial} of ${deviceId}: it is not that key`
    : found.what === 'credentials'
      ? `it has none of the credentials of ${deviceId} (${found.recorded}): the key was erased, or it is another key with the serial number ${serial}. If it was erased, issue it again: devmgr keys issue ${serial} --provider PROVIDER --reset. If not, register it under the number printed on it: devmgr register`
      : `it is another key than ${deviceId}, which has the serial number ${serial} as well: its ${found.what} is ${found.shown}, and that of the device is ${found.recorded}. Register it under the number printed on it: devmgr register`;

/** Which device a key is whose serial number is not registered. */
export const otherDeviceWords = ({ deviceId, serialNumber }: IdentityCandidate): string =>
  `its serial number is not registered, and it is ${deviceId} (${serialNumber}) by its credential: it is enrolled already, and reports another serial number now`;

/** The requests of a client. */
export const sendBy =
  (client: Client): Send =>
  async (operation, input, id) =>
    (await client.send({ operation, input, ...(id && { key: id }) })).data;

/** The code of an error; see `RequestErrors`. */
export function codeOf(error: unknown): number | null {
  if (isServerRefusal(error)) return error.code;
  if (isFault(error, 'unreachable')) return 0;
  return isFault(error, 'hardware') ? 404 : null;
}

/** The machine with the keys. */
async function stationOf(hardware: Client): Promise<string> {
  const address = await hardware.address();
  return isLoopback(address) ? hostname() : new URL(address).hostname;
}

/** By hardware service: each key is looked for once. */
const recognitions = new WeakMap<Client, Recognition>();

/** How keys without a serial number are recognized with these clients. */
export function recognitionOf({ registry, hardware, io }: Services): Recognition {
  const existing = recognitions.get(hardware);
  if (existing) return existing;
  const made = new Recognition(
    sendBy(registry),
    sendBy(hardware),
    (read, options) => poll(read, { ...options, signal: io.interrupt }),
    {
      station: () => stationOf(hardware),
      isUnknown: error => codeOf(error) === 404,
      isAway: error => isAwayCode(codeOf(error)),
    },
  );
  recognitions.set(hardware, made);
  return made;
}

/** The attached keys: those without a serial number are recognized by their credentials. */
export async function attachedKeyList(services: Services): Promise<DataOf<Routes['listKeys']>> {
  const data = await services.hardware.call('listKeys');
  return { ...data, list: await recognitionOf(services).all(data.list) };
}

/** The questions of a comparison; `forMs` overrides how long claims are awaited. */
export const questionsOf = ({ registry, hardware, io }: Services, forMs?: number): DeviceQuestions =>
  questionsBy(
    sendBy(registry),
    sendBy(hardware),
    (read, options) => poll(read, { ...options, ...(forMs && { forMs }), signal: io.interrupt }),
    recognitionOf({ registry, hardware, io }),
  );

/**
 * Milliseconds in which the claims of a key are awaited: a command that has ended otherwise does not wait longer for a key that
 * makes none.
 */
const RECORDED_WITHIN = 2_000;

/** Records in progress beside the work of a context. */
const recordings = new WeakMap<Context, Promise<void>[]>();

/** Records what the key claims, beside the work of the command. It is lost if the key, the registry or the role does not allow it. */
export function recordClaimsOf(context: Context, key: NumberedKey): void {
  const registry = context.registry.with({ wait: false });
  const hardware = context.hardware.with({ wait: false });
  const recorded = recordClaims(
    {
      withClaims: questionsOf({ registry, hardware, io: context.io }, RECORDED_WITHIN).withClaims,
      createChallenge: () => registry.call('createProofChallenge'),
      submitProof: input => registry.call('submitProof', input),
    },
    key,
  ).catch(() => undefined);
  recordings.set(context, [...(recordings.get(context) ?? []), recorded]);
}

/** Settles when all of that is recorded, at the end of a command. */
export async function claimsRecorded(context: Context): Promise<void> {
  await Promise.all(recordings.get(context) ?? []);
}

/**
 * The device that an attached key is; null if it is not registered. A fault if the key contradicts it: then it is another key.
 * `mayBeErased`: the operator has said that it was, or that it will be.
 */
export async function registeredDevice(
  services: Services,
  key: Key,
  mayBeErased = false,
): Promise<DeviceDetail | null> {
  const found = await registrationOf(services, key);
  if (found === null) {
    const carried = await recognitionOf(services).carried(key);
    if (carried === null) return null;
    throw failure(`${key.serialNumber}: ${otherDeviceWords(carried)}`);
  }
  const device = await services.registry.call('getDevice', { params: { deviceId: found.deviceId } });
  const contradiction = await otherKeyOf(questionsOf(services), key, device, mayBeErased);
  if (contradiction === null) return device;
  throw failure(`${key.serialNumber}: ${otherKeyWords(device, contradiction)}`);
}

/**
 * The registered device that an attached key is; null if it is not registered. A hardware service that is not the registry
 * looks keys up in a registry of its own, so its `device` is ignored.
 */
export async function registrationOf(services: RegistryAndKeys, key: Key): Promise<Key['device']> {
  return (await asRegistered(services, key)).device;
}

type RegistryAndKeys = Pick<Context, 'registry' | 'hardware'>;
type Services = RegistryAndKeys & Pick<Context, 'io'>;

async function asRegistered({ registry, hardware }: RegistryAndKeys, key: Key): Promise<Pick<Key, 'device' | 'proof'>> {
  const { serialNumber, serialSource, device, proof } = key;
  // A key that was recognized just now was listed without its device.
  const isListed = device || serialSource !== recognizedBy;
  // A hardware service that follows another interface may send neither.
  if (hardware === registry && isListed) return { device: device ?? null, proof: proof ?? null };
  const { exact } = serialNumber === null ? { exact: null } : await findBySerial(registry, serialNumber);
  if (exact === null) return { device: null, proof: claimedBy(key) };
  return { device: { deviceId: exact.deviceId, status: exact.status }, proof: exact.proof ?? claimedBy(key) };
}

/** Claims of the key. Any other proof is a verdict of the registry of the hardware service, which does not count. */
const claimedBy = ({ proof }: Key): Proof | null =>
  proof?.grade === 'claimed' && proof.method === 'claims' ? proof : null;

/** Registrations of many keys, in a registry that may be unreachable. */
export class Registrations {
  /** Why the registry could not be asked; null if it could. Then it is unknown whether a key without a device is registered. */
  failure: Fault | null = null;
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  async of(key: Key): Promise<Key> {
    try {
      return { ...key, ...(await asRegistered(this.#context, key)) };
    } catch (error) {
      this.failure = reasonOf(error, this.#context.loginHint());
      return { ...key, device: null, proof: claimedBy(key) };
    }
  }
}

/** Why the registry could not be asked. Other errors are thrown. */
function reasonOf(error: unknown, loginHint: string): Fault {
  if (error instanceof Fault && (error.kind === 'login' || error.kind === 'unreachable')) return error;
  if (isServerRefusal(error)) return failure(error.message, loginHint);
  throw error;
}
