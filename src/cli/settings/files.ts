/** Files that are read and written whole: settings, tokens, checkpoints, reports, service definitions. */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { objectIn } from '../../contract/json-object.ts';
import { environment } from '../../contract/local.ts';
import { Fault, failure, systemCode, systemWords, usage } from '../fault.ts';

const otherFolder = 'name another folder with --home DIR';

/** The JSON object in a file; null if the file does not exist. A fault if it cannot be read or holds anything else. */
export function readJsonFile(file: string, hint = otherFolder): Readonly<Record<string, unknown>> | null {
  let text: string;
  try {
    // A pipe or a device may have no end, and Ctrl-C does not interrupt this read.
    if (!statSync(file).isFile()) throw failure(`${file} is not a file`, hint);
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Fault) throw error;
    if (systemCode(error) === 'ENOENT') return null;
    throw failure(`cannot read ${file}: ${systemWords(error)}`, hint);
  }
  const object = objectIn(text);
  if (object === null) throw damaged(file, 'it does not contain a JSON object');
  return object;
}

/** The text of a file that the user names. A usage fault if it cannot be read; `what` is what it should contain, in words. */
export const textIn = (file: string, what: string): string => bytesIn(file, what).toString('utf8');

/** The text of such a file in UTF-8, of at most `most` bytes: one that was named by mistake is not read. */
export function smallTextIn(file: string, what: string, most: number, hint: string | null = null): string {
  try {
    const bytes = statSync(file).size > most ? null : readFileSync(file);
    if (bytes !== null && bytes.length <= most) return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    const why = error instanceof TypeError ? 'is not UTF-8' : `cannot be read: ${systemWords(error)}`;
    throw usage(`${what} ${file} ${why}`, hint);
  }
  throw usage(`${what} ${file} has more than ${most / 1024} KiB`, hint);
}

/** The bytes of such a file. */
export function bytesIn(file: string, what: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw usage(`${what} in ${file} cannot be read: ${systemWords(error)}`);
  }
}

/** The fault for a file of the home folder whose content cannot be used. */
export const damaged = (file: string, why: string): Fault =>
  failure(`${file} is damaged: ${why}`, `rename it and try again: mv ${file}{,.bad}`);

/** The fault for a file that cannot be written. */
export const unwritable = (file: string, error: unknown, hint = otherFolder): Fault =>
  failure(`cannot write ${file}: ${systemWords(error)}`, hint);

/** A usage fault if a file exists and belongs to another user, who could read what is written to it. */
export function demandOwnFile(file: string, advice: string): void {
  const stat = statSync(file, { throwIfNoEntry: false });
  const user = process.getuid?.();
  if (stat?.isFile() && user !== undefined && stat.uid !== user)
    throw usage(`${file} belongs to another user (uid ${stat.uid})`, advice);
}

/** The fault for a home folder that cannot be used. */
export const unusableHome = (home: string, error: unknown): Fault =>
  failure(
    `the home folder ${home} cannot be used: ${systemWords(error)}`,
    `name another folder with --home DIR or ${environment.home}`,
  );

/** How `writeWhole` writes. */
interface WriteOptions {
  /** Permissions; by default only the user can read the file. */
  readonly mode?: number;
  readonly encoding?: BufferEncoding;
  /** The disk has the text before the file has its name. */
  readonly durable?: boolean;
  /** Advice if the file cannot be written. */
  readonly hint?: string;
}

/** Replaces a file in one step: readers see the old text or the new one. Creates missing folders (0700). */
export function writeWhole(
  file: string,
  text: string | Uint8Array,
  { mode = 0o600, encoding = 'utf8', durable = false, hint }: WriteOptions = {},
): void {
  const temporary = `${file}.${process.pid}.new`;
  try {
    makeFolder(dirname(file));
    rmSync(temporary, { force: true });
    // `wx` follows no link that another user has placed there: the folder may be one that everyone can write to.
    writeFileSync(temporary, text, { mode, encoding, flag: 'wx', flush: durable });
    renameSync(temporary, file);
  } catch (error) {
    removeIfPossible(temporary);
    throw unwritable(file, error, hint);
  }
}

/** Never throws: the error that ended the work is the one to report, not that its files cannot be removed either. */
export function removeIfPossible(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // Its folder is gone, or read-only by now.
  }
}

/** Writes a file (0600). One that exists is replaced only if `force` is set; else it is a usage fault. */
export function writeNew(file: string, text: string | Uint8Array, force: boolean): void {
  try {
    if (force) writeWhole(file, text);
    else writeFileSync(file, text, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (systemCode(error) === 'EEXIST') throw usage(`${file} already exists`, 'name another file, or add --force');
    if (error instanceof Fault) throw error;
    throw failure(`${file} cannot be written: ${systemWords(error)}`, 'name another file');
  }
}

/** Replaces a file with a JSON document; see `writeWhole`. */
export const writeJsonFile = (file: string, value: unknown): void => writeWhole(file, jsonText(value));

/** JSON as the files of the home folder hold it. */
export const jsonText = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** Creates a folder and its parents (0700). Node's recursive mkdir never returns below /proc, where each try is ENOENT. */
export function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    const code = systemCode(error);
    if (code === 'EEXIST' || existsSync(folder)) return;
    if (code !== 'ENOENT' || existsSync(dirname(folder))) throw error;
    makeFolder(dirname(folder));
    // Another process may have created it since.
    makeFolder(folder);
  }
}
