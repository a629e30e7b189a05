/** Meaning of the status reports of the FIDO metadata for a model (FIDO Metadata Service 3.1.1, AuthenticatorStatus). */
import type { Certificate } from './certificate.ts';
import { BrokenRule } from './rules.ts';
import type { MetadataEntry, Question, StatusReport } from './types.ts';

/** Reports after which a model is not trusted. */
const distrusted: ReadonlySet<string> = new Set([
  'REVOKED',
  'ATTESTATION_KEY_COMPROMISE',
  'USER_VERIFICATION_BYPASS',
  'USER_KEY_REMOTE_COMPROMISE',
  'USER_KEY_PHYSICAL_COMPROMISE',
]);
/** Reports that say nothing against a model. `FIDO_CERTIFIED_L1` and `FIPS140_CERTIFIED_L1` are matched by their beginning. */
const neutral: ReadonlySet<string> = new Set(['NOT_FIDO_CERTIFIED', 'SELF_ASSERTION_SUBMITTED']);
const neutralBeginnings = ['FIDO_CERTIFIED', 'FIPS140_CERTIFIED'] as const;

const meanings: ReadonlyMap<string, string> = new Map([
  ['UPDATE_AVAILABLE', 'an update of the firmware is available'],
  ['RETIRED', 'the model is retired'],
]);

/** Warnings about a model whose attestation leads over `path`. Throws BrokenRule if a report warns not to trust it. */
export function judgeStatus(
  entry: MetadataEntry,
  path: readonly Certificate[],
  { now, claimedFirmware }: Pick<Question, 'now' | 'claimedFirmware'>,
): string[] {
  return entry.statusReports.flatMap(report => {
    if (neutral.has(report.status) || neutralBeginnings.some(beginning => report.status.startsWith(beginning)))
      return [];
    if (!distrusted.has(report.status)) return [warning(report)];
    if (!concerns(report, path))
      return [`The FIDO metadata reports ${report.status} for another certificate of this model.`];
    if (isLater(report, now)) return [`The FIDO metadata reports ${report.status} from ${report.effectiveDate} on.`];
    const fix = fixOf(report, entry, now);
    if (!fix || isOlder(claimedFirmware, fix.version)) throw new BrokenRule('status', words(entry, report));
    const firmware = fix.version === undefined ? 'earlier firmware' : `firmware before version ${fix.version}`;
    return [`The FIDO metadata reports ${report.status} for ${firmware}; this proof does not show the firmware.`];
  });
}

/**
 * The update that ends a report: the metadata announces it after the report, has certified the model again since, and names a higher
 * version than the report (UPDATE_AVAILABLE: the version of the statement has increased and is that of the update). Null if there is none,
 * and for a report about a certificate: no update takes back its key.
 */
function fixOf(report: StatusReport, { statusReports, authenticatorVersion }: MetadataEntry, now: Date) {
  if (report.certificate !== null) return null;
  const since = (earlier: StatusReport) =>
    statusReports.filter(later => !isLater(later, now) && follows(later, earlier, statusReports));
  const update = since(report).find(({ status }) => status === 'UPDATE_AVAILABLE');
  if (!update || !since(update).some(({ status }) => status.startsWith('FIDO_CERTIFIED'))) return null;
  const version = update.authenticatorVersion ?? authenticatorVersion;
  const isRaised =
    (authenticatorVersion ?? Infinity) >= (version ?? 0) && (version ?? Infinity) > (report.authenticatorVersion ?? -1);
  return isRaised ? { version } : null;
}

/** Reports are in the order of their dates; those of one day, and those without a date, in the order in which they are listed. */
function follows(later: StatusReport, earlier: StatusReport, all: readonly StatusReport[]): boolean {
  const [one, other] = [later.effectiveDate, earlier.effectiveDate];
  return one && other && one !== other ? one > other : all.indexOf(later) > all.indexOf(earlier);
}

/** Only the number of getInfo compares with versions of the metadata; other texts are versions of their own kind. */
const isOlder = (firmware: string | undefined, version: number | undefined): boolean =>
  firmware !== undefined && version !== undefined && /^\d+$/.test(firmware) && Number(firmware) < version;

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
