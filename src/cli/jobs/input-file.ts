/** The input file of a command: its name in messages, and whether it can be read. */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { Fault, systemWords, usage } from '../fault.ts';

/** The flags that name what a run reads and writes. */
interface InputFlags {
  /** `-` is standard input. */
  readonly file: string;
  readonly out: string | undefined;
  readonly resume: boolean;
}

/** The file in words. */
export const nameOf = (file: string): string => (file === '-' ? 'standard input' : file);

/** A fault in one sentence, for a notice. */
export const noticeOf = ({ message, hint }: Fault): string => (hint === null ? message : `${message}: ${hint}`);

/** Whether a regular file has this name. */
export const isRegular = (file: string): boolean => statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;

/** Throws a usage fault if the input is not readable, cannot be resumed, or is also the file of results. */
export function checkInput({ file, out, resume }: InputFlags): void {
  if (file !== '-') checkReadable(file);
  if (out === undefined && resume && (file === '-' || !isRegular(file)))
    throw usage(
      `${nameOf(file)} can be resumed only if the results are in a file`,
      'name it with --out FILE, or omit --resume',
    );
  if (file === '-' || out === undefined || !existsSync(out)) return;
  const [input, results] = [statSync(file), statSync(out)];
  if (input.ino === results.ino && input.dev === results.dev) throw usage(`--out ${out} is the input file`);
}

function checkReadable(file: string): void {
  try {
    if (statSync(file).isDirectory()) throw usage(`${file} is a folder, not a file`);
    accessSync(file, constants.R_OK);
  } catch (error) {
    throw unreadable(file, error);
  }
}

/** The fault for an input that cannot be read; a fault stays as it is. */
export const unreadable = (file: string, error: unknown): Fault =>
  error instanceof Fault ? error : usage(`${nameOf(file)} cannot be read: ${systemWords(error)}`);
