/** Trust of the registry: FIDO metadata and certificates, imported over the interface. */
import { X509Certificate } from 'node:crypto';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ANSWERING_AAGUID as AAGUID, fidoAnswer } from '../support/challenged.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { data, form, freshSerial } from '../support/fleet.ts';
import { needsPostgres, PostgresServer } from '../support/postgres.ts';
import { itAnswersLikeExamples } from '../support/recorded-examples.ts';
import { authenticatorRoot } from '../support/test-authenticator.ts';
import { type BlobOptions, blobEntry, makeBlob, systemRoot } from '../support/test-blob.ts';
import { makeRoot } from '../support/test-pki.ts';
import { startTwoDaemons, type TwoDaemons } from '../support/two-daemons.ts';

const system = systemRoot();
const keyRoot = authenticatorRoot();
// Before a daemon of this process reads the roots of its machine.
setDefaultCACertificates([...getCACertificates('default'), new X509Certificate(system.der).toString()]);

const blob = (options: Partial<BlobOptions> = {}) =>
  makeBlob({ root: system, entries: [blobEntry(AAGUID, keyRoot)], nextUpdate: '2100-01-01', ...options });
const upload = (daemon: TestDaemon, content: Uint8Array, fields: Readonly<Record<string, string>> = {}) =>
  daemon.call('POST', '/api/trust', undefined, {
    raw: form(fields, { name: 'trust', content: new Uint8Array(content) }),
  });

/** Lets a test authenticator answer a challenge of `one`; the answer goes to `other`. */
async function prove(one: TestDaemon, other: TestDaemon = one) {
  const serialNumber = freshSerial();
  const asked = data(await one.call('POST', '/api/proofs/challenge', {}));
  const evidence = fidoAnswer(keyRoot, serialNumber, asked);
  const path = `/api/proofs/${asked.proofId}`;
  const body = { serialNumber, claims: {}, evidence };
  return { path, body, proof: data(await other.call('POST', path, body)).proof };
}

describe('trust', () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startTestDaemon();
  });
  afterAll(() => daemon?.stop());
  const list = async () => data(await daemon.call('GET', '/api/trust/list'));

  it('is empty at first', async () => {
    expect(await list()).toEqual({ metadata: null, certificates: [] });
    expect((await prove(daemon)).proof).toMatchObject({ grade: 'claimed', metadataNumber: null });
  });

  it('in metadata is used from the import on, and a lower number is refused', async () => {
    const { metadata, warnings } = data(await upload(daemon, blob({ number: 81 })));
    expect(metadata).toMatchObject({ number: 81, nextUpdate: '2100-01-01', entries: 1, importedBy: 'admin' });
    expect(warnings).toEqual([]);
    expect((await list()).metadata).toEqual(metadata);
    expect((await prove(daemon)).proof).toMatchObject({ grade: 'model', model: 'Test Key 3', metadataNumber: 81 });
    expect(await upload(daemon, blob({ number: 80 }))).toMatchObject({
      code: 4002,
      message: expect.stringContaining('number 81 was imported before'),
    });
    expect((await list()).metadata.number).toBe(81);
    const revoked = blobEntry(AAGUID, keyRoot, { statusReports: [{ status: 'REVOKED', effectiveDate: '2024-01-01' }] });
    data(await upload(daemon, blob({ number: 82, entries: [revoked] })));
    expect((await prove(daemon)).proof.grade).toBe('failed');
    data(await daemon.call('POST', '/api/trust/metadata/remove', {}));
    expect((await list()).metadata).toBeNull();
    expect(await upload(daemon, blob({ number: 81 }))).toMatchObject({
      code: 4002,
      message: expect.stringContaining('number 82 was imported before'),
    });
    expect((await prove(daemon)).proof.grade).toBe('claimed');
  });

  it('past its date is accepted with a warning', async () => {
    const { warnings } = data(await upload(daemon, blob({ number: 90, nextUpdate: '2020-01-01' })));
    expect(warnings.join()).toContain('out of date');
  });

  it.each([
    ['metadata of another signer', () => blob({ signer: 'mds.example.org' }), 'mds.fidoalliance.org'],
    ['metadata under a root that the machine does not trust', () => blob({ root: makeRoot('Other') }), 'not trusted'],
    ['metadata with an ES256 signature in DER', () => blob({ algorithm: 'ES256', derSignature: true }), 'signature'],
    ['a certificate with an empty subject', () => makeRoot('', { subject: {} }).der, 'empty subject'],
    ['a file that is neither', () => Buffer.from('hello'), 'metadata'],
    ['a damaged certificate', () => keyRoot.der.subarray(0, 100), 'DER'],
  ])('%s is refused', async (_, file, message) => {
    const before = await list();
    expect(await upload(daemon, file())).toMatchObject({ code: 4002, message: expect.stringContaining(message) });
    expect(await list()).toEqual(before);
  });

  it.each(['deadbeef', `${AAGUID},deadbeef`, AAGUID.replaceAll('-', '')])(
    'for the AAGUID %s is refused',
    async aaguids => {
      expect(await upload(daemon, keyRoot.der, { purpose: 'fido', aaguids })).toMatchObject({ code: 1001 });
    },
  );

  it('in certificates is listed and removed by fingerprint', async () => {
    const { certificates } = data(await upload(daemon, keyRoot.der, { purpose: 'fido', aaguids: AAGUID, label: 'F' }));
    expect(certificates).toEqual([
      expect.objectContaining({ fingerprint: keyRoot.fingerprint, purpose: 'fido', kind: 'anchor', aaguids: [AAGUID] }),
    ]);
    data(await upload(daemon, keyRoot.der, { purpose: 'fido', aaguids: AAGUID, label: 'G' }));
    expect((await list()).certificates).toEqual([expect.objectContaining({ label: 'G' })]);
    const path = `/api/trust/${keyRoot.fingerprint}/remove`;
    expect(data(await daemon.call('POST', path, {}))).toEqual({ fingerprint: keyRoot.fingerprint, removed: true });
    expect(await daemon.call('POST', path, {})).toMatchObject({ status: 404, code: 404 });
  });

  it('of 10 MB is imported while other requests are served', async () => {
    const icon = `data:image/png;base64,${'A'.repeat(70_000)}`;
    const entries = Array.from({ length: 120 }, (_, i) => {
      const entry = blobEntry(`${String(i).padStart(8, '0')}-2222-3333-4444-555555555555`, keyRoot);
      return { ...entry, metadataStatement: { ...entry.metadataStatement, icon } };
    });
    const file = blob({ number: 95, entries });
    expect(file.length).toBeGreaterThan(10_000_000);
    let isDone = false;
    let served = 0;
    const health = async () => {
      while (!isDone && served < 10_000) {
        await daemon.call('GET', '/api/health');
        served++;
      }
    };
    const [answer] = await Promise.all([
      upload(daemon, file).finally(() => {
        isDone = true;
      }),
      health(),
    ]);
    expect(data(answer).metadata).toMatchObject({ number: 95, entries: 120 });
    expect(served).toBeGreaterThan(3);
  });
});

needsPostgres('trust of two daemons on one database', () => {
  let server: PostgresServer;
  let daemons: TwoDaemons;
  beforeAll(async () => {
    server = await PostgresServer.start();
    daemons = await startTwoDaemons(server);
  });
  afterAll(async () => {
    await daemons?.stop();
    await server?.stop();
  });

  it('one judges the answer to a challenge of the other, with the trust that the other has imported', async () => {
    const { one, two } = daemons;
    expect((await prove(one, two)).proof.grade).toBe('claimed');
    data(await upload(one, blob({ number: 81 })));
    const { path, body, proof } = await prove(one, two);
    expect(proof.grade).toBe('model');
    for (const daemon of [one, two])
      expect(await daemon.call('POST', path, body)).toMatchObject({
        code: 1001,
        message: expect.stringContaining('answered before'),
      });
  });

  it('two daemons that set a policy at the same moment end with the same one', async () => {
    const policy = (requiredGrade: string) => ({ requiredGrade, allowedAaguids: [], leastFirmware: [] });
    await Promise.all([
      daemons.one.call('PUT', '/api/policies/proof', policy('model')),
      daemons.two.call('PUT', '/api/policies/proof', policy('unit')),
    ]);
    const shown = await Promise.all(
      [daemons.one, daemons.two].map(async daemon => data(await daemon.call('GET', '/api/policies/proof'))),
    );
    expect(shown[0]).toEqual(shown[1]);
    expect(['model', 'unit']).toContain(shown[0].requiredGrade);
  });
});

itAnswersLikeExamples({ importTrust: [4002], removeTrust: [200] });
