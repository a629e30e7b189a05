import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Fault, systemCode, systemWords } from '../fault.ts';

const otherFolder = 'name another folder with --home DIR';

/** The JSON object a file holds; null where there is no such file. */
export function readJsonFile(file: string): Readonly<Record<string, unknown>> | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw new Fault('failure', `cannot read ${file}: ${systemWords(error)}`, otherFolder);
  }
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Falls through: it is no JSON.
  }
  throw new Fault(
    'failure',
    `${file} is damaged: it holds no JSON object`,
    `move it away and try again: mv ${file}{,.bad}`,
  );
}

/**
 * Writes aside and renames, so that a reader never sees half a file. Only the user can read it. With `durable` the disk has
 * the text before the name leads to it.
 */
export function writePrivateFile(file: string, text: string, { durable = false } = {}): void {
  const aside = `${file}.${process.pid}.new`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    rmSync(aside, { force: true });
    // A file of its own and no link that somebody has put there: what is written beside an input may lie in anybody's folder.
    writeFileSync(aside, text, { mode: 0o600, flag: 'wx', flush: durable });
    renameSync(aside, file);
  } catch (error) {
    rmSync(aside, { force: true });
    throw new Fault('failure', `cannot write ${file}: ${systemWords(error)}`, otherFolder);
  }
}

export const writeJsonFile = (file: string, value: unknown): void =>
  writePrivateFile(file, `${JSON.stringify(value, null, 2)}\n`);
