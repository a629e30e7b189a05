/** U2F registrations, and U2F keys behind CTAP2, prove a model. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { authenticatorRoot, TestAuthenticator } from '../support/test-authenticator.ts';
import { anchor, ask, entry, fidoEvidence, metadataOf, u2fEvidence, verdict } from './fixtures.ts';

const root = authenticatorRoot();
const otherRoot = authenticatorRoot('Other Maker Root');
const ZERO = '00000000-0000-0000-0000-000000000000';

describe('U2F', () => {
  const identifierOf = (authenticator: TestAuthenticator) =>
    createHash('sha1')
      .update(authenticator.certificate.publicKey.export({ type: 'spki', format: 'der' }).subarray(-65))
      .digest('hex');

  it.each(['registration', 'format fido-u2f'])('a %s proves the model that the metadata knows by its key', form => {
    const authenticator = new TestAuthenticator({ root, aaguid: ZERO, kind: 'fido-u2f', certifiedAaguid: null });
    const known = entry(root, {
      aaguid: null,
      keyIdentifiers: [identifierOf(authenticator)],
      description: 'U2F Key 1',
    });
    const asked = ask({ metadata: metadataOf([known]) });
    const evidence = form === 'registration' ? u2fEvidence(authenticator, asked) : fidoEvidence(authenticator, asked);
    expect(verdict(evidence, asked)).toMatchObject({
      rule: null,
      proof: { grade: 'model', method: 'u2f', model: 'U2F Key 1', aaguid: null },
    });
  });

  it('a registration under an imported root reports that the model is the one of the root', () => {
    const authenticator = new TestAuthenticator({ root, aaguid: ZERO, certifiedAaguid: null });
    const asked = ask({ anchors: [anchor(root, { purpose: 'fido' })] });
    const { proof } = verdict(u2fEvidence(authenticator, asked), asked);
    expect(proof).toMatchObject({ grade: 'model', model: 'Test root' });
    expect(proof.warnings).toEqual([expect.stringMatching(/metadata does not describe/)]);
  });

  it('fails for another challenge, a copied certificate and a wrong root', () => {
    const options = { root, aaguid: ZERO, certifiedAaguid: null };
    const trusted = { anchors: [anchor(root, { purpose: 'fido' })] };
    const copied = new TestAuthenticator(options).certificate.der;
    const asked = ask(trusted);
    expect(verdict(u2fEvidence(new TestAuthenticator(options), ask(trusted)), asked).rule).toBe('fido-signature');
    expect(verdict(u2fEvidence(new TestAuthenticator({ ...options, presented: copied }), asked), asked).rule).toBe(
      'fido-signature',
    );
    expect(verdict(u2fEvidence(new TestAuthenticator({ ...options, root: otherRoot }), asked), asked).rule).toBe(
      'fido-root',
    );
  });
});
