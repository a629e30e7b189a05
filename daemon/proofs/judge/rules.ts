const failed = (words: string) => ({ grade: 'failed', words }) as const;
const claimed = (words: string) => ({ grade: 'claimed', words }) as const;

/**
 * The rules that evidence must fulfil, each with its name and its words. `grade`: what is left of the proof if it is broken. Evidence
 * `failed` only if it contradicts itself, the question, or what the registry knows about the model. Evidence that proves nothing leaves
 * what the key claims: honest keys attest with a root that is not imported, or not at all.
 */
export const rules = {
  malformed: failed('The evidence cannot be read'),
  replay: failed('This evidence was received before: it does not answer this challenge'),
  chain: failed('The certificates of the key are not trusted'),
  'no-trust': claimed('Not proved: no trust anchor was imported for this key (devmgr trust add)'),
  serial: failed('The certificate names another serial number'),
  'scp11b-certificate': claimed('Not proved: the certificate of the card does not vouch for its key'),
  'scp11b-point': failed('The ephemeral key of the card is not a point of P-256'),
  'scp11b-receipt': failed(
    'The receipt does not belong to this challenge and this certificate: the card does not hold the private key of its certificate',
  ),
  'fido-format': claimed('Not proved: an attestation of this format is not supported'),
  'fido-none': claimed('Not proved: the authenticator does not attest'),
  'fido-self': claimed(
    'Not proved: self attestation proves nothing: the authenticator signed with the new credential instead of a certified key',
  ),
  'fido-relying-party': failed('The attestation is for another relying party'),
  'fido-touch': failed('The authenticator did not report a touch'),
  'fido-zero-aaguid': claimed('Not proved: the AAGUID is zero: it does not name a model'),
  'fido-certificate': failed('The attestation certificate breaks the rules of its format'),
  'fido-aaguid-missing': claimed('Not proved: the attestation certificate does not name an AAGUID'),
  'fido-aaguid': failed('The attestation certificate was issued for another AAGUID'),
  'fido-root': failed('The attestation certificate does not lead to a root of its AAGUID'),
  'fido-algorithm': claimed('Not proved: the algorithm of the attestation is not supported'),
  'fido-signature': failed(
    'The signature does not belong to this challenge and this certificate: the key does not hold the private key of its certificate',
  ),
  status: failed('The FIDO metadata reports that this model is not to be trusted'),
} as const;

/** Name of a rule. */
export type RuleName = keyof typeof rules;

interface BrokenRuleOptions extends ErrorOptions {
  /** False if honest evidence can break the rule here; then it only proves nothing. */
  readonly isContradiction?: boolean;
}

/** The error that judges throw if a rule is broken; `judge` catches it. */
export class BrokenRule extends Error {
  override name = 'BrokenRule';
  readonly rule: RuleName;
  /** Remaining proof: less than the rule leaves if the evidence contradicts nothing. */
  readonly grade: 'failed' | 'claimed';

  constructor(rule: RuleName, detail?: string, { isContradiction = true, ...options }: BrokenRuleOptions = {}) {
    const { words } = rules[rule];
    const not = isContradiction ? words : `Not proved: ${words[0]!.toLowerCase()}${words.slice(1)}`;
    super(`${not}${detail ? `: ${detail}` : ''}.`, options);
    this.rule = rule;
    this.grade = isContradiction ? rules[rule].grade : 'claimed';
  }
}
