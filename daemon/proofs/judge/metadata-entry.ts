/** One entry of the FIDO metadata: what a proof needs of it. Icons and legal texts are left out. */
import { createHash } from 'node:crypto';
import { isObject } from '../../../src/contract/json-object.ts';
import { MalformedError } from './malformed.ts';
import type { MetadataEntry, StatusReport } from './types.ts';

/** Most roots, reports and identifiers of one entry. */
const MAX_ITEMS = 256;
/** Characters of a description that are kept. */
const MAX_TEXT = 256;

const aaguidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const identifierForm = /^[0-9a-f]{40}$/;

/** The entry; null if it is about a UAF authenticator or does not have the form of one. */
export function entryOf(value: unknown): MetadataEntry | null {
  const entry = objectOf(value);
  const aaguid = textOf(entry.aaguid).toLowerCase();
  const keyIdentifiers = textsOf(entry.attestationCertificateKeyIdentifiers)
    .map(text => text.toLowerCase())
    .filter(text => identifierForm.test(text));
  const named = aaguidForm.test(aaguid);
  if (!named && keyIdentifiers.length === 0) return null;
  const statement = objectOf(entry.metadataStatement);
  return {
    aaguid: named ? aaguid : null,
    keyIdentifiers,
    description: textOf(statement.description).slice(0, MAX_TEXT) || (named ? aaguid : 'U2F key'),
    anchors: textsOf(statement.attestationRootCertificates).map(text => Buffer.from(text, 'base64')),
    statusReports: itemsOf(entry.statusReports).map(reportOf),
    ...versionOf(statement),
  };
}

/** A report whose status cannot be read is kept: a status that is unknown warns. */
function reportOf(value: unknown): StatusReport {
  const report = objectOf(value);
  const { status, effectiveDate, certificate } = report;
  return {
    status: textOf(status).slice(0, MAX_TEXT) || 'a status without a name',
    effectiveDate: textOf(effectiveDate).slice(0, 10) || null,
    certificate: textOf(certificate)
      ? createHash('sha256')
          .update(Buffer.from(textOf(certificate), 'base64'))
          .digest('hex')
      : null,
    ...versionOf(report),
  };
}

const versionOf = ({ authenticatorVersion: version }: Readonly<Record<string, unknown>>) =>
  typeof version === 'number' ? { authenticatorVersion: version } : {};

const objectOf = (value: unknown): Readonly<Record<string, unknown>> => (isObject(value) ? value : {});

/** Items beyond the limit are not left out: a report that shows REVOKED could be among them. */
function itemsOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) return [];
  if (value.length > MAX_ITEMS)
    throw new MalformedError('metadata', `an entry with more than ${MAX_ITEMS} items in a list`);
  return value;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const textsOf = (value: unknown): string[] =>
  itemsOf(value)
    .map(textOf)
    .filter(text => text !== '');
