/** Receipts in files: the JSON of the registry, as a file or inside its envelope. */
import { readFileSync, statSync } from 'node:fs';
import { isObject } from '../../../../contract/json-object.ts';
import { namesIn } from '../../../../contract/names.ts';
import type { Receipt } from '../../../../contract/receipts.ts';
import { systemWords, usage } from '../../../fault.ts';
import type { Context } from '../../../framework/context.ts';

/** More than any receipt has. */
const MAX_BYTES = 256 * 1024;
/** The members that a check or a printed receipt needs; null only where the registry has null. */
const texts = namesIn('receiptId text relyingParty credentialId authenticatorData signature publicKey');

/** The receipt with this id, or in this file. */
export async function receiptNamed(context: Context, named: string): Promise<Receipt> {
  if (!/^RCT-[A-Z2-9]{20}$/.test(named)) return readReceipt(named);
  return context.registry.call('getReceipt', { params: { receiptId: named } });
}

/** The receipt in a file. Throws a usage fault if it is none. */
function readReceipt(file: string): Receipt {
  const json = textOf(file);
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw usage(`${file} is not JSON`, 'write a receipt: devmgr receipt print RECEIPT --format json');
  }
  const inEnvelope = isObject(value) && isObject(value.data) ? value.data : value;
  if (!isObject(inEnvelope) || texts.some(name => typeof inEnvelope[name] !== 'string'))
    throw usage(`${file} is not a receipt`, 'write a receipt: devmgr receipt print RECEIPT --format json');
  return inEnvelope as unknown as Receipt;
}

/** The text of a small file. */
export function textOf(file: string): string {
  try {
    if (statSync(file).size <= MAX_BYTES) return readFileSync(file, 'utf8');
  } catch (error) {
    throw usage(`${file} cannot be read: ${systemWords(error)}`, 'name a receipt, or a file with one');
  }
  throw usage(`${file} has more than ${MAX_BYTES} bytes`, 'name a file with one receipt');
}
