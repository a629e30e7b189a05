/** Entries of a journal that no store has written. */
import type { EventRecord } from '../../daemon/store/journal.ts';

/** An entry with this id, about the device with the same number. */
export const entry = (id: number): EventRecord => ({
  id,
  at: 0,
  type: 'DEVICE_UNLOCKED',
  device: id,
  subject: null,
  actor: null,
  requestId: null,
  data: { deviceType: 'UKEY' },
  detail: {},
});
