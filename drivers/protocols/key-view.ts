import type { KeyType } from '../driver.ts';
import type { CardConnection, Closable, FeatureConnection, ReportConnection } from './connection.ts';

/** Opens one interface of a key. Fails with a HardwareError. */
export type Opener<C> = (signal: AbortSignal) => Promise<C & Closable>;

/** A USB key as its transport shows it. An opener is null if the key does not have that interface (yet). */
export interface KeyView {
  /** USB ids as four lower-case hex digits. */
  readonly vendorId: string;
  readonly productId: string;
  /** Serial of the USB descriptor; null if it has none. */
  readonly descriptorSerial: string | null;
  /** The key was just plugged in and its interfaces appear one by one: while a better one is missing, no other is used. */
  readonly appearing?: boolean;
  readonly openFido: Opener<ReportConnection> | null;
  readonly openOtp: Opener<FeatureConnection> | null;
  readonly openCard: Opener<CardConnection> | null;
}

/** Claims of a key over one of its interfaces. */
export interface KeyReport {
  /** As the key reports it; null if it reports that it has none. */
  readonly serial: string | null;
  readonly firmwareVersion: string | null;
  /** The key understood the command: the same source gives no other result over another interface. */
  readonly conclusive?: boolean;
}

/** Claims of a card; null for those that it does not make. */
export interface CardIdentity {
  readonly deviceType: KeyType;
  /** Null if the card reports no serial; `problem` then explains why and what to do. */
  readonly serialNumber: string | null;
  /** Name of the source that reported the serial. */
  readonly serialSource: string | null;
  readonly manufacturer: string | null;
  readonly model: string | null;
  readonly firmwareVersion: string | null;
  readonly problem: string | null;
  /** Worth a line in the log, but not a reason to refuse the card. */
  readonly remark: string | null;
}
