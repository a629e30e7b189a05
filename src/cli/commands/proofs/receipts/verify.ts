import { fingerprintOf, readPublicKey } from '../../../../contract/receipts/check.ts';
import { exitCodes } from '../../../exit-codes.ts';
import { usage } from '../../../fault.ts';
import { command } from '../../../framework/define.ts';
import { fileFlag } from '../../../framework/flags.ts';
import { present } from '../../../framework/present.ts';
import { safe } from '../../../terminal/text.ts';
import { checkedFacts, factRows, receiptNamed, textOf } from './files.ts';

const notTrusted = 'compare the public key with one that you trust: the receipt itself contains it';

/** Verifies a receipt. With a file, nothing but the file and the public key is needed. */
export const verify = command({
  description:
    'Checks that the key has signed exactly this text, and that the receipt states nothing else. With a file it needs no registry and no login.\nA receipt contains its own public key, so anyone with any key could make one. Name the public key that you trust with --public-key, or compare the fingerprint shown with another receipt of the same key or with the registry.\nExit code 0: valid; 6: not valid.',
  args: [{ name: 'RECEIPT', help: 'file with a receipt in JSON, or its id', offer: 'file' }],
  flags: {
    'public-key': fileFlag('the public key to trust, in PEM'),
  },
  examples: [
    { does: 'offline, with the public key of the key', line: 'receipt verify receipt.json --public-key key.pem' },
    { does: 'one that the registry has', line: 'receipt verify RCT-7KQM2XWDH9TBC4REPA3S' },
  ],
  async run({ args, flags }, context) {
    const receipt = await receiptNamed(context, args[0]!);
    const trusted = flags.publicKey === undefined ? null : readPublicKey(textOf(flags.publicKey));
    if (flags.publicKey !== undefined && trusted === null) throw usage(`${flags.publicKey} is not a public key in PEM`);
    const key = trusted ?? readPublicKey(receipt.publicKey);
    const checked = checkedFacts(receipt, key);
    const problem = typeof checked === 'string' ? checked : null;
    const fingerprint = key && fingerprintOf(key);
    const isTrusted = trusted !== null && problem === null;
    const facts = typeof checked === 'string' ? null : checked;
    await present(context, {
      data: { valid: facts !== null, problem, publicKeyTrusted: isTrusted, fingerprint, facts },
      id: facts === null ? 'not valid' : 'valid',
      title: facts === null ? `Not valid: ${safe(problem!)}` : 'Valid',
      rows: [
        ['receipt', facts && `${safe(facts.receiptId)}, ${facts.kind}`],
        ...(facts ? factRows(facts) : []),
        ['terms', facts && safe(facts.terms)],
        ['registry', facts && safe(facts.registryId)],
        ['public key', fingerprint && `SHA-256 ${fingerprint}`],
      ],
      next: facts && !isTrusted ? notTrusted : null,
    });
    return facts === null ? exitCodes.refused : exitCodes.done;
  },
});
