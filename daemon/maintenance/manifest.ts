/**
 * The manifest at the end of a backup file: digest and size of the database before it, authenticated with an HMAC. SQLite ignores
 * what follows its last page, so the file is still a database. The records in the database have the digests of the stored files:
 * the manifest authenticates these too.
 *
 *   database | manifest as JSON, "\n" | HMAC-SHA256 of the manifest, base64url, "\n" | last line, of fixed length
 */
import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';

/** Description of a backup by its writer. */
interface Manifest {
  readonly format: 1;
  /** ISO 8601 UTC. */
  readonly createdAt: string;
  /** Names the key: which of several was used, but nothing about it. */
  readonly keyId: string;
  /** Bytes of the database. */
  readonly size: number;
  /** Of the database, lower-case hex. */
  readonly sha256: string;
}

/** A key for manifests and its name. */
export interface BackupKey {
  readonly id: string;
  readonly key: Buffer;
}

/** The result of comparing a backup with its manifest. `size` is that of its database. */
export type ManifestVerdict =
  | { readonly kind: 'verified'; readonly manifest: Manifest; readonly size: number }
  /** There is no manifest at the end of the file. */
  | { readonly kind: 'none' }
  | { readonly kind: 'refused'; readonly why: string; readonly size: number };

/** The last line names the bytes of manifest and HMAC before it. */
const lastLine = /^devmgr-backup-1 (\d{8})\n$/;
const lastLineBytes = 25;
/** A manifest is about 250 bytes: a claim of more is not read. */
const maxManifestBytes = 4096;

/**
 * Derives the key for manifests from a key of the journal (HKDF-SHA256), so that a restore needs no further secret, and a
 * manifest cannot pass for an entry of the journal.
 */
export function backupKey(journalKey: Uint8Array): BackupKey {
  const derive = (info: string, bytes: number) => Buffer.from(hkdfSync('sha256', journalKey, '', info, bytes));
  return {
    id: derive('devmgr backup manifest v1: name of the key', 8).toString('hex'),
    key: derive('devmgr backup manifest v1', 32),
  };
}

const macOf = ({ key }: BackupKey, text: string): string => createHmac('sha256', key).update(text).digest('base64url');

/** Appends a manifest to the database `file`, durably. */
export async function appendManifest(file: string, key: BackupKey, createdAt: string): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    const { size } = await handle.stat();
    const manifest: Manifest = { format: 1, createdAt, keyId: key.id, size, sha256: await digestOf(file, size) };
    const text = JSON.stringify(manifest);
    const body = `${text}\n${macOf(key, text)}\n`;
    await handle.write(`${body}devmgr-backup-1 ${String(body.length).padStart(8, '0')}\n`, size);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Compares a backup with the manifest at its end. `keys` may contain earlier keys. */
export async function verifyManifest(file: string, keys: readonly BackupKey[]): Promise<ManifestVerdict> {
  const found = await readManifest(file);
  if (found === null) return { kind: 'none' };
  const { text, mac, size } = found;
  const refused = (why: string): ManifestVerdict => ({ kind: 'refused', why, size });
  const manifest = parseManifest(text);
  if (manifest === null) return refused('its manifest is not one that this devmgr can read');
  const key = keys.find(({ id }) => id === manifest.keyId);
  if (!key)
    return refused('it was authenticated with another key: this home does not have the journal-key of the backup');
  if (!isEqual(mac, macOf(key, text))) return refused('its manifest was changed');
  if (manifest.size !== size || manifest.sha256 !== (await digestOf(file, size)))
    return refused(
      'its database does not match its manifest: it was changed, or the manifest is that of another backup',
    );
  return { kind: 'verified', manifest, size };
}

interface FoundManifest {
  readonly text: string;
  readonly mac: string;
  /** Bytes of the database before it. */
  readonly size: number;
}

/** Null if the file does not end with a manifest. */
async function readManifest(file: string): Promise<FoundManifest | null> {
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    const length = Number(lastLine.exec(await textAt(handle, size - lastLineBytes, lastLineBytes))?.[1] ?? 0);
    const start = size - lastLineBytes - length;
    if (length === 0 || length > maxManifestBytes || start < 0) return null;
    const [text = '', mac = ''] = (await textAt(handle, start, length)).split('\n');
    return { text, mac, size: start };
  } finally {
    await handle.close();
  }
}

async function textAt(handle: FileHandle, position: number, length: number): Promise<string> {
  if (position < 0) return '';
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
  return buffer.toString('latin1', 0, bytesRead);
}

function parseManifest(text: string): Manifest | null {
  try {
    const manifest = JSON.parse(text) as Manifest | null;
    return manifest?.format === 1 ? manifest : null;
  } catch {
    return null;
  }
}

function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** SHA-256 of the first `size` bytes. */
async function digestOf(file: string, size: number): Promise<string> {
  const hash = createHash('sha256');
  if (size > 0) await pipeline(createReadStream(file, { end: size - 1 }), hash);
  return hash.digest('hex');
}
