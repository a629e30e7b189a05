import { basename } from 'node:path';
import { receiptHash } from '../../../../contract/receipts/check.ts';
import type { Receipt } from '../../../../contract/receipts.ts';
import { usage } from '../../../fault.ts';
import { notify } from '../../../framework/context.ts';
import { command } from '../../../framework/define.ts';
import { fileFlag } from '../../../framework/flags.ts';
import { bytesIn, writeNew } from '../../../settings/files.ts';
import { readFont } from '../../../settings/packaged.ts';
import { safe, safeJson } from '../../../terminal/text.ts';
import { receiptNamed } from './files.ts';

const formats = ['pdf', 'json', 'pem', 'fido2'] as const;

/** Writes a receipt for paper or for another program. */
export const print = command({
  description:
    'pdf: a page to print. json: everything needed to verify the receipt offline. pem: the public key. fido2: the input of fido2-assert -V, which also needs the public key.\nThe built-in font has Latin, Greek, Cyrillic, Arabic, Hebrew and other scripts. For names in scripts that it lacks, give a font file with --font.',
  args: [{ name: 'RECEIPT', help: 'id of the receipt, or a file with its JSON', offer: 'file' }],
  flags: {
    format: { value: 'FORMAT', choices: formats, help: 'what to write (default: pdf)' },
    font: fileFlag('font for the PDF: TrueType or OpenType'),
    out: fileFlag('file to write (default: RECEIPT.pdf; other formats: standard output)'),
    force: { help: 'overwrite an existing file' },
  },
  examples: [
    { does: 'as PDF', line: 'receipt print RCT-7KQM2XWDH9TBC4REPA3S' },
    { does: 'to verify it elsewhere', line: 'receipt print RCT-7KQM2XWDH9TBC4REPA3S --format json --out receipt.json' },
  ],
  async run({ args, flags }, context) {
    const { format = 'pdf', font, force } = flags;
    const receipt = await receiptNamed(context, args[0]!);
    const file = flags.out ?? (format === 'pdf' ? `${basename(receipt.receiptId)}.pdf` : undefined);
    if (format !== 'pdf' && font !== undefined) throw usage('--font is for the PDF');
    const content = format === 'pdf' ? await pdfOf(receipt, font) : texts[format](receipt);
    if (file === undefined) return context.out.text(content as string);
    writeNew(file, content, force);
    notify(context, `Wrote ${safe(file)}.`);
  },
});

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
const decoded = (text: string): Buffer => Buffer.from(text, 'base64url');

const texts = {
  json: receipt => `${safeJson(receipt)}\n`,
  pem: ({ publicKey }) => publicKey,
  fido2({ text, relyingParty, authenticatorData, signature }) {
    const data = decoded(authenticatorData);
    // It reads the authenticator data as CBOR: a byte string.
    const asCbor = Buffer.concat([Uint8Array.of(0x58, data.length), data]);
    return `${[base64(receiptHash(text)), relyingParty, base64(asCbor), base64(decoded(signature))].join('\n')}\n`;
  },
} satisfies Record<Exclude<(typeof formats)[number], 'pdf'>, (receipt: Receipt) => string>;

async function pdfOf(receipt: Receipt, font: string | undefined): Promise<Buffer> {
  const { receiptPdf } = await import('./pdf.ts');
  return receiptPdf(receipt, font === undefined ? readFont() : bytesIn(font, 'the font'));
}
