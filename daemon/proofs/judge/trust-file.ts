/** Files with trust: a FIDO metadata BLOB, or certificates in PEM or DER. */
import { type Certificate, readCertificate } from './certificate.ts';
import { MalformedError } from './malformed.ts';

/** Most certificates in one file, and most bytes of a file with certificates. */
const MAX_CERTIFICATES = 64;
const MAX_BYTES = 1024 * 1024;

const DER_SEQUENCE = 0x30;

/** Probable kind of a file by its beginning. The reader finds out the real one. */
export function trustFileKind(bytes: Uint8Array): 'certificates' | 'metadata' {
  if (bytes[0] === DER_SEQUENCE) return 'certificates';
  return Buffer.from(bytes.subarray(0, MAX_BYTES)).includes('-----BEGIN ') ? 'certificates' : 'metadata';
}

/** The certificates in a file: one in DER, or a bundle in PEM. Throws MalformedError, also if there is none. */
export function certificatesIn(bytes: Uint8Array): Certificate[] {
  if (bytes.length > MAX_BYTES) throw malformed(`more than ${MAX_BYTES} bytes`);
  return bytes[0] === DER_SEQUENCE ? [readCertificate(bytes)] : pemCertificates(Buffer.from(bytes).toString('latin1'));
}

const BEGIN = '-----BEGIN CERTIFICATE-----';
const END = '-----END CERTIFICATE-----';
/** Base64 with line breaks. */
const body = /^[A-Za-z0-9+/=\s]+$/;

const malformed = (problem: string) => new MalformedError('certificates', problem);

function pemCertificates(text: string): Certificate[] {
  const blocks = text.split(BEGIN).slice(1);
  if (blocks.length === 0) throw malformed('the file has none in PEM or DER');
  if (blocks.length > MAX_CERTIFICATES) throw malformed(`the file has more than ${MAX_CERTIFICATES}`);
  return blocks.map(block => {
    const end = block.indexOf(END);
    const base64 = block.slice(0, end);
    if (end < 0 || !body.test(base64)) throw malformed('a block of PEM does not end or is not base64');
    return readCertificate(Buffer.from(base64, 'base64'));
  });
}
