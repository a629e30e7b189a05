/** Claims of keys about themselves, which prove nothing: a verdict without evidence. */

import { unproved } from '../../src/contract/key-values.ts';
import type { Claims, Proof } from '../../src/contract/proof.ts';
import { advisoriesFor } from './advisories.ts';

/** The part of a proof that follows from what a key answered. */
export type Finding = Omit<Proof, 'provedAt'>;

/** Facts beside the answer of a key. */
interface Question {
  readonly provedAt: Date | null;
  /** Manufacturer and model; only advisories are looked up by it. */
  readonly described?: string;
  readonly trust: {
    readonly metadata: { byAaguid(aaguid: string): { readonly description: string } | undefined } | null;
  };
}

export const nothing: Finding = { ...unproved, warnings: [] };

/** Claims of a key, without evidence and metadata; null if there are none. `described`: its manufacturer and model. */
export function claimedProof(claims: Claims, described: string): Proof | null {
  const question = { provedAt: null, described, trust: { metadata: null } };
  const proof = completed(judgeClaims(claims, question), claims, question);
  return proof.grade === 'none' ? null : proof;
}

/** Claims that only cards make. */
const CARD_CLAIMS = ['atr', 'cplc', 'eid', 'euiccInfo'] as const;

export function judgeClaims(claims: Claims, { trust }: Question): Finding {
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
export function completed(finding: Finding, claims: Claims, { provedAt, described, trust }: Question): Proof {
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
    provedAt: finding.grade === 'none' ? null : (provedAt?.toISOString() ?? null),
    warnings: [...finding.warnings, ...found],
  };
}
