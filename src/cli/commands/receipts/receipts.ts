import { basename } from 'node:path';
import { namesIn } from '../../../contract/names.ts';
import { fingerprintOf, readPublicKey, receiptHash } from '../../../contract/receipts/check.ts';
import type { ListedReceipt, Receipt } from '../../../contract/receipts.ts';
import { exitCodes } from '../../exit-codes.ts';
import { usage } from '../../fault.ts';
import { notify } from '../../framework/context.ts';
import { command, definedFields } from '../../framework/define.ts';
import { resolveDevice } from '../../framework/devices/device.ts';
import { fileFlag, pageFlags } from '../../framework/flags.ts';
import { listFlags } from '../../framework/format.ts';
import { present } from '../../framework/present.ts';
import { presentPage } from '../../framework/present-list.ts';
import { bytesIn, writeNew } from '../../settings/files.ts';
import { readFont } from '../../settings/packaged.ts';
import type { Column } from '../../terminal/column.ts';
import { safe, safeJson, safeProse } from '../../terminal/text.ts';
import { localTime } from '../../terminal/when.ts';
import { checkedFacts, factRows, receiptNamed, textOf } from './files.ts';

const fields = namesIn(
  'receiptId kind deviceId serialNumber lot person name date dueAt signedAt closedBy',
) satisfies readonly (keyof ListedReceipt)[];

const columns: Column<ListedReceipt>[] = [
  { title: 'RECEIPT', value: row => row.receiptId },
  { title: 'KIND', value: row => row.kind, drop: 2 },
  { title: 'DEVICE', value: row => row.deviceId, drop: 1 },
  { title: 'PERSON', value: row => row.person, shorten: 'end' },
  { title: 'DATE', value: row => localTime(row.date), drop: 3 },
  { title: 'DUE', value: row => row.dueAt && localTime(row.dueAt) },
  { title: 'CLOSED BY', value: row => row.closedBy, drop: 4 },
  { title: 'SERIAL', value: row => row.serialNumber, shorten: 'middle', drop: 5 },
];

/** Lists receipts: `GET /api/receipts/list`. */
export const list = command({
  flags: {
    overdue: { help: 'only loans that were not returned in time' },
    device: { value: 'DEVICE', offer: 'device', help: 'only receipts of this device' },
    ...pageFlags('receipts'),
    ...listFlags(fields),
  },
  examples: {
    'who has not returned a key': 'receipts list --overdue',
    'the receipts of a device': 'receipts list --device DEV-1',
  },
  async run({ flags }, context) {
    const { page, limit: size, device } = flags;
    const deviceId = device === undefined ? undefined : await resolveDevice(context, device, false);
    const query = definedFields({ deviceId, overdue: flags.overdue ? true : undefined, page, size });
    const data = await context.registry.call('listReceipts', { query });
    return presentPage(
      context,
      data,
      { fields, columns, id: 'receiptId' },
      { what: 'receipts', none: 'No receipt matches.' },
    );
  },
});

const notTrusted = 'compare the public key with one that you trust: the receipt itself contains it';

/** Verifies a receipt. With a file, nothing but the file and the public key is needed. */
export const verify = command({
  description:
    'Checks that the key has signed exactly this text, and that the receipt states nothing else. With a file it needs no registry and no login.\nA receipt contains its own public key, so anyone with any key could make one. Name the public key that you trust with --public-key, or compare the fingerprint shown with another receipt of the same key or with the registry.\nExit code 0: valid; 6: not valid.',
  args: [{ name: 'RECEIPT', help: 'file with a receipt in JSON, or its id', offer: 'file' }],
  flags: {
    'public-key': fileFlag('the public key to trust, in PEM'),
  },
  examples: {
    'offline, with the public key of the key': 'receipts verify receipt.json --public-key key.pem',
    'one that the registry has': 'receipts verify RCT-7KQM2XWDH9TBC4REPA3S',
  },
  async run({ args, flags }, context) {
    const receipt = await receiptNamed(context, args[0]!);
    const trusted = flags.publicKey === undefined ? null : readPublicKey(textOf(flags.publicKey));
    if (flags.publicKey !== undefined && trusted === null) throw usage(`${flags.publicKey} is not a public key in PEM`);
    const key = trusted ?? readPublicKey(receipt.publicKey);
    const checked = checkedFacts(receipt, key);
    const [facts, problem] = typeof checked === 'string' ? [null, checked] : [checked, null];
    const fingerprint = key && fingerprintOf(key);
    const isTrusted = trusted !== null && problem === null;
    await present(context, {
      data: { valid: facts !== null, problem, publicKeyTrusted: isTrusted, fingerprint, facts },
      id: facts === null ? 'not valid' : 'valid',
      title: facts === null ? `Not valid: ${safe(problem!)}` : 'Valid',
      rows: [
        ['receipt', facts && `${safe(facts.receiptId)}, ${facts.kind}`],
        ...(facts ? factRows(facts) : []),
        ['terms', facts && safeProse(facts.terms)],
        ['registry', facts && safe(facts.registryId)],
        ['public key', fingerprint && `SHA-256 ${fingerprint}`],
      ],
      next: facts && !isTrusted ? notTrusted : null,
    });
    return facts === null ? exitCodes.refused : exitCodes.done;
  },
});

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
  examples: {
    'as PDF': 'receipts print RCT-7KQM2XWDH9TBC4REPA3S',
    'to verify it elsewhere': 'receipts print RCT-7KQM2XWDH9TBC4REPA3S --format json --out receipt.json',
  },
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
