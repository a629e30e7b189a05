import type { DeviceChange } from '../devices/records.ts';
import { subject } from '../store/subject.ts';
import { documentVersion } from '../store/tables.ts';
import { Documents, documentChanges } from '../store/write/documents.ts';
import type { ChangeAddition } from '../store/write/rule.ts';
import type { CredentialChange } from './credential.ts';
import { pinDocument, setPin } from './pin.ts';
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

/** With the device, its PIN is removed. */
const pinAddition: ChangeAddition<Extract<DeviceChange, { readonly kind: 'device.set' }>> = {
  needs({ device, set }, wanted) {
    if (set.status === 'DEACTIVATED') wanted.add(documentVersion, pinDocument(device));
  },
  follow(draft, { device, set }, context) {
    if (set.status !== 'DEACTIVATED') return;
    const version = draft.part(Documents).version(pinDocument(device));
    if (version === 0) return;
    const removed = setPin(device, version, null, { type: 'PIN_REMOVED', detail: { reason: 'deactivated' } });
    documentChanges['document.set'].apply(draft, removed, context);
  },
};

/** Credentials of devices at providers. */
export const issuing = subject({
  tables: [credentials],
  changes: credentialChanges,
  additions: { 'device.set': pinAddition },
  replays: () => [{ takes: 'credential', replay: credentialReplay() }],
  reads: credentialReads,
});
