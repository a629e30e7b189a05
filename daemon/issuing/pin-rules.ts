/** A device that is retired needs no PIN. */
import type { DeviceChange } from '../devices/records.ts';
import { documentVersion } from '../store/tables.ts';
import { Documents, documentChanges } from '../store/write/documents.ts';
import type { ChangeAddition } from '../store/write/rule.ts';
import { pinDocument, setPin } from './pin.ts';

/** With the device, its PIN is removed. */
export const pinAddition: ChangeAddition<Extract<DeviceChange, { readonly kind: 'device.set' }>> = {
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
