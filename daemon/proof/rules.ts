/** The rules that evidence must fulfil, each with its name and its words. `grade`: what is left of the proof if it is broken. */
export const rules = {
  malformed: { grade: 'failed', words: 'The evidence cannot be read' },
  replay: { grade: 'failed', words: 'This evidence was received before: it does not answer this challenge' },
  chain: { grade: 'failed', words: 'The certificates of the key are not trusted' },
  'no-trust': {
    grade: 'claimed',
    words: 'Not proved: no trust anchor was imported for this key (devmgr trust import)',
  },
  serial: { grade: 'failed', words: 'The certificate names another serial number' },
  'scp11b-certificate': {
    grade: 'claimed',
    words: 'Not proved: the certificate of the card does not vouch for its key',
  },
  'scp11b-point': { grade: 'failed', words: 'The ephemeral key of the card is not a point of P-256' },
  'scp11b-receipt': {
    grade: 'failed',
    words:
      'The receipt does not belong to this challenge and this certificate: the card does not hold the private key of its certificate',
  },
  'fido-format': { grade: 'claimed', words: 'Not proved: an attestation of this format is not supported' },
  'fido-none': { grade: 'claimed', words: 'Not proved: the authenticator does not attest' },
  'fido-self': {
    grade: 'failed',
    words:
      'Self attestation proves nothing: the authenticator signed with the new credential instead of a certified key',
  },
  'fido-relying-party': { grade: 'failed', words: 'The attestation is for another relying party' },
  'fido-touch': { grade: 'failed', words: 'The authenticator did not report a touch' },
  'fido-zero-aaguid': { grade: 'failed', words: 'The AAGUID is zero: it does not name a model' },
  'fido-certificate': { grade: 'failed', words: 'The attestation certificate breaks the rules of its format' },
  'fido-aaguid-missing': { grade: 'claimed', words: 'Not proved: the attestation certificate does not name an AAGUID' },
  'fido-aaguid': { grade: 'failed', words: 'The attestation certificate was issued for another AAGUID' },
  'fido-root': {
    grade: 'failed',
    words: 'The attestation certificate does not lead to a root of its AAGUID',
  },
  'fido-signature': {
    grade: 'failed',
    words:
      'The signature does not belong to this challenge and this certificate: the key does not hold the private key of its certificate',
  },
  status: { grade: 'failed', words: 'The FIDO metadata reports that this model is not to be trusted' },
} as const satisfies Record<string, { grade: 'failed' | 'claimed'; words: string }>;

/** Name of a rule. */
export type RuleName = keyof typeof rules;

/** What judges throw if a rule is broken; `judge` catches it. */
export class BrokenRule extends Error {
  readonly rule: RuleName;

  constructor(rule: RuleName, detail?: string, options?: ErrorOptions) {
    super(`${rules[rule].words}${detail ? `: ${detail}` : ''}.`, options);
    this.name = 'BrokenRule';
    this.rule = rule;
  }
}
