import { fixedLines, fixedTexts } from '../../src/contract/device-description.ts';
import { digest } from '../store/digest.ts';
import type { DeviceRecord } from './records.ts';

/** Fields that a digest of a device covers: the fields that never change, and the activation code with its expiry. */
export const codedFields = [
  'deviceType',
  'serialNumber',
  ...fixedTexts,
  'activationCode',
  'activationCodeExpiresAt',
] as const satisfies readonly (keyof DeviceRecord)[];

export type CodedDevice = Pick<DeviceRecord, (typeof codedFields)[number]>;

/** No field of a registration contains a line break, so that no two devices give the same text. */
export function codeDigest(device: CodedDevice): string {
  const { deviceType, serialNumber, activationCode, activationCodeExpiresAt } = device;
  return digest(`${deviceType}\n${serialNumber}\n${fixedLines(device)}${activationCode}\n${activationCodeExpiresAt}`);
}

/** The digest of the `userId` that a device is bound to. */
export const ownerDigest = (userId: string): string => digest(userId);

/** The digest of the tags of a device: of their JSON, sorted by name. */
export const tagsDigest = (json: string): string => digest(json);

/** The digest of the proof of a device: of its JSON as it is stored. */
export const proofDigest = (json: string): string => digest(json);
