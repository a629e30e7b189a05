import { usage } from '../fault.ts';
import type { Context } from '../framework/context.ts';
import { textIn } from '../settings/files.ts';
import { firstLines } from '../terminal/lines.ts';

/** The first line of a file, or of standard input for `-`; undefined without a file. A fault does not show it. */
export async function secretFrom<F extends string | undefined>(
  { io }: Context,
  file: F,
): Promise<F extends string ? string : undefined>;
export async function secretFrom({ io }: Context, file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const text = file === '-' ? ((await firstLines(io, 1, 'a secret'))[0] ?? '') : textIn(file, 'the secret');
  const secret = text.split(/\r?\n/, 1)[0]!.trim();
  if (secret === '') throw usage(`${file} does not contain a secret`);
  return secret;
}
