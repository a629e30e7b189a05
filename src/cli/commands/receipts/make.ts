import { parseInstant } from '../../../contract/instant.ts';
import { receiptKinds } from '../../../contract/key-values.ts';
import { usage } from '../../fault.ts';
import { command, definedFields } from '../../framework/define.ts';
import { resolveDevice } from '../../framework/devices/device.ts';
import { registeredDevice } from '../../framework/devices/registration.ts';
import { present } from '../../framework/present.ts';
import { safe } from '../../terminal/text.ts';
import { attachedKeys } from '../proofs/verify.ts';
import { factRows } from './files.ts';
import { signedReceipt } from './signing.ts';

/** Flags with the terms and the end of a loan. */
export const termsFlag = { value: 'TEXT', help: 'what the person agrees to' } as const;
/** The terms if none are named. */
export const usualTerms = 'The person named above has received this security key, and reports its loss at once.';
const returnTerms = 'The security key named above was returned.';

/** Has an attached key sign a receipt. */
export const make = command({
  description:
    'The person touches the key, which signs a text with the person, the serial number, the lot, the date and the terms. The registry checks the signature and stores the receipt.\nA key without a FIDO proof signs with the credential by which the registry recognizes it; without that, it is proved first, and blinks twice. A return must be signed by the key that was issued; after a reset of the key, an ADMIN makes a handover first, unless the key proves its serial number. Every receipt closes the open loan of its device.\nA touch proves that a person was present, but not who: see docs/receipts.md.',
  args: [
    {
      name: 'DEVICE',
      help: 'deviceId or serial number; by default the only attached key',
      optional: true,
      offer: 'device',
    },
  ],
  flags: {
    kind: {
      value: 'KIND',
      choices: receiptKinds,
      help: 'what happens to the key (default: handover, with --due loan)',
    },
    terms: termsFlag,
    due: { value: 'TIME', field: 'dueAt', help: 'when a loan ends: a date such as 2027-01-31, or a time with a zone' },
  },
  examples: {
    'for the attached key, which is handed to its person': 'receipts add',
    'lend it': 'receipts add DEV-1 --due 2027-01-31 --terms "For the audit."',
    'take it back': 'receipts add DEV-1 --kind return',
  },
  async run({ args, flags }, context) {
    const { due } = flags;
    const kind = flags.kind ?? (due === undefined ? 'handover' : 'loan');
    if ((kind === 'loan') !== (due !== undefined))
      throw usage(kind === 'loan' ? 'a loan needs --due' : `--due is for loans, and this is a ${kind}`);
    const deviceId = await resolveDevice(context, args[0], args[0] === undefined);
    const { serialNumber } = await context.registry.call('getDevice', { params: { deviceId } });
    const [key] = await attachedKeys(context, [serialNumber]);
    await registeredDevice(context, key!);
    const terms = flags.terms ?? (kind === 'return' ? returnTerms : usualTerms);
    const wanted = definedFields({ deviceId, kind, terms, dueAt: due === undefined ? undefined : endOf(due) });
    const receipt = await signedReceipt(context, key!, wanted);
    await present(context, {
      data: receipt,
      id: receipt.receiptId,
      title: `${safe(receipt.receiptId)} ${kind} signed`,
      rows: [...factRows(receipt), ['key proved', safe(receipt.proof.grade)]],
      next: `devmgr receipts print ${safe(receipt.receiptId)}`,
    });
  },
});

/** The last moment of a day, in the time zone of this machine; any other text as it is: the registry checks it. */
function endOf(due: string): string {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(due)) return due;
  // Date takes February 31 for March 3.
  if (parseInstant(`${due}T23:59:59Z`) === null) throw usage(`--due ${due} is not a day`, 'for example 2027-01-31');
  return new Date(`${due}T23:59:59`).toISOString();
}
