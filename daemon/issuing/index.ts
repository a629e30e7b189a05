import { subject } from '../store/subject.ts';
import type { CredentialChange } from './credential.ts';
import { pinAddition } from './pin-rules.ts';
import { type CredentialReads, credentialReads } from './reads.ts';
import { credentialChanges, credentialReplay } from './rules.ts';
import { credentials } from './tables.ts';

declare module '../store/document.ts' {
  interface SubjectDocuments {
    issuing: 'providers' | 'pin-policy' | `pin:${number}` | `reset:${number}`;
  }
}
declare module '../store/commit.ts' {
  interface SubjectChanges {
    issuing: CredentialChange;
  }
}
declare module '../store/store.ts' {
  interface SubjectReads extends CredentialReads {}
}

/** Credentials of devices at providers. */
export const issuing = subject({
  tables: [credentials],
  changes: credentialChanges,
  additions: { 'device.set': pinAddition },
  replays: () => [{ takes: 'credential', replay: credentialReplay() }],
  reads: credentialReads,
});
