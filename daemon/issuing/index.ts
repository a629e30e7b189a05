import { credentialIds, personIds } from '../../src/contract/ids.ts';
import type { DeviceChange } from '../devices/records.ts';
import type { Change } from '../store/commit.ts';
import { newSalt } from '../store/digest.ts';
import { subject } from '../store/subject.ts';
import { documentVersion } from '../store/tables.ts';
import { Documents, documentChanges } from '../store/write/documents.ts';
import type { ChangeAddition } from '../store/write/rule.ts';
import { type CredentialChange, credentialDigest } from './credential.ts';
import { pinDocument, setPin } from './pin.ts';
import { type CredentialReads, credentialReads } from './reads.ts';
import { credentialChanges, credentialReplay } from './rules.ts';
import { credentials, credentialsOf } from './tables.ts';

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

type PersonErase = Extract<Change, { readonly kind: 'person.erase' }>;

/** Account and label at the provider; the ids there are those of credentials, which it has removed. */
const credentialErasure: ChangeAddition<PersonErase> = {
  needs({ devices }, wanted) {
    for (const device of devices) wanted.add(credentialsOf, device);
  },
  follow(draft, { devices, person }, context) {
    const id = personIds.format(person);
    const records = draft.of(credentials);
    for (const before of devices.flatMap(device => records.all(credentialsOf, device))) {
      const salt = before.salt === null ? null : newSalt();
      const after = {
        ...before,
        account: id,
        label: id,
        begun: null,
        remoteId: null,
        salt,
        version: before.version + 1,
      };
      records.change(after);
      const detail = { credentialId: credentialIds.format(after.number), credentialDigest: credentialDigest(after) };
      draft.enter(context, { type: 'CREDENTIAL_ERASED', detail }, null, after.number);
    }
  },
};

/** Credentials of devices at providers. */
export const issuing = subject({
  tables: [credentials],
  changes: credentialChanges,
  additions: { 'device.set': pinAddition, 'person.erase': credentialErasure },
  replays: () => [{ takes: 'credential', replay: credentialReplay() }],
  reads: credentialReads,
});
