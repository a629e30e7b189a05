/** Order of version numbers: numbers by value, pre-releases as in Semantic Versioning; build metadata is ignored. */

interface ParsedVersion {
  readonly numbers: readonly string[];
  /** Identifiers after the hyphen; null for a release. */
  readonly preRelease: readonly string[] | null;
}

/** Negative if `a` is older than `b`, 0 if neither is newer, positive if `a` is newer. `1` and `1.0.0` compare as equal. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [parse(a), parse(b)];
  const parts = Math.max(left.numbers.length, right.numbers.length);
  for (let i = 0; i < parts; i++) {
    const difference = compareNumbers(left.numbers[i] ?? '', right.numbers[i] ?? '');
    if (difference !== 0) return difference;
  }
  if (left.preRelease && right.preRelease) return comparePreReleases(left.preRelease, right.preRelease);
  return (left.preRelease ? 0 : 1) - (right.preRelease ? 0 : 1);
}

/** `version` has the form that the contract requires. */
function parse(version: string): ParsedVersion {
  const [, core = '', rest = ''] = /^([\d.]*)(.*)$/s.exec(version)!;
  const withoutBuild = rest.split('+', 1)[0]!;
  return {
    numbers: core.split('.'),
    preRelease: withoutBuild.startsWith('-') ? withoutBuild.slice(1).split('.') : null,
  };
}

function comparePreReleases(left: readonly string[], right: readonly string[]): number {
  for (let i = 0; i < left.length && i < right.length; i++) {
    const difference = compareIdentifiers(left[i]!, right[i]!);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

const digits = /^\d+$/;

/** Numbers sort by value and before words; words by code unit. */
function compareIdentifiers(left: string, right: string): number {
  const [leftIsNumber, rightIsNumber] = [digits.test(left), digits.test(right)];
  if (leftIsNumber !== rightIsNumber) return leftIsNumber ? -1 : 1;
  return leftIsNumber ? compareNumbers(left, right) : compareTexts(left, right);
}

/** Digits by value, at any length: a build timestamp can exceed the safe integers. An empty text is 0. */
function compareNumbers(left: string, right: string): number {
  const [a, b] = [left.replace(/^0+/, ''), right.replace(/^0+/, '')];
  return a.length - b.length || compareTexts(a, b);
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
