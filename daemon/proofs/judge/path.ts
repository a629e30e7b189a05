/** Certificate paths: from a leaf over intermediates to one of the given anchors, and to nothing else. */
import { type Certificate, EXTENSION, isSelfIssued, KEY_USAGE, same } from './certificate.ts';
import { nameProblem } from './name-constraints.ts';
import { STRONG_KEYS, signatureWork } from './signature-work.ts';

/** From what a path is built. */
interface PathMaterial {
  /**
   * Certificates to which a path may lead; the leaf itself may be one of them. Only their name and key count (RFC 5280, 6.1.1 d): not
   * their dates, extensions or version. One that is neither a CA nor self-issued is a listed leaf, and vouches only for itself.
   */
  readonly anchors: readonly Certificate[];
  /** Certificates that a path may use. They are not trusted on their own. */
  readonly intermediates: readonly Certificate[];
  /** When each certificate of the path must be valid. */
  readonly at: Date;
}

/** The path that was found, leaf first and anchor last, or why there is none. */
type Path = { readonly anchor: Certificate; readonly path: readonly Certificate[] } | { readonly problem: string };

/** Most certificates of a path, leaf and anchor included. */
const MAX_PATH = 8;
/** Most signatures that are checked for one path. */
const MAX_CHECKS = 64;
/** Most work of these checks together, as `signatureWork` counts it: some 10 ms. A client chooses the certificates that it sends. */
const MAX_WORK = 128;

/** Signatures that count: SHA-1 and MD5 do not. */
const signatures: ReadonlySet<string> = new Set([
  '1.2.840.10045.4.3.2',
  '1.2.840.10045.4.3.3',
  '1.2.840.10045.4.3.4',
  '1.2.840.113549.1.1.11',
  '1.2.840.113549.1.1.12',
  '1.2.840.113549.1.1.13',
  '1.3.101.112',
]);

/** Hashes with which RSASSA-PSS counts: SHA-256, SHA-384, SHA-512. */
const pssHashes: ReadonlySet<string> = new Set([
  '2.16.840.1.101.3.4.2.1',
  '2.16.840.1.101.3.4.2.2',
  '2.16.840.1.101.3.4.2.3',
]);

/** Extensions that may be critical because their rules are applied here or by the caller, or cannot widen anything. */
const understood: ReadonlySet<string> = new Set(Object.values(EXTENSION));

const LEADS_NOWHERE = 'the certificates do not lead to a trusted root';

interface PathSearch extends PathMaterial {
  checks: number;
  work: number;
  isForged: boolean;
  /** The most specific reason why a path was not found. */
  problem: string;
}

/** Finds a path. Deterministic: candidates are tried in the given order, anchors first. */
export function findPath(leaf: Certificate, material: PathMaterial): Path {
  const search: PathSearch = { ...material, checks: 0, work: 0, isForged: false, problem: LEADS_NOWHERE };
  if (material.anchors.some(anchor => same(anchor.der, leaf.der))) return { anchor: leaf, path: [leaf] };
  const problem = timeProblem(leaf, search.at) ?? extensionProblem(leaf);
  if (problem) return { problem };
  const path = extend([leaf], search);
  return path ? { anchor: path.at(-1)!, path } : failedPath(search);
}

/** Failed searches in which a certificate names an issuer that has not signed it. */
const forged = new WeakSet<Path>();

function failedPath({ problem, isForged: isIt }: PathSearch): Path {
  const failed = { problem };
  if (isIt) forged.add(failed);
  return failed;
}

/** Whether a certificate names an issuer that has not signed it, so that there is no path. */
export const isForged = (path: Path): boolean => forged.has(path);

function extend(path: readonly Certificate[], search: PathSearch): readonly Certificate[] | null {
  if (path.length >= MAX_PATH) {
    search.problem = `the path has more than ${MAX_PATH} certificates`;
    return null;
  }
  for (const anchor of issuersOf(path, search.anchors, search, anchorProblem)) return [...path, anchor];
  for (const issuer of issuersOf(path, search.intermediates, search, issuerProblem)) {
    const found = extend([...path, issuer], search);
    if (found) return found;
  }
  return null;
}

function* issuersOf(
  path: readonly Certificate[],
  candidates: readonly Certificate[],
  search: PathSearch,
  problemOf: typeof issuerProblem,
) {
  const subject = path.at(-1)!;
  for (const issuer of candidates) {
    if (!same(issuer.subject, subject.issuer) || path.some(used => same(used.der, issuer.der))) continue;
    if (search.checks++ >= MAX_CHECKS) {
      search.problem = `more than ${MAX_CHECKS} signatures would have to be checked`;
      return;
    }
    const problem = problemOf(path, issuer, search) ?? signatureProblem(subject, issuer, search);
    if (problem) search.problem = problem;
    else yield issuer;
  }
}

const NOT_A_CA = 'a certificate of the path was issued by one that is not a CA';

/** Why this anchor does not vouch for other certificates, or null. */
const anchorProblem = (_: readonly Certificate[], anchor: Certificate): string | null =>
  anchor.ca || isSelfIssued(anchor) ? null : NOT_A_CA;

/** Why `issuer` may not have issued the last certificate of the path, or null. */
function issuerProblem(path: readonly Certificate[], issuer: Certificate, search: PathSearch): string | null {
  const time = timeProblem(issuer, search.at) ?? extensionProblem(issuer);
  if (time) return time;
  if (!issuer.ca) return NOT_A_CA;
  if (issuer.keyUsage && !issuer.keyUsage.has(KEY_USAGE.keyCertSign))
    return 'the key usage of a CA of the path does not allow it to sign certificates';
  const below = path.slice(1).filter(({ issuer: by, subject: of }) => !same(by, of)).length;
  if (issuer.pathLength !== null && below > issuer.pathLength)
    return 'a CA of the path allows fewer certificates below it';
  return nameProblem(issuer, path);
}

function timeProblem({ notBefore, notAfter }: Certificate, at: Date): string | null {
  if (at < notBefore) return 'a certificate of the path was not yet valid';
  if (at > notAfter) return 'a certificate of the path had expired';
  return null;
}

function extensionProblem({ extensions }: Certificate): string | null {
  for (const [id, { critical }] of extensions)
    if (critical && !understood.has(id))
      return `a certificate of the path has the critical extension ${id}, which is not supported`;
  return null;
}

function signatureProblem(subject: Certificate, issuer: Certificate, search: PathSearch): string | null {
  if (!signatures.has(subject.signatureAlgorithm) && !pssHashes.has(subject.pssHash ?? ''))
    return 'a certificate of the path is signed with an algorithm that is not accepted';
  try {
    const key = issuer.x509.publicKey;
    const work = signatureWork(key);
    if (work === null) return `a key of the path is not ${STRONG_KEYS}`;
    search.work += work;
    if (search.work > MAX_WORK) return 'checking the signatures of the path would take too long';
    if (subject.x509.verify(key)) return null;
  } catch {
    return 'a certificate of the path has a key that is not supported';
  }
  search.isForged = true;
  return 'a signature of the path is not valid';
}
