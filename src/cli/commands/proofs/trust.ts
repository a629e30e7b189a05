import { trustPurposes } from '../../../contract/key-values.ts';
import { proofBounds } from '../../../contract/limits.ts';
import { namesIn } from '../../../contract/names.ts';
import type { TrustedCertificateItem, TrustList } from '../../../contract/trust.ts';
import { count, counted } from '../../count.ts';
import { Fault, usage } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { command } from '../../framework/define.ts';
import { fileAt, fileOnStdin, formRequest } from '../../framework/files/upload.ts';
import { listFlags } from '../../framework/format.ts';
import { type CardRow, indent, present } from '../../framework/present.ts';
import { presentRows } from '../../framework/present-list.ts';
import { card } from '../../terminal/card.ts';
import type { Column } from '../../terminal/column.ts';
import { safe, textsIn } from '../../terminal/text.ts';
import { bytes, localTime } from '../../terminal/when.ts';

type TrustMetadata = NonNullable<TrustList['metadata']>;

/** Imports FIDO metadata or certificates: `POST /api/trust`. */
export const trustImport = command({
  description:
    'The file is the BLOB of the FIDO Metadata Service, or certificates in PEM or DER; - is standard input. devmgr downloads nothing and contains no certificates of vendors: compare the fingerprints with those that the vendor publishes.\nA FIDO root vouches for the models that --aaguid names or, without --aaguid, for U2F keys only.\nTo check stored evidence against it, run devmgr keys verify --all.',
  args: [{ name: 'FILE', help: 'the BLOB or the certificates', offer: 'file' }],
  flags: {
    purpose: {
      value: 'PURPOSE',
      choices: trustPurposes,
      help: 'what the certificates vouch for (default: fido with --aaguid, else scp11b)',
    },
    aaguid: { value: 'AAGUID', many: true, field: 'aaguids', help: 'FIDO model that the certificates vouch for' },
    name: { value: 'NAME', aliases: ['label'], field: 'label', help: 'name of the certificates, such as the vendor' },
  },
  examples: {
    'the FIDO metadata': 'trust add blob.jwt',
    'a root and intermediates for SCP11b': 'trust add yubico.pem --name Yubico',
    'the FIDO root of a vendor for one model': 'trust add root.pem --aaguid 2fc0579f-8113-47ea-b116-bb5a8db9202a',
  },
  async run({ args, flags }, context) {
    const { purpose, aaguid, name: label } = flags;
    const aaguids = aaguid.map(text => text.toLowerCase()).filter(Boolean);
    if (purpose === 'scp11b' && aaguids.length > 0)
      throw usage('--aaguid names FIDO models, and the purpose is scp11b', 'omit one of them');
    const chosen = purpose ?? (aaguids.length > 0 ? 'fido' : undefined);
    const fields = { purpose: chosen, label, aaguids: aaguids.join(',') || undefined };
    const data = await sent(context, args[0]!, fields);
    const { metadata, certificates } = data;
    const what = metadata === null ? counted(certificates.length, 'certificate') : metadataTitle(metadata);
    await present(context, {
      data,
      id: metadata === null ? certificates.map(({ fingerprint }) => fingerprint).join('\n') : 'metadata',
      title: `${what} imported`,
      rows: metadata === null ? [] : metadataRows(metadata),
    });
    if (context.globals.json || context.globals.quiet) return;
    for (const certificate of certificates) await context.out.text(described(context, certificate));
    for (const warning of textsIn(data.warnings)) context.out.warn(safe(warning));
    context.out.notice(`${context.out.tint('cyan', 'Next:')} devmgr keys verify --all`);
  },
});

async function sent(context: Context, path: string, fields: Readonly<Record<string, string | undefined>>) {
  const { registry, out } = context;
  const file =
    path === '-'
      ? await fileOnStdin(context, 'trust', proofBounds.trustFile)
      : fileAt(context, path, proofBounds.trustFile);
  const onProgress = (done: number) => out.progress.show('Uploading', done, file.size, bytes);
  try {
    const { request } = formRequest({ fields, file, onProgress });
    return (await registry.send({ operation: 'importTrust', ...request })).data;
  } finally {
    out.progress.clear();
  }
}

const metadataTitle = ({ number }: TrustMetadata): string => `FIDO metadata ${safe(String(number))}`;

const metadataRows = ({ nextUpdate, entries }: TrustMetadata): CardRow[] => [
  ['models', count(entries)],
  ['next one due', safe(String(nextUpdate))],
];

/** A certificate with what a person compares: its whole fingerprint. */
function described({ out }: Context, certificate: TrustedCertificateItem): string {
  const { fingerprint, kind, subject, notAfter } = certificate;
  const rows: [string, string][] = [
    ['SHA-256', safe(fingerprint)],
    ['subject', safe(subject)],
    ['expires', localTime(notAfter)],
    ['vouches for', vouchesFor(certificate)],
  ];
  return `${out.paint('bold', safe(kind))}\n${indent(card(rows, out.io.columns - 2))}`;
}

/** An intermediate only completes chains. */
function vouchesFor({ kind, purpose, aaguids }: TrustedCertificateItem): string {
  if (kind === 'intermediate') return `nothing on its own; it completes chains of ${safe(purpose)}`;
  if (purpose === 'scp11b') return 'secure channels (SCP11b)';
  const models = textsIn(aaguids).map(safe).join(', ');
  return models === '' ? 'U2F keys' : `FIDO ${models}`;
}

const certificateFields = namesIn(
  'fingerprint label purpose kind subject notAfter aaguids importedBy importedAt',
) satisfies readonly (keyof TrustedCertificateItem)[];

const columns: Column<TrustedCertificateItem>[] = [
  { title: 'SHA-256', value: ({ fingerprint }) => fingerprint, shorten: 'end', least: 16 },
  { title: 'LABEL', value: ({ label }) => label || null, shorten: 'end' },
  { title: 'KIND', value: ({ kind }) => kind },
  { title: 'FOR', value: vouchesShort, shorten: 'end' },
  { title: 'SUBJECT', value: ({ subject }) => subject, shorten: 'end', drop: 2 },
  { title: 'EXPIRES', value: ({ notAfter }) => localTime(notAfter), drop: 1 },
  { title: 'IMPORTED BY', value: ({ importedBy }) => importedBy, shorten: 'end', drop: 3 },
];

function vouchesShort({ kind, purpose, aaguids }: TrustedCertificateItem): string {
  if (kind === 'intermediate' || purpose === 'scp11b') return purpose;
  const models = textsIn(aaguids);
  return models.length === 0 ? 'u2f' : models.length === 1 ? `fido ${models[0]}` : `fido, ${models.length} models`;
}

/** Lists what keys are judged by: `GET /api/trust/list`. */
export const trustList = command({
  flags: listFlags(certificateFields),
  examples: {
    'certificates and FIDO metadata': 'trust list',
    'only the fingerprints': 'trust list --quiet',
  },
  async run(_, context) {
    const { out } = context;
    const data = await context.registry.call('listTrust');
    if (out.json && out.format !== 'ndjson' && out.fields.length === 0) return out.document(data);
    const { metadata, certificates } = data;
    if (out.format !== 'csv' && !out.json && !out.quiet) {
      if (metadata === null && certificates.length === 0)
        return out.notice('Nothing is trusted: no key can be proved. Import trust: devmgr trust add FILE');
      if (metadata !== null)
        await out.text(
          `${metadataTitle(metadata)}, ${counted(metadata.entries, 'model')}, next one due ${safe(String(metadata.nextUpdate))}\n`,
        );
      if (certificates.length === 0) return;
    }
    await presentRows(context, certificates, { fields: certificateFields, columns, id: 'fingerprint' });
  },
});

/** Stops trusting a certificate: `POST /api/trust/{fingerprint}/remove`. */
export const trustRemove = command({
  description: 'Proofs do not change until stored evidence is checked again: devmgr keys verify --all',
  args: [
    {
      name: 'FINGERPRINT',
      help: 'SHA-256 of the certificate or its first 8 digits or more; metadata for the FIDO metadata',
      offer: 'trusted',
    },
  ],
  examples: {
    'a certificate, by the beginning of its fingerprint': 'trust remove 62760c6a',
    'the FIDO metadata': 'trust remove metadata',
  },
  async run({ args }, context) {
    const fingerprint = await fingerprintOf(context, args[0]!);
    const data = await context.registry.call('removeTrust', { params: { fingerprint } });
    await present(context, {
      data,
      id: data.fingerprint,
      title: `${safe(data.fingerprint)} is no longer trusted`,
      rows: [],
      next: 'devmgr keys verify --all',
    });
  },
});

const whole = /^[0-9a-f]{64}$/;
const beginning = /^[0-9a-f]{8,63}$/;

/** The fingerprint that is named, as the registry writes it. Throws a fault unless exactly one begins like that. */
async function fingerprintOf({ registry }: Context, name: string): Promise<string> {
  const text = name.trim().toLowerCase().replaceAll(':', '');
  if (text === 'metadata' || whole.test(text)) return text;
  if (!beginning.test(text))
    throw usage(`"${name}" is not the beginning of a fingerprint`, 'give 8 to 64 hex digits; see: devmgr trust list');
  const { certificates } = await registry.call('listTrust');
  const found = certificates.filter(({ fingerprint }) => fingerprint.startsWith(text));
  if (found.length > 1) throw usage(`${found.length} fingerprints begin with ${text}`, 'give more digits');
  if (found[0]) return found[0].fingerprint;
  throw new Fault(
    'absent',
    `no trusted certificate has a fingerprint that begins with ${text}`,
    'see: devmgr trust list',
  );
}
