/**
 * Digests of values that an entry of the journal must prove without showing them. They need no key: an activation code has 80
 * random bits, a password hash 256.
 */
import { hash, randomBytes } from 'node:crypto';

/** Characters of base64 that are kept: 132 bits. */
const CHARACTERS = 22;
/** The digest of a text. */
export const digest = (text: string): string => hash('sha256', text, 'base64').slice(0, CHARACTERS);

/** The digest of an encoded password hash. */
export const passwordDigest = (passwordHash: string): string => digest(passwordHash);

/** The digest of a key of the journal: tells which key the entries after a replacement are authenticated with. */
export const keyDigest = (key: Uint8Array): string => digest(`devmgr journal key ${Buffer.from(key).toString('hex')}`);

/** A new salt of digests. */
export const newSalt = (): string => randomBytes(16).toString('base64url');

/** A digest that shows nothing without its salt, which is stored apart from it. */
export const saltedDigest = (salt: string, text: string): string => digest(`${salt}\n${text}`);

/** The digest of a document. */
export const documentDigest = (value: string): string => digest(value);
