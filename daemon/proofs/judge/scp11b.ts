/** Judges SCP11b: a card proves that it holds the key of its certificate, which names its serial number. */

import { timingSafeEqual } from 'node:crypto';
import { formBits, yubikeyForms } from '../../../drivers/protocols/form-factors.ts';
import type { Scp11bEvidence } from '../../../src/contract/proof.ts';
import type { Finding } from '../../devices/claims.ts';
import { type Certificate, KEY_USAGE, publicKeyOf, readCertificate, same, EXTENSION as X509 } from './certificate.ts';
import { childrenOf, integerBytes, octetsOf, oidOf, readDer, TAG, unsignedOf } from './der.ts';
import { readable, rootName } from './finding.ts';
import { fromBase64url, MalformedError } from './malformed.ts';
import { findPath, isForged } from './path.ts';
import { BrokenRule } from './rules.ts';
import { expectedReceipt } from './scp11b-crypto.ts';
import type { Question } from './types.ts';

/**
 * Extensions of the leaf, as in a trace of a retail YubiKey 5.7.4 (PeculiarVentures/scp, docs/traces): three bytes of firmware, an
 * INTEGER, an INTEGER that is 1 if the card generated the key, one byte of form factor. Another encoding counts as missing.
 */
const EXTENSION = {
  firmware: '1.3.6.1.4.1.41482.7.1',
  serial: '1.3.6.1.4.1.41482.7.2',
  origin: '1.3.6.1.4.1.41482.7.3',
  formFactor: '1.3.6.1.4.1.41482.7.4',
} as const;

/** Facts that the evidence proves. Throws BrokenRule or MalformedError. */
export function judgeScp11b(evidence: Scp11bEvidence, question: Question): Finding {
  const { trust, provedAt, serialNumber } = question;
  const imported = trust.anchors.filter(({ purpose }) => purpose === 'scp11b');
  if (imported.length === 0) throw new BrokenRule('no-trust', 'SCP11b');
  const certificates = evidence.chain.map(text => readCertificate(fromBase64url(text, 'certificate')));
  const leaf = certificates.at(-1);
  if (!leaf) throw new MalformedError('SCP11b', 'the chain is empty');
  const material = {
    anchors: readable(imported.map(({ der }) => der)),
    intermediates: [...certificates.slice(0, -1), ...readable(trust.intermediates.map(({ der }) => der))],
    at: provedAt,
  };
  const found = findPath(leaf, material);
  if ('problem' in found) throw new BrokenRule('chain', found.problem, { isContradiction: isForged(found) });
  checkLeaf(leaf);
  checkIssuer(found.path[1]);
  checkReceipt(evidence, leaf, question);
  return finding(leaf, rootName(found.anchor, imported), serialNumber);
}

/** INTEGER 1. */
const GENERATED = Uint8Array.of(TAG.integer, 1, 1);

function checkLeaf(leaf: Certificate): void {
  if (!leaf.keyUsage?.has(KEY_USAGE.keyAgreement))
    throw new BrokenRule('scp11b-certificate', 'its key usage does not name key agreement');
  const { asymmetricKeyType, asymmetricKeyDetails } = publicKeyOf(leaf);
  if (asymmetricKeyType !== 'ec' || asymmetricKeyDetails?.namedCurve !== 'prime256v1')
    throw new BrokenRule('scp11b-certificate', 'its key is not a P-256 key');
  const origin = leaf.extensions.get(EXTENSION.origin)?.value;
  if (origin && !same(origin, GENERATED))
    throw new BrokenRule('scp11b-certificate', 'its key was not made on the card');
}

/** Certificate policies of GlobalPlatform (Amendment F) begin with this. */
const CARD_POLICY = '1.2.840.114283.100.0.10.2.1.';

/** Only the CA of a card's security domain vouches for its keys: CAs of FIDO, OpenPGP and PIV are under the same root. */
function checkIssuer(issuer: Certificate | undefined): void {
  const policies = issuer?.extensions.get(X509.policies)?.value;
  const isCardCa =
    issuer?.extensions.has(EXTENSION.firmware) ||
    (policies && policiesOf(policies).some(policy => policy.startsWith(CARD_POLICY)));
  if (!isCardCa) throw new BrokenRule('scp11b-certificate', 'it was not issued by the CA of a card');
}

const policiesOf = (value: Uint8Array): string[] =>
  childrenOf(readDer(value, TAG.sequence)).map(policy => oidOf(childrenOf(policy)[0]));

/** Bytes of an uncompressed point of P-256. */
const POINT = 65;
/** Bytes of a receipt. */
const RECEIPT = 16;

function checkReceipt(evidence: Scp11bEvidence, leaf: Certificate, { ephemeralPrivateKey }: Question): void {
  const receipt = fromBase64url(evidence.receipt, 'receipt');
  const cardKey = fromBase64url(evidence.cardPublicKey, 'ephemeral key');
  if (receipt.length !== RECEIPT) throw new MalformedError('receipt', `it does not have ${RECEIPT} bytes`);
  if (cardKey.length !== POINT || cardKey[0] !== 4) throw new BrokenRule('scp11b-point');
  const expected = onCurve(() => expectedReceipt(ephemeralPrivateKey, cardKey, leaf.publicKeyBits));
  if (!timingSafeEqual(receipt, expected)) throw new BrokenRule('scp11b-receipt');
}

function onCurve(compute: () => Uint8Array): Uint8Array {
  try {
    return compute();
  } catch (cause) {
    throw new BrokenRule('scp11b-point', undefined, { cause });
  }
}

function finding(leaf: Certificate, root: string, serialNumber: string): Finding {
  const firmware = firmwareOf(leaf);
  const serial = serialOf(leaf);
  if (serial !== null && serial !== serialNumber)
    throw new BrokenRule('serial', `${serial} instead of ${serialNumber}`);
  const formFactor = bytesOf(leaf, EXTENSION.formFactor, 1)?.[0] ?? null;
  return {
    grade: serial === null ? 'model' : 'unit',
    method: 'scp11b',
    model: yubikeyName(firmware, formFactor),
    aaguid: null,
    firmware,
    serial,
    root,
    metadataNumber: null,
    warnings:
      serial === null ? ['The certificate does not name a serial number: the serial number is not proved.'] : [],
  };
}

function firmwareOf(leaf: Certificate): string | null {
  const bytes = bytesOf(leaf, EXTENSION.firmware, 3);
  return bytes ? bytes.join('.') : null;
}

/** The bytes of an extension, bare or in an OCTET STRING; null if it is missing or has another length. */
function bytesOf(leaf: Certificate, id: string, length: number): Uint8Array | null {
  const value = leaf.extensions.get(id)?.value;
  if (!value) return null;
  if (value.length === length) return value;
  return value.length === length + 2 && value[0] === TAG.octetString ? octetsOf(readDer(value)) : null;
}

function serialOf(leaf: Certificate): string | null {
  const value = leaf.extensions.get(EXTENSION.serial)?.value;
  if (value?.[0] !== TAG.integer) return null;
  const integer = readDer(value);
  integerBytes(integer);
  return String(unsignedOf(integer));
}

const BIO: ReadonlySet<number> = new Set([6, 7]);

/** For example `YubiKey 5 FIPS (USB-C nano)`. Null: the certificate does not say it. */
function yubikeyName(firmware: string | null, formFactor: number | null): string {
  const form = formFactor === null ? 0 : formFactor & formBits.form;
  const flags = formFactor ?? 0;
  const series =
    flags & formBits.securityKey
      ? 'Security Key by Yubico'
      : BIO.has(form)
        ? 'YubiKey Bio'
        : `YubiKey${firmware ? ` ${firmware.split('.')[0]}` : ''}`;
  const shape = yubikeyForms.get(form)?.name;
  return `${series}${flags & formBits.fips ? ' FIPS' : ''}${shape ? ` (${shape})` : ''}`;
}
