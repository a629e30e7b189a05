/** PINs that are made here: random, and encrypted for age recipients before the key gets them. They are in memory only. */
import { randomInt } from 'node:crypto';
import { pinBounds } from '../../../contract/limits.ts';
import { failure, usage } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { secretLinesIn } from '../../framework/secret-file.ts';

/** The digits of a random PIN that `--pin` names; null to ask for a PIN. */
export function digitsOf(kind: string | undefined): number | null {
  if (kind === undefined || kind === 'ask') return null;
  const { least, most, usual } = pinBounds.digits;
  const [, text = String(usual)] = /^random(?::(\d{1,2}))?$/.exec(kind) ?? [null, ''];
  const digits = Number(text);
  if (text !== '' && digits >= least && digits <= most) return digits;
  throw usage(`--pin ${kind} is not known`, `use ask, random, or random:N with ${least} to ${most} digits`);
}

/** Digits, each as likely as another. One digit alone, or digits in a row, are what a key may refuse: they are not used. */
export function randomPin(digits: number): string {
  for (;;) {
    const all = Array.from({ length: digits }, () => randomInt(10));
    const steps = new Set(all.slice(1).map((digit, at) => digit - all[at]!));
    if (steps.size > 1 || Math.abs([...steps][0]!) > 1) return all.join('');
  }
}

/**
 * Encrypts PINs as age files (base64url) that the recipients of the policy can open. Throws a usage fault if there are none.
 * The library is loaded here, so that the first key does not wait for it.
 */
export async function pinSealer({ registry }: Context): Promise<(pin: string) => Promise<string>> {
  const { recipients } = await registry.call('showPinPolicy');
  if (recipients.length === 0)
    throw usage(
      'no one could read a random PIN: the policy names no recipient',
      'an ADMIN names one: devmgr policies update --pin-recipient age1…',
    );
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  for (const recipient of recipients) encrypter.addRecipient(recipient);
  return async pin => Buffer.from(await encrypter.encrypt(pin)).toString('base64url');
}

/** The PIN in an age file. `file`: file with age identities, one on each line. */
export async function opened(context: Context, text: string, file: string): Promise<string> {
  const { Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  for (const identity of identitiesIn(context, file))
    try {
      decrypter.addIdentity(identity);
    } catch {
      throw usage(`${file} has a line that is not an age identity`, 'an age identity begins with AGE-SECRET-KEY-');
    }
  try {
    return await decrypter.decrypt(Buffer.from(text, 'base64url'), 'text');
  } catch {
    throw failure(
      `the identity in ${file} does not open this PIN`,
      'use the identity of a recipient that the policy named when the PIN was set',
    );
  }
}

function identitiesIn(context: Context, file: string): readonly string[] {
  const lines = secretLinesIn(context, file, { what: 'identity' });
  const identities = lines.map(line => line.trim()).filter(line => line !== '' && !line.startsWith('#'));
  if (identities.length === 0) throw usage(`${file} does not contain an identity`);
  return identities;
}
