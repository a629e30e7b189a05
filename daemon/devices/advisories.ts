/** Security advisories of makers as data, each with its source. To add one, add an item: nothing else knows them by name. */
import { compareFirmware } from './firmware.ts';

/** A family of keys that an advisory names. */
type Family = 'yubikey' | 'yubikey-fips' | 'yubikey-bio' | 'security-key';

/** Firmware versions of a family: from `from` (any if absent) to before `before`. */
interface Range {
  readonly families: readonly Family[];
  readonly from?: string;
  readonly before: string;
}

/** A security advisory. */
interface Advisory {
  readonly id: string;
  /** The possible harm, as a clause. */
  readonly summary: string;
  readonly source: string;
  readonly ranges: readonly Range[];
}

const yubikeys = ['yubikey', 'yubikey-fips'] as const;

/** All advisories that are known here. */
export const advisories: readonly Advisory[] = [
  {
    id: 'YSA-2024-03',
    summary: 'ECDSA keys can be read out by someone who has the key and laboratory equipment',
    source: 'https://www.yubico.com/support/security-advisories/ysa-2024-03/',
    ranges: [
      { families: [...yubikeys, 'security-key'], before: '5.7.0' },
      { families: ['yubikey-bio'], before: '5.7.2' },
    ],
  },
  {
    id: 'YSA-2019-02',
    summary: 'random numbers after power-up are partly predictable',
    source: 'https://www.yubico.com/support/security-advisories/ysa-2019-02/',
    // The advisory names 4.4.2 and 4.4.4; 4.4.3 was not released, and 4.4.5 has the correction.
    ranges: [{ families: ['yubikey-fips'], from: '4.4.2', before: '4.4.5' }],
  },
  {
    id: 'YSA-2017-01',
    summary: 'RSA keys that were generated on the key are weak (ROCA, CVE-2017-15361)',
    source: 'https://www.yubico.com/support/security-advisories/ysa-2017-01/',
    ranges: [{ families: [...yubikeys], from: '4.2.6', before: '4.3.5' }],
  },
  {
    id: 'YSA-2024-02',
    summary: 'the relying parties of FIDO credentials can be listed without the PIN',
    source: 'https://www.yubico.com/support/security-advisories/ysa-2024-02/',
    // Series 5 and later: earlier keys have no FIDO2.
    ranges: [
      { families: ['yubikey', 'security-key'], from: '5.0.0', before: '5.7.0' },
      { families: ['yubikey-fips'], from: '5.0.0', before: '5.7.2' },
      { families: ['yubikey-bio'], before: '5.6.4' },
    ],
  },
  {
    id: 'YSA-2025-02',
    summary: 'PIN/UV auth protocol two of FIDO checks only 16 of the 32 bytes of a signature',
    source: 'https://www.yubico.com/support/security-advisories/ysa-2025-02/',
    ranges: [{ families: [...yubikeys, 'security-key', 'yubikey-bio'], from: '5.4.1', before: '5.7.4' }],
  },
];

/** Facts about a key that its advisories depend on. */
interface AdvisorySubject {
  /** Names of the model, proved or reported; the first one that names a family counts. */
  readonly names: readonly string[];
  readonly fips: boolean;
  readonly firmware: string;
  /** Whether the evidence proves the firmware, or only the key reports it. */
  readonly basis: 'proved' | 'claimed';
}

/** One sentence for each advisory that applies; each begins with its id. */
export function advisoriesFor(subject: AdvisorySubject): string[] {
  const family = familyOf(subject);
  if (!family) return [];
  const basis = subject.basis === 'proved' ? 'proved' : 'as the key claims';
  return advisories
    .filter(({ ranges }) => ranges.some(range => range.families.includes(family) && isIn(subject.firmware, range)))
    .map(({ id, summary, source }) => `${id}: ${summary} (firmware ${subject.firmware}, ${basis}); ${source}`);
}

function isIn(firmware: string, { from, before }: Range): boolean {
  const afterBegin = from === undefined ? 0 : compareFirmware(firmware, from);
  const beforeEnd = compareFirmware(firmware, before);
  return afterBegin !== null && afterBegin >= 0 && beforeEnd !== null && beforeEnd < 0;
}

/** The family that the first telling name belongs to. NEO and other makers have none. */
function familyOf({ names, fips }: AdvisorySubject): Family | null {
  for (const name of names) {
    const text = name.toLowerCase();
    if (!text.includes('yubi') || text.includes('neo')) continue;
    if (text.includes('bio')) return 'yubikey-bio';
    if (text.includes('security key')) return 'security-key';
    if (text.includes('yubikey')) return fips || text.includes('fips') ? 'yubikey-fips' : 'yubikey';
  }
  return null;
}
