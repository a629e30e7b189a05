/** The serial number in a certificate of enterprise attestation (WebAuthn Level 3, 8.2.2). */
import type { Certificate } from './certificate.ts';
import { octetsOf, readDer } from './der.ts';
import { BrokenRule } from './rules.ts';

/** id-fido-gen-ce-sernum: an OCTET STRING, unique for each unit of a model. */
const SERIAL_EXTENSION = '1.3.6.1.4.1.45724.1.1.2';
const ORGANIZATION = '2.5.4.10';

/**
 * How makers write the serial number that is printed on the key into the extension. WebAuthn leaves that to them, and the value may
 * differ from the printed one. Yubico: the number in big-endian (Yubico's demonstration of enterprise attestation compares it with the
 * number in the subject). Not confirmed for any other maker: their certificates do not prove a serial number here.
 */
const encodings: ReadonlyMap<string, (octets: Uint8Array) => string> = new Map([
  ['Yubico AB', octets => String(BigInt(`0x${Buffer.from(octets).toString('hex')}`))],
]);

/** Most bytes of a serial number that are read as a number. */
const MAX_OCTETS = 8;

/** The serial number that the certificate proves; null if it names none. Throws BrokenRule if it names another one. */
export function attestedSerial(
  leaf: Certificate,
  serialNumber: string,
): { readonly serial: string | null; readonly warnings: readonly string[] } {
  const extension = leaf.extensions.get(SERIAL_EXTENSION);
  if (!extension) return { serial: null, warnings: [] };
  if (extension.critical) throw new BrokenRule('fido-certificate', 'its serial number is a critical extension');
  const octets = octetsOf(readDer(extension.value));
  const read = encodings.get(leaf.subjectTexts.get(ORGANIZATION)?.[0] ?? '');
  if (!read || octets.length === 0 || octets.length > MAX_OCTETS)
    return {
      serial: null,
      warnings: [
        'The certificate names a unit, but how its maker writes serial numbers is not known: only the model is proved.',
      ],
    };
  const serial = read(octets);
  if (serial !== serialNumber) throw new BrokenRule('serial', `${serial} instead of ${serialNumber}`);
  return { serial, warnings: [] };
}
