/** Receipts as commands read and show them: in files, the JSON of the registry, alone or inside its envelope. */
import type { KeyObject } from 'node:crypto';
import { isObject, objectIn } from '../../../contract/json-object.ts';
import { namesIn } from '../../../contract/names.ts';
import { checkReceipt, signedFor } from '../../../contract/receipts/check.ts';
import type { ReceiptFacts } from '../../../contract/receipts/text.ts';
import type { Receipt } from '../../../contract/receipts.ts';
import { Fault, usage } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import type { CardRow } from '../../framework/present.ts';
import { smallTextIn } from '../../settings/files.ts';
import { safe } from '../../terminal/text.ts';
import { localTime } from '../../terminal/when.ts';

/** More than any receipt has. */
const MAX_BYTES = 256 * 1024;
/** The members that a check or a printed receipt needs; null only where the registry has null. */
const texts = namesIn('receiptId text relyingParty credentialId authenticatorData signature publicKey');

/** The receipt with this id, or in this file. A fault if the registry returns another one, which could be valid as well. */
export async function receiptNamed(context: Context, named: string): Promise<Receipt> {
  if (!/^RCT-[A-Z2-9]{20}$/.test(named)) return readReceipt(named);
  const receipt = await context.registry.call('getReceipt', { params: { receiptId: named } });
  if (receipt.receiptId === named) return receipt;
  throw new Fault('failure', `the registry returned ${receipt.receiptId} in place of ${named}`);
}

/** The receipt in a file. Throws a usage fault if it is none. */
function readReceipt(file: string): Receipt {
  const value = objectIn(textOf(file)) ?? {};
  const receipt = isObject(value.data) ? value.data : value;
  if (texts.every(name => typeof receipt[name] === 'string')) return receipt as unknown as Receipt;
  throw usage(`${file} is not a receipt`, 'write a receipt: devmgr receipts print RECEIPT --format json');
}

/** Signed receipt; a text if the receipt is not valid: why, or which statement beside the signed text differs from it. */
export function checkedFacts(receipt: Receipt, key: KeyObject | null): ReceiptFacts | string {
  const facts = key === null ? 'it has no public key' : checkReceipt(receipt, key);
  if (typeof facts === 'string') return facts;
  const stated: Readonly<Record<string, unknown>> = { ...receipt };
  const field = Object.entries(facts).find(([name, value]) => stated[name] !== value)?.[0];
  if (field !== undefined) return `${field} differs from the signed text`;
  const party = signedFor(receipt.authenticatorData, facts.registryId, receipt.proof?.clientData);
  return receipt.relyingParty === party ? facts : 'relyingParty differs from the signature';
}

/** The text of a file with a receipt or a public key. */
export const textOf = (file: string): string =>
  smallTextIn(file, 'the file', MAX_BYTES, 'name a receipt, or a file with one');

/** The person of a receipt: the full name if it is known, and the user name. */
export const personIn = ({ name, person }: Pick<ReceiptFacts, 'name' | 'person'>): string =>
  name === null ? person : `${name} (${person})`;

/** Statements of a receipt about the key and its person, as rows of a card. */
export const factRows = (facts: Omit<ReceiptFacts, 'terms' | 'registryId'>): readonly CardRow[] => [
  ['device', `${safe(facts.deviceId)}, ${safe(facts.serialNumber)}`],
  ['lot', facts.lot && safe(facts.lot)],
  ['person', safe(personIn(facts))],
  ['date', localTime(facts.date)],
  ['due', facts.dueAt && localTime(facts.dueAt)],
];
