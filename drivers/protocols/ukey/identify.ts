/** Finds out which key this is: asks it in its own protocol where it has one, then takes what its USB descriptor says. */
import { HardwareError } from '../../driver.ts';
import type { CardConnection, FeatureConnection, ReportConnection } from './connection.ts';
import { judgeSerial, NO_SERIAL, type SerialVerdict } from './serial.ts';
import { type Answer, type Source, sourcesFor } from './sources.ts';

export interface Closable {
  close(): Promise<void>;
}

/** A key as the transport shows it. The openers are null where that side of the key is not there (yet). */
export interface KeyView {
  /** USB ids as four lower-case hex digits. */
  readonly vendorId: string;
  readonly productId: string;
  readonly descriptorSerial: string | null;
  /** Its sides come one after the other: while a better one is missing, no lesser one is asked. */
  readonly appearing?: boolean;
  readonly openFido: ((signal: AbortSignal) => Promise<ReportConnection & Closable>) | null;
  readonly openOtp: ((signal: AbortSignal) => Promise<FeatureConnection & Closable>) | null;
  readonly openCard: ((signal: AbortSignal) => Promise<CardConnection & Closable>) | null;
}

export interface Identity {
  readonly verdict: SerialVerdict;
  /** Where the serial came from; null where there is none. */
  readonly source: string | null;
  readonly firmwareVersion: string | null;
  /**
   * Why another look may tell more, or tell it from a better source: a side of the key that is not there or may not be opened (`no-permission`), another
   * program that holds it (`busy`), no answer (`timeout`), a wrong one (`protocol`), a key that seems pulled
   * (`removed`). Null where this is the last word.
   */
  readonly unsettled: HardwareError | null;
  /** The serial is the descriptor's, and the key may yet give another as its own. */
  readonly provisional: boolean;
}

/**
 * Asks a key for its serial. Rejects with HardwareError `aborted` alone; every other failure is part of the answer. `limit` is the time for one source in milliseconds.
 */
export async function identify(key: KeyView, signal: AbortSignal, limit: number): Promise<Identity> {
  let unsettled: HardwareError | null = null;
  let firmwareVersion: string | null = null;
  let refused: Identity | null = null;
  let provisional = false;
  const answered = new Set<Source['name']>();
  for (const source of sourcesFor(key.vendorId, key.productId)) {
    if (answered.has(source.name)) continue;
    const outcome = await ask(source, key, signal, limit);
    if (outcome instanceof HardwareError) {
      unsettled ??= outcome;
      provisional ||= source.renames === true;
      if (key.appearing === true && outcome.code === 'unavailable') break;
      continue;
    }
    if (outcome.conclusive === true) answered.add(source.name);
    firmwareVersion ??= outcome.firmwareVersion;
    if (outcome.serial === null) continue;
    const verdict = judgeSerial(outcome.serial, key.vendorId, key.productId);
    const identity = { verdict, source: source.name, firmwareVersion, unsettled, provisional: false };
    if (verdict.serial !== null) return identity;
    refused ??= identity;
  }
  if (refused !== null) return refused;
  const verdict = fromDescriptor(key);
  return {
    verdict,
    source: verdict.serial === null ? null : 'usb-descriptor',
    firmwareVersion: firmwareVersion ?? verdict.firmwareVersion,
    unsettled,
    provisional: provisional && verdict.serial !== null,
  };
}

async function ask(source: Source, key: KeyView, signal: AbortSignal, limit: number): Promise<Answer | HardwareError> {
  try {
    return await source.read(key, signal, limit);
  } catch (error) {
    if (!(error instanceof HardwareError)) return new HardwareError('protocol', `${source.name}: ${String(error)}`);
    if (signal.aborted || error.code === 'aborted') throw error;
    return error;
  }
}

/**
 * A YubiKey whose serial is made visible in the descriptor pads it with zeros to a fixed length, in its own protocol it
 * does not: one key would have two names.
 */
function fromDescriptor(key: KeyView): SerialVerdict {
  const given = key.descriptorSerial;
  const unpadded = key.vendorId === '1050' ? withoutPadding(given?.trim() ?? null) : given;
  if (unpadded === null) return { serial: null, firmwareVersion: null, problem: NO_SERIAL };
  return judgeSerial(unpadded, key.vendorId, key.productId);
}

/** Digits without the zeros before them; any other text as it is. */
function withoutPadding(serial: string | null): string | null {
  return serial !== null && /^\d+$/.test(serial) ? serial.replace(/^0+(?=\d)/, '') : serial;
}
