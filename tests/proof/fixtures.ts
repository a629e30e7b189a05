import { createECDH, randomBytes } from 'node:crypto';
import { clientDataHash, RELYING_PARTY, relyingPartyHash } from '../../daemon/devices/client-data.ts';
import { judge } from '../../daemon/proofs/judge/judge.ts';
import { indexMetadata } from '../../daemon/proofs/judge/metadata.ts';
import type { MetadataEntry, Question, Trust, TrustAnchor, Verdict } from '../../daemon/proofs/judge/types.ts';
import type { Claims, Evidence, Scp11bEvidence } from '../../src/contract/proof.ts';
import { authenticatorRoot, TestAuthenticator } from '../support/test-authenticator.ts';
import type { TestCertificate } from '../support/test-pki.ts';
import { cardRoot, TestScp11bCard } from '../support/test-scp11b-card.ts';

export const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');

export const AAGUID = '11111111-2222-3333-4444-555555555555';
export const OTHER_AAGUID = '99999999-8888-7777-6666-555555555555';

export const anchor = (certificate: TestCertificate, changes: Partial<TrustAnchor> = {}): TrustAnchor => ({
  der: certificate.der,
  fingerprint: certificate.fingerprint,
  label: 'Test root',
  purpose: 'scp11b',
  aaguids: [],
  ...changes,
});

export const entry = (root: TestCertificate, changes: Partial<MetadataEntry> = {}): MetadataEntry => ({
  aaguid: AAGUID,
  keyIdentifiers: [],
  description: 'Test Key 3',
  anchors: [root.der],
  statusReports: [{ status: 'FIDO_CERTIFIED', effectiveDate: '2024-01-01', certificate: null }],
  ...changes,
});

export const metadataOf = (entries: readonly MetadataEntry[], nextUpdate = '2026-12-01') =>
  indexMetadata({ number: 80, nextUpdate, entries });

export const nothingTrusted: Trust = { anchors: [], intermediates: [], metadata: null };

export interface Asked {
  readonly question: Question;
  readonly ephemeral: ReturnType<typeof newEphemeralKey>;
}

/** A key of P-256: a private scalar of 32 bytes, whose leading zeros OpenSSL omits, and an uncompressed point of 65 bytes. */
function newEphemeralKey() {
  const pair = createECDH('prime256v1');
  const publicKey: Uint8Array = pair.generateKeys();
  const privateKey: Uint8Array = Buffer.from(pair.getPrivateKey('hex').padStart(64, '0'), 'hex');
  return { privateKey, publicKey };
}

/** A question with a challenge and an ephemeral key of its own. */
export function ask(trust: Partial<Trust>, changes: Partial<Question> = {}): Asked {
  const ephemeral = newEphemeralKey();
  return {
    ephemeral,
    question: {
      serialNumber: '12345678',
      challenge: randomBytes(32),
      registryId: 'INST-0001',
      ephemeralPrivateKey: ephemeral.privateKey,
      trust: { ...nothingTrusted, ...trust },
      provedAt: new Date('2026-11-22T04:00:00Z'),
      now: new Date('2026-11-22T04:00:00Z'),
      ...changes,
    },
  };
}

/** The answer of a card to a question. */
export function cardEvidence(card: TestScp11bCard, { ephemeral }: Asked): Scp11bEvidence {
  const { cardPublicKey, receipt } = card.agree(ephemeral.publicKey);
  return {
    method: 'scp11b',
    kvn: 1,
    chain: card.chain.map(text),
    cardPublicKey: text(cardPublicKey),
    receipt: text(receipt),
  };
}

const hashOf = ({ question }: Asked) => clientDataHash(question.registryId, question.serialNumber, question.challenge);

/** The answer of an authenticator to a question, by CTAP2. */
export const fidoEvidence = (authenticator: TestAuthenticator, asked: Asked, rpId = RELYING_PARTY): Evidence => ({
  method: 'fido',
  attestationObject: text(authenticator.attestationObject(rpId, hashOf(asked))),
});

/** The answer of an authenticator to a question, by U2F. */
export const u2fEvidence = (authenticator: TestAuthenticator, asked: Asked): Evidence => ({
  method: 'u2f',
  registration: text(authenticator.u2fRegister(hashOf(asked), relyingPartyHash())),
});

export const verdict = (evidence: Evidence | null, { question }: Asked, claims: Claims = {}): Verdict =>
  judge({ claims, evidence }, question);

/** The answers of genuine keys to one question, by each method, under roots that the question trusts. */
export function genuineAnswers() {
  const [root, cards] = [authenticatorRoot(), cardRoot()];
  const trust = { anchors: [anchor(cards), anchor(root, { purpose: 'fido' })], metadata: metadataOf([entry(root)]) };
  const asked = ask(trust);
  const authenticator = new TestAuthenticator({ root, aaguid: AAGUID });
  const card = new TestScp11bCard({ serialNumber: 12_345_678, firmware: [5, 7, 4], formFactor: 3, root: cards });
  const scp11b = cardEvidence(card, asked);
  return { asked, scp11b, evidence: [scp11b, fidoEvidence(authenticator, asked), u2fEvidence(authenticator, asked)] };
}
