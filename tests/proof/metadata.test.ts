/** FIDO metadata BLOBs: who signed them, which number they have, and what is kept of them. */
import { generateKeyPairSync } from 'node:crypto';
import { rootCertificates } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { readCertificate } from '../../daemon/proofs/judge/certificate.ts';
import { MalformedError } from '../../daemon/proofs/judge/malformed.ts';
import { indexMetadata, RefusedMetadata, readBlob } from '../../daemon/proofs/judge/metadata.ts';
import { type BlobOptions, blobEntry, makeBlob, systemRoot } from '../support/test-blob.ts';
import { der, oid, sequence, utf8 } from '../support/test-der.ts';
import {
  basicConstraints,
  dns,
  extendedKeyUsage,
  keyUsage,
  makeRoot,
  NAME,
  nameConstraints,
  type TestCertificate,
  type TestExtension,
} from '../support/test-pki.ts';
import { AAGUID, OTHER_AAGUID } from './fixtures.ts';

const root = systemRoot();
const keyRoot = makeRoot('Key root');
const noWait = { over: false, pass: () => Promise.resolve() };

interface Reading {
  readonly trusted?: TestCertificate;
  readonly currentNumber?: number | null;
  readonly now?: string;
  readonly budget?: typeof noWait;
}

function read(
  blob: Uint8Array,
  { trusted = root, currentNumber = null, now = '2026-11-22', budget = noWait }: Reading = {},
) {
  return readBlob(blob, { roots: [makeRoot('Unrelated').der, trusted.der], currentNumber, now: new Date(now), budget });
}

const made = (options: Partial<BlobOptions> = {}) =>
  makeBlob({ root, entries: [blobEntry(AAGUID, keyRoot)], ...options });

describe('a BLOB that is accepted', () => {
  it.each(['RS256', 'ES256'] as const)('signed with %s', async algorithm => {
    expect(await read(made({ algorithm }))).toEqual({
      warnings: [],
      metadata: {
        number: 80,
        nextUpdate: '2026-12-01',
        entries: [
          {
            aaguid: AAGUID,
            keyIdentifiers: [],
            description: 'Test Key 3',
            anchors: [keyRoot.der],
            statusReports: [{ status: 'FIDO_CERTIFIED_L1', effectiveDate: '2024-01-01', certificate: null }],
          },
        ],
      },
    });
  });

  it('may have the number of the last one, or a higher one, and end with a line break', async () => {
    expect((await read(made(), { currentNumber: 80 })).metadata.number).toBe(80);
    expect((await read(Buffer.concat([made(), Buffer.from('\n')]), { currentNumber: 79 })).metadata.number).toBe(80);
  });

  it('warns from the day on which the next one was due', async () => {
    expect((await read(made(), { now: '2026-12-01' })).warnings).toEqual([
      expect.stringMatching(/out of date.*2026-12-01/),
    ]);
  });

  it('keeps U2F models and leaves out UAF models', async () => {
    const identifier = 'a'.repeat(40);
    const entries = [
      blobEntry('', keyRoot, { aaguid: undefined, attestationCertificateKeyIdentifiers: [identifier.toUpperCase()] }),
      { aaid: '1234#5678', statusReports: [] },
      blobEntry(OTHER_AAGUID, keyRoot),
    ];
    const { metadata } = await read(made({ entries }));
    const index = indexMetadata(metadata);
    expect(metadata.entries).toHaveLength(2);
    expect(index.byKeyIdentifier(identifier)?.aaguid).toBeNull();
    expect(index.byAaguid(OTHER_AAGUID)?.description).toBe('Test Key 3');
    expect(index.byAaguid(AAGUID)).toBeUndefined();
  });

  it('keeps the versions that a statement and its reports name', async () => {
    const reports = [{ status: 'REVOKED', effectiveDate: '2024-01-01', authenticatorVersion: 5 }];
    const entry = blobEntry(AAGUID, keyRoot, { statusReports: reports });
    const entries = [{ ...entry, metadataStatement: { ...entry.metadataStatement, authenticatorVersion: 7 } }];
    const { metadata } = await read(made({ entries }));
    expect(metadata.entries[0]).toMatchObject({
      authenticatorVersion: 7,
      statusReports: [{ authenticatorVersion: 5 }],
    });
  });

  it('may have any white space, escapes and brackets in texts', async () => {
    const entry = blobEntry(AAGUID, keyRoot);
    const description = 'A "key" \\ with ] } , : [ { and é';
    const entries = [{ ...entry, metadataStatement: { ...entry.metadataStatement, description } }];
    const payload = JSON.stringify(
      { 'a,b:"c': { x: [1, { y: ']' }] }, entries, no: 3, nextUpdate: '2027-01-01' },
      null,
      '\t',
    );
    const { metadata } = await read(made({ payload }));
    expect(metadata).toMatchObject({ number: 3, entries: [{ description }] });
  });

  it('lets other work run between the entries', async () => {
    let passes = 0;
    const busy = { over: true, pass: async () => void passes++ };
    await read(made({ entries: Array.from({ length: 500 }, () => blobEntry(AAGUID, keyRoot)) }), { budget: busy });
    expect(passes).toBeGreaterThanOrEqual(500);
  });
});

describe('a BLOB that is refused, with words of its own', () => {
  it.each([
    ['with a lower number', {}, { currentNumber: 81 }, 'number', /number 80, but number 81 was imported before/],
    [
      'of another signer',
      { signer: 'mds.example.org' },
      {},
      'signer',
      /not signed by mds\.fidoalliance\.org but by mds\.example\.org/,
    ],
    ['of a signer whose name only ends the same', { signer: 'x.mds.fidoalliance.org' }, {}, 'signer', /not signed by/],
    [
      'under another root',
      {},
      { trusted: systemRoot('Other Root') },
      'chain',
      /not trusted by this system: .*trusted root/,
    ],
    ['under a root of the same name', {}, { trusted: systemRoot() }, 'chain', /signature of the path/],
    ['after its signer expired', {}, { now: '2061-01-01' }, 'chain', /expired/],
  ] as const)('%s', async (_, options, reading, rule, words) => {
    const refusal = await read(made(options), reading).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(RefusedMetadata);
    expect(refusal).toMatchObject({ rule, message: expect.stringMatching(words) });
  });

  const directory = (name: string) => der(0xa4, sequence(der(0x31, sequence(oid(NAME.common), utf8(name)))));
  const ca = (...extensions: readonly TestExtension[]) => ({
    ca: { extensions: [basicConstraints(true), keyUsage(5), ...extensions] },
  });
  const ip = der(0x87, Uint8Array.of(10, 0, 0, 0, 255, 0, 0, 0));
  const FIDO = 'fidoalliance.org';

  it.each([
    ['whose CA permits other names', ca(nameConstraints(0xa0, dns('example.org'))), /name constraints/],
    [
      'whose CA permits only names below its own',
      ca(nameConstraints(0xa0, dns('.mds.fidoalliance.org'))),
      /name constraints/,
    ],
    ['whose CA excludes its name', ca(nameConstraints(0xa1, dns(FIDO))), /name constraints/],
    ['whose CA permits other subjects', ca(nameConstraints(0xa0, directory('Other'))), /name constraints/],
    [
      'whose name is of a kind that is constrained and not judged',
      {
        ...ca(nameConstraints(0xa0, ip)),
        altNames: [der(0x87, Uint8Array.of(10, 1, 1, 1))],
      },
      /name constraints/,
    ],
    ['of a certificate for e-mail', { extensions: [extendedKeyUsage('1.3.6.1.5.5.7.3.4')] }, /extended key usage/],
    ['whose CA is one for e-mail', ca(extendedKeyUsage('1.3.6.1.5.5.7.3.4')), /extended key usage/],
    ['of a certificate for key agreement', { extensions: [keyUsage(4)] }, /key usage does not allow it to sign/],
    ['with an RSA key of 1024 bits', { bits: 1024 }, /not one of P-256.*2048/],
  ] as const)('of a signer %s', async (_, options, words) => {
    const refusal = await read(made(options)).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ rule: 'chain', message: expect.stringMatching(words) });
  });

  it.each([
    ['whose CA permits its name', ca(nameConstraints(0xa0, dns('example.org'), dns(FIDO)))],
    ['whose CA excludes other names', ca(nameConstraints(0xa1, dns('example.org'), dns('alliance.org'), ip))],
    ['whose CA permits its subject', ca(nameConstraints(0xa0, directory(`mds.${FIDO}`)))],
    [
      'of a certificate for servers',
      { ...ca(extendedKeyUsage('2.5.29.37.0')), extensions: [keyUsage(0), extendedKeyUsage('1.3.6.1.5.5.7.3.1')] },
    ],
  ] as const)('but not of a signer %s', async (_, options) => {
    expect((await read(made(options))).metadata.number).toBe(80);
  });

  it.each([
    ['sha1', /algorithm that is not accepted/],
    ['sha256', null],
  ] as const)('of a signer whose certificates are signed by RSASSA-PSS with %s', async (pss, words) => {
    const rsaRoot = makeRoot('RSA Root', { keys: generateKeyPairSync('rsa', { modulusLength: 2048 }) });
    const reading = read(made({ root: rsaRoot, ca: { pss } }), { trusted: rsaRoot });
    if (words === null) expect((await reading).metadata.number).toBe(80);
    else await expect(reading).rejects.toMatchObject({ rule: 'chain', message: expect.stringMatching(words) });
  });

  it('with an ES256 signature in DER', async () => {
    await expect(read(made({ algorithm: 'ES256', derSignature: true }))).rejects.toMatchObject({ rule: 'signature' });
  });

  it('with a changed payload', async () => {
    const [header, , signature] = made().toString().split('.');
    const payload = Buffer.from('{"no":99,"nextUpdate":"2027-01-01","entries":[]}').toString('base64url');
    await expect(read(Buffer.from(`${header}.${payload}.${signature}`))).rejects.toMatchObject({ rule: 'signature' });
  });

  it('with an algorithm that does not go with the key', async () => {
    await expect(read(made({ algorithm: 'ES256', header: { alg: 'RS256' } }))).rejects.toMatchObject({
      rule: 'signature',
    });
  });

  it.each([
    ['without a signature', made({ header: { alg: 'none' } })],
    ['of HS256', made({ header: { alg: 'HS256' } })],
    ['with critical parameters', made({ header: { crit: ['b64'] } })],
    ['without certificates', made({ header: { x5c: [] } })],
    ['with nine certificates', made({ header: { x5c: Array(9).fill(root.der.toString('base64')) } })],
    ['with something else than a certificate', made({ header: { x5c: ['AAAA'] } })],
    ['of two parts', Buffer.from('a.b')],
    ['of four parts', Buffer.from('a.b.c.d')],
    ['that is not text', Buffer.alloc(100)],
    ['whose number is a text', made({ payload: '{"no":"80","nextUpdate":"2027-01-01","entries":[]}' })],
    ['whose number is negative', made({ number: -1 })],
    ['without entries', made({ payload: '{"no":80,"nextUpdate":"2027-01-01"}' })],
    ['whose nextUpdate is not a date', made({ nextUpdate: '2026-13-01' })],
    ['with two numbers', made({ payload: '{"no":80,"no":90,"nextUpdate":"2027-01-01","entries":[]}' })],
    ['whose payload ends early', made({ payload: '{"no":80,"nextUpdate":"2027-01-01","entries":[{' })],
    ['whose payload has text after its end', made({ payload: '{"no":80,"nextUpdate":"2027-01-01","entries":[]}{}' })],
    ['whose payload is an array', made({ payload: '[{"no":80}]' })],
    ['whose entries are not JSON', made({ payload: '{"no":80,"nextUpdate":"2027-01-01","entries":[{},]}' })],
    [
      'with an entry of more than 1 MiB',
      made({ payload: `{"no":80,"nextUpdate":"2027-01-01","entries":["${'x'.repeat(1_100_000)}"]}` }),
    ],
    [
      'with too many reports in one entry',
      made({ entries: [blobEntry(AAGUID, keyRoot, { statusReports: Array(257).fill({}) })] }),
    ],
  ])('%s', async (_, blob) => {
    await expect(read(blob)).rejects.toBeInstanceOf(MalformedError);
  });
});

it('the roots of this Node.js can be read, with those of GlobalSign that sign the metadata', () => {
  const names = rootCertificates.flatMap(pem => {
    const der = Buffer.from(pem.replace(/-----[A-Z ]+-----|\s/g, ''), 'base64');
    return readCertificate(der).subjectTexts.get('2.5.4.11') ?? readCertificate(der).subjectTexts.get('2.5.4.3') ?? [];
  });
  expect(names.join('\n')).toMatch(/GlobalSign Root CA - R3/);
  expect(
    rootCertificates.flatMap(
      pem =>
        readCertificate(Buffer.from(pem.replace(/-----[A-Z ]+-----|\s/g, ''), 'base64')).subjectTexts.get('2.5.4.3') ??
        [],
    ),
  ).toContain('GlobalSign Root R46');
});
