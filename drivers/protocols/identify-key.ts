/** Reads the serial of a USB key: with the maker's own protocol if there is one, else from the USB descriptor. */
import { HardwareError } from '../hardware-error.ts';
import { VENDOR } from '../usb/ids.ts';
import { type KeySerialSource, serialSourcesFor } from './key-sources.ts';
import type { KeyReport, KeyView } from './key-view.ts';
import { judgeSerial, type SerialVerdict } from './serial.ts';

/** Facts that could be read from a key. */
export interface KeyIdentity {
  readonly verdict: SerialVerdict;
  /** Name of the source of the serial; null if there is none. */
  readonly source: string | null;
  readonly firmwareVersion: string | null;
  /**
   * Why another attempt may find a serial, or one from a better source: an interface is missing (`unavailable`) or may not
   * be opened (`no-permission`), another program holds the key (`busy`), no answer (`timeout`), an invalid one
   * (`protocol`), the key seems unplugged (`removed`). Null if the result is final.
   */
  readonly unsettled: HardwareError | null;
  /** The serial is that of the descriptor, and the key may still report another one. */
  readonly provisional: boolean;
}

/**
 * Reads the serial of a key. `limit` is the time for one source in milliseconds. Rejects only with HardwareError `aborted`;
 * every other failure is part of the result.
 */
export async function identifyKey(key: KeyView, signal: AbortSignal, limit: number): Promise<KeyIdentity> {
  let unsettled: HardwareError | null = null;
  let firmwareVersion: string | null = null;
  let refused: KeyIdentity | null = null;
  let provisional = false;
  const conclusive = new Set<KeySerialSource['name']>();
  for (const source of serialSourcesFor(key.vendorId, key.productId)) {
    if (conclusive.has(source.name)) continue;
    const report = await attempt(source, key, signal, limit);
    if (report instanceof HardwareError) {
      unsettled ??= report;
      provisional ||= source.differsFromDescriptor === true;
      if (key.appearing === true && report.code === 'unavailable') break;
      continue;
    }
    if (report.conclusive === true) conclusive.add(source.name);
    firmwareVersion ??= report.firmwareVersion;
    if (report.serial === null) continue;
    const verdict = judgeSerial(report.serial, key.vendorId, key.productId, 'maker');
    const identity = { verdict, source: source.name, firmwareVersion, unsettled, provisional: false };
    if (verdict.serial !== null) return identity;
    refused ??= identity;
  }
  if (refused !== null) return refused;
  const verdict = judgeSerial(
    descriptorSerial(key),
    key.vendorId,
    key.productId,
    isMakers(key) ? 'maker' : 'descriptor',
  );
  // A key that may not be opened cannot be recognized or proved either: that is the reason, for keys of every maker.
  if (verdict.serial === null && unsettled === null) unsettled = await unopened(key, signal);
  return {
    verdict,
    source: verdict.serial === null ? null : 'usb-descriptor',
    firmwareVersion: firmwareVersion ?? verdict.firmwareVersion,
    unsettled,
    provisional: provisional && verdict.serial !== null,
  };
}

/** Why the FIDO interface may not be opened; null if it may, or if the key has none. */
async function unopened({ openFido }: KeyView, signal: AbortSignal): Promise<HardwareError | null> {
  const failure = await openFido?.(signal).then(
    connection => connection.close().then(() => null),
    error => error,
  );
  return failure instanceof HardwareError && failure.code === 'no-permission' ? failure : null;
}

async function attempt(
  source: KeySerialSource,
  key: KeyView,
  signal: AbortSignal,
  limit: number,
): Promise<KeyReport | HardwareError> {
  try {
    return await source.read(key, signal, limit);
  } catch (error) {
    if (!(error instanceof HardwareError)) return new HardwareError('protocol', `${source.name}: ${String(error)}`);
    if (signal.aborted || error.code === 'aborted') throw error;
    return error;
  }
}

/** Yubico puts the number of the unit into the descriptor. */
const isMakers = ({ vendorId }: KeyView): boolean => vendorId === VENDOR.YUBICO;

/** A YubiKey pads the serial in its descriptor with zeros, but not in its own protocol: one key would have two names. */
function descriptorSerial({ vendorId, descriptorSerial: serial }: KeyView): string | null {
  return vendorId === VENDOR.YUBICO ? withoutPadding(serial?.trim() ?? null) : serial;
}

/** Digits without their leading zeros; any other text unchanged. */
function withoutPadding(serial: string | null): string | null {
  return serial !== null && /^\d+$/.test(serial) ? serial.replace(/^0+(?=\d)/, '') : serial;
}
