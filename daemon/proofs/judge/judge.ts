/** The judge of proofs: evidence, claims and trust in, a verdict out. It does no I/O, so any verdict can be repeated. */
import { createHash } from 'node:crypto';
import type { Claims, Evidence, Proof } from '../../../src/contract/proof.ts';
import { unproved } from '../../../src/contract/values.ts';
import { advisoriesFor } from './advisories.ts';
import { judgeFido } from './fido.ts';
import type { Finding } from './finding.ts';
import { MalformedError } from './malformed.ts';
import { BrokenRule } from './rules.ts';
import { judgeScp11b } from './scp11b.ts';
import type { Answer, Question, Verdict } from './types.ts';
import { judgeU2f } from './u2f.ts';

/** Judges what a key answered. Returns a verdict for any answer and does not throw. */
export function judge({ claims, evidence }: Answer, question: Question): Verdict {
  const claimed = judgeClaims(claims, question);
  if (!evidence) return { proof: completed(claimed, claims, question), rule: null, reason: null };
  try {
    if (question.replayed) throw new BrokenRule('replay');
    const asked = claims.firmware === undefined ? question : { ...question, claimedFirmware: claims.firmware };
    return { proof: completed(judgeEvidence(evidence, asked), claims, question), rule: null, reason: null };
  } catch (error) {
    const broken = brokenRule(error);
    const { rule, grade, message: reason } = broken;
    const rest = grade === 'claimed' ? { ...claimed, grade } : { ...nothing, grade, method: evidence.method };
    return { proof: completed({ ...rest, warnings: [reason, ...rest.warnings] }, claims, question), rule, reason };
  }
}

function judgeEvidence(evidence: Evidence, question: Question): Finding {
  if (evidence.method === 'scp11b') return judgeScp11b(evidence, question);
  return evidence.method === 'fido' ? judgeFido(evidence, question) : judgeU2f(evidence, question);
}

/** Why evidence proves nothing. Any other error is a defect of the judge. */
function brokenRule(error: unknown): BrokenRule {
  if (error instanceof BrokenRule) return error;
  if (error instanceof MalformedError) return new BrokenRule('malformed', error.message, { cause: error });
  throw error;
}

const nothing: Finding = { ...unproved, warnings: [] };

/** Claims of a key, without evidence and metadata; null if there are none. `described`: its manufacturer and model. */
export function claimedProof(claims: Claims, described: string, now: Date): Proof | null {
  const question = { trust: { anchors: [], intermediates: [], metadata: null }, provedAt: now, now, described };
  const { proof } = judge({ claims, evidence: null }, { ...question, ...noChallenge });
  return proof.grade === 'none' ? null : { ...proof, provedAt: null };
}

const noChallenge = {
  serialNumber: '',
  challenge: new Uint8Array(),
  registryId: '',
  ephemeralPrivateKey: new Uint8Array(),
};

/** Claims that only cards make. */
const CARD_CLAIMS = ['atr', 'cplc', 'eid', 'euiccInfo'] as const;

function judgeClaims(claims: Claims, { trust }: Question): Finding {
  if (Object.keys(claims).length === 0) return nothing;
  const entry = claims.aaguid ? trust.metadata?.byAaguid(claims.aaguid) : undefined;
  const warnings = [];
  if (CARD_CLAIMS.some(name => claims[name] !== undefined))
    warnings.push('ICCID, ATR and CPLC prove nothing: any card can answer them.');
  if (claims.eid !== undefined || claims.euiccInfo !== undefined)
    warnings.push('The eUICC is only claimed: its certificates were not verified.');
  return {
    ...nothing,
    grade: 'claimed',
    method: 'claims',
    model: entry?.description ?? claims.product ?? null,
    aaguid: claims.aaguid ?? null,
    firmware: claims.firmware ?? null,
    warnings,
  };
}

/** Adds the time and the advisories. Firmware that the evidence does not prove is looked up as claimed. */
function completed(finding: Finding, claims: Claims, { provedAt, described, trust }: Question): Proof {
  const proved = finding.grade === 'model' || finding.grade === 'unit' ? finding.firmware : null;
  const firmware = proved ?? claims.firmware;
  const aaguid = finding.aaguid ?? claims.aaguid;
  const names = [
    finding.model,
    aaguid ? trust.metadata?.byAaguid(aaguid)?.description : null,
    claims.formFactor,
    described,
  ].filter(name => typeof name === 'string');
  const found = firmware
    ? advisoriesFor({ names, fips: claims.fips ?? false, firmware, basis: proved ? 'proved' : 'claimed' })
    : [];
  return {
    ...finding,
    provedAt: finding.grade === 'none' ? null : provedAt.toISOString(),
    warnings: [...finding.warnings, ...found],
  };
}

/** SHA-256 in hex of what a key signed or computed: equal for evidence that was sent twice, however it is wrapped. */
export function evidenceDigest(evidence: Evidence): string {
  const parts =
    evidence.method === 'scp11b'
      ? [evidence.cardPublicKey, evidence.receipt]
      : [evidence.method === 'fido' ? evidence.attestationObject : evidence.registration];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
