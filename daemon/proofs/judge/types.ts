/** Input and verdict of the judge of proofs. Bytes are raw here; the contract has them as base64url. */

import type { TrustPurpose } from '../../../src/contract/key-values.ts';
import type { Claims, Evidence, Proof } from '../../../src/contract/proof.ts';
import type { RuleName } from './rules.ts';

/** A certificate that an administrator imported. */
export interface TrustedCertificate {
  /** The certificate in DER. */
  readonly der: Uint8Array;
  /** SHA-256 of the DER, 64 lower-case hex digits. */
  readonly fingerprint: string;
  /** Name that administrators gave it, for example its vendor; empty if it has no name. */
  readonly label: string;
  readonly purpose: TrustPurpose;
}

/** A certificate to which a chain may lead. */
export interface TrustAnchor extends TrustedCertificate {
  /** With purpose fido: the AAGUIDs that it vouches for. Empty: it vouches for U2F keys, which have none. */
  readonly aaguids: readonly string[];
}

/** One report of the FIDO Alliance about a model. */
export interface StatusReport {
  /** `FIDO_CERTIFIED`, `REVOKED`, …; values that are unknown here are kept. */
  readonly status: string;
  /** ISO 8601 date from which it applies; null if the report has none. */
  readonly effectiveDate: string | null;
  /** SHA-256 of the certificate that the report is about, in hex; null if it is about the model. */
  readonly certificate: string | null;
  /** The version of the authenticator that it is about; for a compromise the first one that is affected. Absent: it names none. */
  readonly authenticatorVersion?: number;
}

/** Statement of the FIDO metadata about one model. */
export interface MetadataEntry {
  /** Null for U2F models. */
  readonly aaguid: string | null;
  /** U2F models: SHA-1 of the public keys of their attestation certificates, in hex. */
  readonly keyIdentifiers: readonly string[];
  readonly description: string;
  /** DER of the certificates to which attestations of this model lead, some of which are attestation certificates. */
  readonly anchors: readonly Uint8Array[];
  readonly statusReports: readonly StatusReport[];
  /** The earliest version that is to be trusted. Absent: the entry names none, or was imported by a release that did not read it. */
  readonly authenticatorVersion?: number;
}

/** An imported FIDO metadata BLOB. */
export interface Metadata {
  /** Number of the BLOB; it never goes down. */
  readonly number: number;
  /** ISO 8601 date on which the next BLOB was due. */
  readonly nextUpdate: string;
  readonly entries: readonly MetadataEntry[];
}

/** Where the judge looks up what the FIDO metadata states. */
export interface MetadataIndex {
  readonly number: number;
  readonly nextUpdate: string;
  /** The entry of an AAGUID in lower case. */
  byAaguid(aaguid: string): MetadataEntry | undefined;
  /** The entry of a U2F model; SHA-1 in hex of the public key of its attestation certificate. */
  byKeyIdentifier(keyIdentifier: string): MetadataEntry | undefined;
}

/** Everything that the registry trusts. */
export interface Trust {
  readonly anchors: readonly TrustAnchor[];
  /** Certificates between a leaf and an anchor that chains may lack. They are not trusted on their own. */
  readonly intermediates: readonly TrustedCertificate[];
  /** Null if no metadata was imported. */
  readonly metadata: MetadataIndex | null;
}

/** Challenge of the registry, with its time. */
export interface Question {
  readonly serialNumber: string;
  /** 32 random bytes. */
  readonly challenge: Uint8Array;
  readonly registryId: string;
  /** Private scalar of the ephemeral P-256 key, 32 bytes. */
  readonly ephemeralPrivateKey: Uint8Array;
  readonly trust: Trust;
  /** Manufacturer and model as registered or as the key reports them; only advisories are looked up by it. */
  readonly described?: string;
  /** Firmware as the key reports it. It counts only against the key: firmware that is older than a correction. */
  readonly claimedFirmware?: string;
  /** Whether the evidence with this `evidenceDigest` was received before, for another challenge. */
  readonly replayed?: boolean;
  /** When the evidence was received: certificates must be valid at that time. */
  readonly provedAt: Date;
  /** When the evidence is judged: metadata may be out of date by then. */
  readonly now: Date;
}

/** Verdict of the judge. */
export interface Verdict {
  readonly proof: Proof;
  /** Name of the rule that the evidence did not fulfil, for example `scp11b-receipt`; null if it fulfilled all of them. */
  readonly rule: RuleName | null;
  /** One sentence that explains why; null if `rule` is. It is also the first warning of the proof. */
  readonly reason: string | null;
}

/** Answer of a key. `evidence` is null if it only made claims. */
export interface Answer {
  readonly claims: Claims;
  readonly evidence: Evidence | null;
}
