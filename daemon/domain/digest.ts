/**
 * Digests of values that an entry of the journal must prove without showing them. They need no key: an activation code has 80
 * random bits, a password hash 256.
 */
import { hash } from 'node:crypto';
import { fixedLines, fixedTexts } from '../../src/contract/device-description.ts';
import { namesIn } from '../../src/contract/names.ts';
import type { DeviceRecord } from './device.ts';
import type { ProofRecord } from './proof.ts';

/** Characters of base64 that are kept: 132 bits. */
const CHARACTERS = 22;
const digest = (text: string): string => hash('sha256', text, 'base64').slice(0, CHARACTERS);

/** What a digest of a device covers: the fields that never change, and the activation code with its expiry. */
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
  return digest(`${deviceType}\n${serialNumber}\n${fixedLines(device)}\n${activationCode}\n${activationCodeExpiresAt}`);
}

/** The digest of an encoded password hash. */
export const passwordDigest = (passwordHash: string): string => digest(passwordHash);

/** The digest of a key of the journal: tells which key the entries after a replacement are authenticated with. */
export const keyDigest = (key: Uint8Array): string => digest(`devmgr journal key ${Buffer.from(key).toString('hex')}`);

/** The digest of the `userId` that a device is bound to. */
export const ownerDigest = (userId: string): string => digest(userId);

/** The digest of the tags of a device: of their JSON, sorted by name. */
export const tagsDigest = (json: string): string => digest(json);

/** The digest of the proof of a device: of its JSON as it is stored. */
export const proofDigest = (json: string): string => digest(json);

/** A digest that shows nothing without its salt, which is stored apart from it. */
export const saltedDigest = (salt: string, text: string): string => digest(`${salt}\n${text}`);

/** The digest of a document. */
export const documentDigest = (value: string): string => digest(value);

/** The digest of everything that a stored answer is judged by. No part contains a line break: JSON escapes it. */
export const answerDigest = (answer: AnsweredChallenge): string =>
  digest(answerParts.map(part => answer[part] ?? '').join('\n'));

/** What `answerDigest` covers. */
export const answerParts = namesIn(
  'proofId serialNumber createdAt registryId challenge ephemeralKey described claims evidence',
) satisfies readonly (keyof ProofRecord)[];
export type AnsweredChallenge = Pick<ProofRecord, (typeof answerParts)[number]>;
