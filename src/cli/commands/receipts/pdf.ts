/** A receipt as a page to print. Loads pdfkit, which nothing else does. */
import PDFDocument from 'pdfkit';
import { parseInstant } from '../../../contract/instant.ts';
import { proofGrades } from '../../../contract/key-values.ts';
import { fingerprintOf, readPublicKey } from '../../../contract/receipts/check.ts';
import type { Receipt } from '../../../contract/receipts.ts';
import { usage } from '../../fault.ts';
import { checkedFacts, personIn } from './files.ts';

const titles = {
  handover: 'Handover of a security key',
  loan: 'Loan of a security key',
  return: 'Return of a security key',
};
/** Points. */
const MARGIN = 56;
const LABEL_WIDTH = 110;

/** The PDF. Throws a usage fault if the receipt is invalid, because the page states that it is valid, or if the font fails. */
export async function receiptPdf(receipt: Receipt, font: Buffer): Promise<Buffer> {
  const key = readPublicKey(receipt.publicKey);
  const facts = checkedFacts(receipt, key);
  if (typeof facts === 'string' || key === null) throw usage(`the receipt is not valid: ${facts}`);
  // Without a font of its own it would read files of a font that no build has.
  const info = { Title: facts.receiptId, CreationDate: parseInstant(facts.date) ?? new Date(0) };
  const document = new PDFDocument({ size: 'A4', margin: MARGIN, info, font: null as never });
  const parts: Buffer[] = [];
  document.on('data', part => parts.push(part));
  const ended = new Promise<void>(resolve => document.on('end', () => resolve()));
  useFont(document, font, receipt.text);
  document.fontSize(18).text(titles[facts.kind]).moveDown();
  const row = (label: string, value: string | null) => {
    if (value === null) return;
    const top = document.y;
    document.fontSize(10).fillColor('#555').text(label, MARGIN, top, { width: LABEL_WIDTH });
    document
      .fillColor('black')
      .text(value, MARGIN + LABEL_WIDTH, top)
      .moveDown(0.5);
  };
  row('Receipt', facts.receiptId);
  row('Person', personIn(facts));
  row('Serial number', facts.serialNumber);
  row('Device', facts.deviceId);
  row('Lot', facts.lot);
  row('Date', facts.date);
  row('To be returned', facts.dueAt);
  row('Terms', facts.terms);
  document.moveDown().fontSize(8).fillColor('#555');
  // The key has not signed the grade: a file could have any text there.
  const grade = proofGrades.find(one => one === receipt.proof?.grade) ?? 'not known';
  const technical = [
    'The security key has signed these statements after a touch. Verify: devmgr receipts verify',
    `Registry ${facts.registryId}; proof of the key, as the registry states it: ${grade}`,
    `Public key (SHA-256) ${fingerprintOf(key)}`,
    `Authenticator data ${receipt.authenticatorData}`,
    `Signature ${receipt.signature}`,
  ];
  document.text(technical.join('\n'), MARGIN, document.y).end();
  await ended;
  return Buffer.concat(parts);
}

/** A box instead of a name would be a receipt without a person. */
function useFont(document: PDFKit.PDFDocument, font: Buffer, text: string): void {
  try {
    document.font(font as never);
  } catch {
    throw usage('the font cannot be read', 'name a font file: TrueType or OpenType');
  }
  const { font: used } = (document as unknown as UsedGlyphs)._font;
  const missing = [...new Set(text)].filter(
    one => one.trim() !== '' && !used.hasGlyphForCodePoint(one.codePointAt(0)!),
  );
  if (missing.length > 0)
    throw usage(`the font lacks ${missing.slice(0, 10).join(' ')}`, 'name a font that has them: --font FILE');
}

/** Part of the used font in pdfkit. */
interface UsedGlyphs {
  readonly _font: { readonly font: { hasGlyphForCodePoint(codePoint: number): boolean } };
}
