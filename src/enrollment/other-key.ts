/** Whether an attached key is the device with its serial number, or another key: what it shows, and what it is asked without a touch. */
import type { DeviceDetail } from '../contract/device-shapes.ts';
import type { Key } from '../contract/hardware.ts';
import { recognizedBy } from './own-number.ts';
import type { DeviceQuestions, NumberedKey } from './registry.ts';
import { type Contradiction, contradictionOf } from './same-device.ts';

/** Whether there is a real key whose authenticator can be asked. A key of a spool file is not attached. */
export const isAnswering = ({ deviceType, simulated, serialNumber, keyId }: Key): boolean =>
  deviceType === 'UKEY' && !simulated && serialNumber !== null && Boolean(keyId);

/**
 * Why the key is another one than the device with its serial number; null if nothing shows that. `mayBeErased`: that it has lost the
 * credentials of the device is no reason.
 */
export async function otherKeyOf(
  questions: DeviceQuestions,
  key: Key,
  device: DeviceDetail,
  mayBeErased = false,
): Promise<Contradiction | null> {
  const mustClaim = Boolean(device.proof?.aaguid) && !key.claims?.aaguid;
  const contradiction = contradictionOf(mustClaim ? await questions.withClaims(key) : key, device);
  if (contradiction !== null || !isAnswering(key) || key.serialSource === recognizedBy) return contradiction;
  const other = await otherIdentity(questions, key, device, mayBeErased);
  if (other !== null || mayBeErased || device.status !== 'ACTIVE') return other;
  return lostCredentials(questions, key as NumberedKey, device.deviceId).catch(() => null);
}

/** A key with the credential of another device is that one, and a device with a credential is the key that has it. */
async function otherIdentity(
  { recognition }: DeviceQuestions,
  key: Key,
  device: DeviceDetail,
  mayBeErased: boolean,
): Promise<Contradiction | null> {
  const isKnown = device.identity === 'credential';
  const has = isKnown ? await recognition.hasCredentialOf(key, device).catch(() => null) : false;
  // A key that cannot be asked shows nothing.
  if (has !== false) return null;
  const carried = await recognition.carried(key);
  const shown = carried?.deviceId ?? (isKnown && !mayBeErased ? 'none' : device.deviceId);
  return shown === device.deviceId ? null : { what: 'credential', recorded: device.deviceId, shown };
}

/** Only of credentials that this key, or the one before it, has reported without its PIN. A key that cannot be asked shows nothing. */
async function lostCredentials(
  { credentials, step }: DeviceQuestions,
  key: NumberedKey,
  deviceId: string,
): Promise<Contradiction | null> {
  const asked = (await credentials(deviceId)).filter(({ stored }) => stored !== undefined);
  if (asked.length === 0) return null;
  const answer = await step(key, { step: 'state', credentials: asked.flatMap(({ stored }) => stored ?? []) });
  if (answer.problem !== null || answer.hasAny !== false) return null;
  return { what: 'credentials', recorded: asked.map(({ credentialId }) => credentialId).join(', '), shown: 'none' };
}
