/** Evidence under roots that the registry does not trust, of every shape, beside the trusted ones: it never proves a model or a device. */
import fc from 'fast-check';
import { judge } from '../../daemon/proofs/judge/judge.ts';
import { MalformedError } from '../../daemon/proofs/judge/malformed.ts';
import type { Evidence } from '../../src/contract/proof.ts';
import {
  AAGUID,
  anchor,
  ask,
  cardEvidence,
  entry,
  fidoEvidence,
  metadataOf,
  text,
  u2fEvidence,
} from '../proof/fixtures.ts';
import { authenticatorRoot, TestAuthenticator } from '../support/test-authenticator.ts';
import { basicConstraints, keyUsage, makeCa, makeRoot, type TestCertificate } from '../support/test-pki.ts';
import { cardRoot, TestScp11bCard } from '../support/test-scp11b-card.ts';

const rootName = 'Trusted Root';
const roots = { fido: authenticatorRoot(rootName), cards: cardRoot() };
const anchors = [anchor(roots.cards), anchor(roots.fido, { purpose: 'fido' })];
const asked = ask({ anchors, metadata: metadataOf([entry(roots.fido)]) });

/** How a root that is not trusted looks. */
const shape = fc.record({
  name: fc.constantFrom(rootName, 'Test Attestation Root', 'Other Root'),
  version: fc.constantFrom<1 | 3>(1, 3),
  isCa: fc.boolean(),
  usage: fc.constantFrom([5], [0], [4], []),
  notAfter: fc.constantFrom(new Date('2021-01-01'), new Date('2060-01-01')),
  notBefore: fc.constantFrom(new Date('2020-01-01'), new Date('2050-01-01')),
  /** Certificate authorities between the root and the key. */
  depth: fc.nat(2),
  /** A trusted certificate in the chain, where it has signed nothing. */
  borrowed: fc.constantFrom('none', 'first', 'last'),
  method: fc.constantFrom('packed', 'fido-u2f', 'u2f', 'scp11b'),
});
type Shape = typeof shape extends fc.Arbitrary<infer T> ? T : never;

function foreignIssuer({ name, version, isCa, usage, notAfter, notBefore, depth }: Shape): TestCertificate {
  const extensions = version === 3 ? [basicConstraints(isCa), ...(usage.length > 0 ? [keyUsage(...usage)] : [])] : [];
  let issuer = makeRoot(name, { version, extensions, notAfter, notBefore });
  for (let level = 0; level < depth; level++) issuer = makeCa(rootName, issuer);
  return issuer;
}

function evidenceOf(given: Shape): Evidence {
  const { method, borrowed } = given;
  const root = foreignIssuer(given);
  if (method !== 'scp11b') {
    const kind = method === 'fido-u2f' ? 'fido-u2f' : 'packed';
    const authenticator = new TestAuthenticator({ root, aaguid: AAGUID, kind });
    return method === 'u2f' ? u2fEvidence(authenticator, asked) : fidoEvidence(authenticator, asked);
  }
  const card = new TestScp11bCard({ serialNumber: 12_345_678, firmware: [5, 7, 4], formFactor: 3, root });
  const evidence = cardEvidence(card, asked);
  const trusted = text(roots.cards.der);
  const { chain } = evidence;
  if (borrowed === 'none') return evidence;
  return {
    ...evidence,
    chain: borrowed === 'first' ? [trusted, ...chain] : [...chain.slice(0, -1), trusted, chain.at(-1)!],
  };
}

/** Returns the faults after `count` keys under such roots, as texts. */
export function tryForeignRoots({ seed, count }: { seed: number; count: number }): string[] {
  const property = fc.property(shape, given => {
    try {
      const { proof } = judge({ claims: { aaguid: AAGUID }, evidence: evidenceOf(given) }, asked.question);
      return proof.grade === 'failed' || proof.grade === 'claimed';
    } catch (error) {
      if (error instanceof MalformedError) return true;
      throw error;
    }
  });
  const details = fc.check(property, { seed, numRuns: count });
  return details.failed
    ? [`foreign roots, seed ${seed}: ${fc.defaultReportMessage(details)} ${details.errorInstance}`]
    : [];
}
