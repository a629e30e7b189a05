/** Random texts by which the daemon recognizes who it has given them to, and the digests that it stores instead of them. */
import { createHash, randomBytes } from 'node:crypto';

/** A text of 256 random bits. */
export const newSecret = (): string => randomBytes(32).toString('base64url');

/** The digest of a text that has enough random bits. */
export const secretDigest = (text: string): string => createHash('sha256').update(text).digest('base64url');
