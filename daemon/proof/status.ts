/** What the status reports of the FIDO metadata mean for a model (FIDO Metadata Service 3.1.1, AuthenticatorStatus). */
import type { Certificate } from './certificate.ts';
import { BrokenRule } from './rules.ts';
import type { MetadataEntry, StatusReport } from './types.ts';

/** Reports after which a model is not trusted. */
const distrusted: ReadonlySet<string> = new Set([
  'REVOKED',
  'ATTESTATION_KEY_COMPROMISE',
  'USER_VERIFICATION_BYPASS',
  'USER_KEY_REMOTE_COMPROMISE',
  'USER_KEY_PHYSICAL_COMPROMISE',
]);
/** Reports that say nothing against a model. `FIDO_CERTIFIED_L1` and its like, and `FIPS140_CERTIFIED_L1`, are matched by their beginning. */
const neutral: ReadonlySet<string> = new Set(['NOT_FIDO_CERTIFIED', 'SELF_ASSERTION_SUBMITTED']);
const neutralBeginnings = ['FIDO_CERTIFIED', 'FIPS140_CERTIFIED'] as const;

const meanings: ReadonlyMap<string, string> = new Map([
  ['UPDATE_AVAILABLE', 'an update of the firmware is available'],
  ['RETIRED', 'the model is retired'],
]);

/** Warnings about a model whose attestation leads over `path`. Throws BrokenRule if a report warns not to trust it. */
export function judgeStatus(entry: MetadataEntry, path: readonly Certificate[], now: Date): string[] {
  return entry.statusReports.flatMap(report => {
    if (neutral.has(report.status) || neutralBeginnings.some(beginning => report.status.startsWith(beginning)))
      return [];
    if (!distrusted.has(report.status)) return [warning(report)];
    if (!concerns(report, path))
      return [`The FIDO metadata reports ${report.status} for another certificate of this model.`];
    if (isLater(report, now)) return [`The FIDO metadata reports ${report.status} from ${report.effectiveDate} on.`];
    throw new BrokenRule('status', words(entry, report));
  });
}

function words({ description }: MetadataEntry, { status, effectiveDate }: StatusReport): string {
  return `${status} for ${description}${effectiveDate ? ` since ${effectiveDate}` : ''}`;
}

/** A report without a certificate is about all keys of the model. */
function concerns({ certificate }: StatusReport, path: readonly Certificate[]): boolean {
  return certificate === null || path.some(({ fingerprint }) => fingerprint === certificate);
}

/** A date that cannot be read is not later: the report applies. */
function isLater({ effectiveDate }: StatusReport, now: Date): boolean {
  return effectiveDate !== null && new Date(effectiveDate) > now;
}

function warning({ status }: StatusReport): string {
  const meaning = meanings.get(status);
  return meaning
    ? `The FIDO metadata reports ${status}: ${meaning}.`
    : `The FIDO metadata reports ${status}, which is unknown here.`;
}
