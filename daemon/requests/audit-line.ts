/** A journal entry as `daemon audit --json` writes it and as it is forwarded. */
import { deviceIds } from '../../src/contract/ids.ts';
import type { EventRecord } from '../store/journal.ts';
import type { Reader } from '../store/store.ts';

/** An entry of the journal for people and other programs. It has no activation code, password hash or token: no entry has. */
export interface AuditLine {
  readonly id: number;
  /** ISO 8601 UTC. */
  readonly timestamp: string;
  readonly type: string;
  /** Null if the entry is not about a device. */
  readonly deviceId: string | null;
  readonly serialNumber: string | null;
  /** Null if the daemon made the change. */
  readonly user: string | null;
  /** Null if no request caused the change. */
  readonly requestId: string | null;
  readonly details: Readonly<Record<string, unknown>>;
}

/** The line of an entry. Reads the serial number of its device. */
export async function toAuditLine(reader: Pick<Reader, 'device'>, record: EventRecord): Promise<AuditLine> {
  const device = record.device === null ? null : await reader.device(record.device);
  return {
    id: record.id,
    timestamp: new Date(record.at).toISOString(),
    type: record.type,
    deviceId: record.device === null ? null : deviceIds.format(record.device),
    serialNumber: device?.serialNumber ?? null,
    user: record.actor,
    requestId: record.requestId,
    details: { ...record.data, ...record.detail },
  };
}
