/**
 * Judges FIDO attestations (WebAuthn Level 3, 8.2 and 8.6): formats packed and fido-u2f, with certificates, and the serial number
 * of enterprise attestation (8.2.2).
 */

import { type CborMap, expectBytes, expectMap, readCbor } from '../../../drivers/protocols/cbor.ts';
import type { FidoEvidence } from '../../../src/contract/proof.ts';
import type { Finding } from '../../devices/claims.ts';
import { clientDataHash, relyingPartyHash } from '../../devices/client-data.ts';
import { type AuthenticatorData, pointOf, readAuthenticatorData, uuidOf, ZERO_AAGUID } from './authenticator-data.ts';
import { type Certificate, same } from './certificate.ts';
import { octetsOf, readDer } from './der.ts';
import { checkOwnSignature, checkSignature, ES256 } from './fido-signature.ts';
import { certificatesOf, trustedModel } from './fido-trust.ts';
import { fromBase64url, MalformedError } from './malformed.ts';
import { BrokenRule } from './rules.ts';
import type { Question } from './types.ts';
import { checkU2fCertificates, u2fFinding, u2fSigned } from './u2f.ts';

/** An attestation object in parts. */
interface Attestation {
  readonly format: string;
  readonly statement: CborMap;
  /** Signed data beside the client data hash. */
  readonly signedData: Uint8Array;
  readonly data: AuthenticatorData;
  readonly clientDataHash: Uint8Array;
}

/** Facts that the evidence proves. Throws BrokenRule or MalformedError. */
export function judgeFido(evidence: FidoEvidence, question: Question): Finding {
  const hash = clientDataHash(question.registryId, question.serialNumber, question.challenge);
  const attestation = { ...attestationIn(evidence), clientDataHash: hash };
  const { format, data } = attestation;
  if (!same(data.relyingPartyHash, relyingPartyHash())) throw new BrokenRule('fido-relying-party');
  if (!data.touched) throw new BrokenRule('fido-touch');
  if (format === 'packed') return judgePacked(attestation, question);
  if (format === 'fido-u2f') return judgeU2fFormat(attestation, question);
  throw new BrokenRule(
    format === 'none' ? 'fido-none' : 'fido-format',
    format === 'none' ? undefined : format.slice(0, 32),
  );
}

/** Keys of the parts: as WebAuthn names them, or as the response to makeCredential of CTAP2 numbers them. */
const keys = {
  named: { format: 'fmt', data: 'authData', statement: 'attStmt' },
  numbered: { format: 1, data: 2, statement: 3 },
} as const;

/** The attestation object in evidence. Throws MalformedError. */
export function attestationIn({ attestationObject }: FidoEvidence): Omit<Attestation, 'clientDataHash'> {
  const map = expectMap(readCbor(fromBase64url(attestationObject, 'attestation object')), 'attestation object');
  const at = map.has('fmt') ? keys.named : keys.numbered;
  const format = map.get(at.format);
  if (typeof format !== 'string') throw new MalformedError('attestation object', 'it does not name its format');
  const signedData = expectBytes(map.get(at.data), 'authenticator data');
  return {
    format,
    statement: expectMap(map.get(at.statement), 'attestation statement'),
    signedData,
    data: readAuthenticatorData(signedData),
  };
}

function judgePacked({ statement, signedData, data, clientDataHash: hash }: Attestation, question: Question): Finding {
  const { aaguid } = data;
  const certificates = x5cOf(statement);
  const algorithm = statement.get('alg');
  if (typeof algorithm !== 'number') throw new MalformedError('attestation statement', 'it does not name an algorithm');
  const signed = Buffer.concat([signedData, hash]);
  const signature = expectBytes(statement.get('sig'), 'signature');
  const point = pointOf(data.credentialKey);
  const leaf = certificates[0];
  if (leaf === undefined) {
    checkOwnSignature(point, algorithm, signed, signature);
    throw new BrokenRule('fido-self');
  }
  if (aaguid === ZERO_AAGUID) throw new BrokenRule('fido-zero-aaguid');
  checkPackedCertificate(leaf);
  checkAaguid(leaf, aaguid);
  checkSignature(leaf, algorithm, signed, signature);
  const model = trustedModel({ certificates, aaguid }, question);
  const { serial, warnings } = attestedSerial(leaf, question.serialNumber);
  return {
    grade: serial === null ? 'model' : 'unit',
    method: serial === null ? 'fido' : 'fido-enterprise',
    aaguid,
    firmware: null,
    serial,
    ...model,
    warnings: [...model.warnings, ...warnings],
  };
}

/** The certificates in an attestation statement, leaf first; none for self attestation. */
export function x5cOf(statement: CborMap): Certificate[] {
  const x5c = statement.get('x5c') ?? [];
  if (!Array.isArray(x5c)) throw new MalformedError('attestation statement', 'x5c is not an array');
  return certificatesOf(x5c);
}

/** Attributes of a subject. */
const ATTRIBUTE = { commonName: '2.5.4.3', country: '2.5.4.6', organization: '2.5.4.10', unit: '2.5.4.11' } as const;

/** The rules of WebAuthn, 8.2.1, for attestation certificates. */
function checkPackedCertificate({ version, subjectTexts, constrained, ca }: Certificate): void {
  const broken = (detail: string) => new BrokenRule('fido-certificate', detail);
  if (version !== 3) throw broken('its version is not 3');
  const only = (id: string) => (subjectTexts.get(id)?.length === 1 ? subjectTexts.get(id)![0]! : '');
  if (!/^[A-Z]{2}$/.test(only(ATTRIBUTE.country))) throw broken('its subject does not name a country');
  if (!only(ATTRIBUTE.organization)) throw broken('its subject does not name an organization');
  if (!(subjectTexts.get(ATTRIBUTE.unit) ?? []).includes('Authenticator Attestation'))
    throw broken('the unit of its subject is not Authenticator Attestation');
  if (!only(ATTRIBUTE.commonName)) throw broken('its subject does not have a common name');
  if (!constrained || ca) throw broken('its basic constraints do not say that it is not a CA');
}

/** id-fido-gen-ce-aaguid. */
const AAGUID_EXTENSION = '1.3.6.1.4.1.45724.1.1.4';

function checkAaguid(leaf: Certificate, aaguid: string): void {
  const extension = leaf.extensions.get(AAGUID_EXTENSION);
  if (!extension) throw new BrokenRule('fido-aaguid-missing');
  if (extension.critical) throw new BrokenRule('fido-certificate', 'its AAGUID is a critical extension');
  const bytes = octetsOf(readDer(extension.value));
  if (bytes.length !== 16) throw new BrokenRule('fido-certificate', 'its AAGUID does not have 16 bytes');
  if (uuidOf(bytes) !== aaguid) throw new BrokenRule('fido-aaguid', `${uuidOf(bytes)} instead of ${aaguid}`);
}

/** A U2F key behind CTAP2: the same signature as in a U2F registration, and an AAGUID of zero. */
function judgeU2fFormat({ statement, data, clientDataHash: hash }: Attestation, question: Question): Finding {
  const certificates = x5cOf(statement);
  if (data.aaguid !== ZERO_AAGUID) throw new BrokenRule('fido-certificate', 'the format fido-u2f has no AAGUID');
  checkU2fCertificates(certificates);
  const signed = u2fSigned({
    clientDataHash: hash,
    keyHandle: data.credentialId,
    publicKey: pointOf(data.credentialKey),
  });
  checkSignature(certificates[0]!, ES256, signed, expectBytes(statement.get('sig'), 'signature'));
  return u2fFinding(certificates, question);
}

/** id-fido-gen-ce-sernum: an OCTET STRING, unique for each unit of a model. */
const SERIAL_EXTENSION = '1.3.6.1.4.1.45724.1.1.2';

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
function attestedSerial(
  leaf: Certificate,
  serialNumber: string,
): { readonly serial: string | null; readonly warnings: readonly string[] } {
  const extension = leaf.extensions.get(SERIAL_EXTENSION);
  if (!extension) return { serial: null, warnings: [] };
  if (extension.critical) throw new BrokenRule('fido-certificate', 'its serial number is a critical extension');
  const octets = octetsOf(readDer(extension.value));
  const read = encodings.get(leaf.subjectTexts.get(ATTRIBUTE.organization)?.[0] ?? '');
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
