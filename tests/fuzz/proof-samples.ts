/** Samples for the readers of proofs, from the test authenticators. */

import { expectBytes, expectMap, readCbor } from '../../drivers/protocols/cbor.ts';
import { AAGUID, genuineAnswers } from '../proof/fixtures.ts';
import { TestAuthenticator } from '../support/test-authenticator.ts';
import { blobEntry } from '../support/test-blob.ts';
import { makeRoot, pemOf } from '../support/test-pki.ts';
import { cardRoot, TestScp11bCard } from '../support/test-scp11b-card.ts';
import { type Reader, readers } from './proof.ts';

/** All readers with their samples. */
export function sampledReaders(): Reader[] {
  const root = makeRoot('Root');
  const hash = Buffer.alloc(32, 1);
  const card = new TestScp11bCard({ serialNumber: 1234, firmware: [5, 7, 4], formFactor: 3, root: cardRoot() });
  const kinds = (['packed', 'fido-u2f', 'self', 'none'] as const).map(
    kind => new TestAuthenticator({ root, aaguid: AAGUID, kind, serialOctets: Buffer.alloc(4, 1) }),
  );
  const objects = kinds.map(authenticator => authenticator.attestationObject('devmgr.invalid', hash));
  const { asked, evidence } = genuineAnswers();
  return readers({
    claims: [json(claims)],
    evidence: evidence.map(json),
    question: asked.question,
    metadata: [json({ no: 80, nextUpdate: '2026-12-01', entries: [blobEntry(AAGUID, root)], legalHeader: 'a "b" \\' })],
    trustFiles: [root.der, Buffer.from(pemOf(root).repeat(2))],
    certificates: [root.der, ...card.chain, kinds[0]!.certificate.der],
    cbor: [...objects, kinds[0]!.info()],
    authenticatorData: objects.map(object =>
      expectBytes(expectMap(readCbor(object), 'object').get('authData'), 'data'),
    ),
    registrations: kinds.map(authenticator => authenticator.u2fRegister(hash, hash)),
  });
}

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

const claims = {
  aaguid: AAGUID,
  firmware: '5.7.4',
  fips: false,
  attestationFormats: ['packed'],
  certifications: { FIDO: 2 },
  options: { rk: true },
};
