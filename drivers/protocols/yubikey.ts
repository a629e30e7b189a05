/**
 * The serial of a YubiKey, over each of its interfaces.
 * Source: Yubico/yubikey-manager (yubikit/management.py, yubikit/yubiotp.py).
 */
import { pause } from '../deadline.ts';
import { HardwareError } from '../hardware-error.ts';
import { commandApdu, query, selectApplication } from './apdu.ts';
import type { CardConnection, FeatureConnection, ReportConnection } from './connection.ts';
import { CtapHidChannel } from './ctaphid.ts';
import { CTAPHID, OTP_SERIAL } from './gate.ts';
import type { KeyReport } from './key-view.ts';
import { FLAG, FLAGS_AT, firmwareVersionOf, OtpAnswer, RESET_REPORT, toReports } from './otp-reports.ts';

/** Instruction of the management application; P1 is the page. */
const INS_READ_CONFIG = 0x1d;
/** Instruction of the OTP application; P1 is the slot command. */
const INS_OTP = 0x01;
/** Length of the serial over the OTP and the smart card interface. */
const SERIAL_BYTES = 4;
const MAX_SERIAL_BYTES = 8;

const MANAGEMENT_AID = 'A000000527471117';
const OTP_AID = 'A0000005272001';

const MAX_PAGES = 4;
const TAG_SERIAL = 0x02;
const TAG_VERSION = 0x05;
const TAG_MORE_PAGES = 0x10;

/** One page of the device configuration. */
interface YubiKeyConfig {
  /** Decimal, as printed on the key; null if the page has none. The Security Key series never has one. */
  readonly serial: string | null;
  /** Such as `5.4.3`; null if the page has none. */
  readonly firmwareVersion: string | null;
  readonly morePages: boolean;
}

/** Parses one page: a length byte, then tag-length-value triples. Throws HardwareError `protocol`. */
export function parseConfig(page: Uint8Array): YubiKeyConfig {
  const values = configValues(page);
  const version = values.get(TAG_VERSION);
  const serial = values.get(TAG_SERIAL);
  return {
    serial: serial === undefined ? null : parseSerial(serial),
    firmwareVersion: version?.length === 3 ? version.join('.') : null,
    morePages: values.get(TAG_MORE_PAGES)?.[0] === 1,
  };
}

/** The values of one page by their tags. Throws HardwareError `protocol`. */
export function configValues(page: Uint8Array): Map<number, Uint8Array> {
  const length = page[0];
  if (length === undefined || length > page.length - 1) {
    throw new HardwareError('protocol', 'the management response is shorter than its length byte');
  }
  return parseTlvs(page.subarray(1, 1 + length));
}

/** A big-endian number in decimal; null for zero, which means that the key has no serial. Throws HardwareError `protocol`. */
export function parseSerial(bytes: Uint8Array): string | null {
  if (bytes.length === 0 || bytes.length > MAX_SERIAL_BYTES) {
    throw new HardwareError('protocol', `the serial has ${bytes.length} bytes`);
  }
  const number = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  return number === 0n ? null : number.toString();
}

/** Tags and lengths of one byte. Throws HardwareError `protocol`. */
export function parseTlvs(bytes: Uint8Array): Map<number, Uint8Array> {
  const values = new Map<number, Uint8Array>();
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes[at]!;
    const length = bytes[at + 1];
    if (length === undefined || at + 2 + length > bytes.length) {
      throw new HardwareError('protocol', `value ${tag.toString(16)} of the management response is cut off`);
    }
    values.set(tag, bytes.subarray(at + 2, at + 2 + length));
    at += 2 + length;
  }
  return values;
}

/** All values of the configuration by their tags; those of a later page count. Empty if the key does not support the command. */
export async function readConfigValues(
  readPage: (page: number) => Promise<Uint8Array | null>,
): Promise<Map<number, Uint8Array>> {
  const values = new Map<number, Uint8Array>();
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const bytes = await readPage(page);
    if (bytes === null) break;
    for (const [tag, value] of configValues(bytes)) values.set(tag, value);
    if (values.get(TAG_MORE_PAGES)?.[0] !== 1) break;
    values.delete(TAG_MORE_PAGES);
  }
  return values;
}

/** Page by page over CTAPHID; empty for firmware before 4.1, which does not know the command. */
export function fidoConfigPages(channel: CtapHidChannel, signal: AbortSignal) {
  const { major, minor } = channel.device;
  const old = major < 4 || (major === 4 && minor < 1);
  return async (page: number): Promise<Uint8Array | null> =>
    old ? null : channel.call(CTAPHID.YUBIKEY_READ_CONFIG, Uint8Array.of(page), signal);
}

/** Page by page over the management application of the smart card; null if the key does not have it. */
export async function cardConfigPages(card: CardConnection, signal: AbortSignal) {
  if ((await query(card, selectApplication(MANAGEMENT_AID), signal)) === null) return null;
  return (page: number) => query(card, commandApdu({ ins: INS_READ_CONFIG, p1: page }), signal);
}

/** Over CTAPHID. Keys with firmware before 4.1 do not support the command and are not asked. Fails with a HardwareError. */
export async function readYubiKeyFido(connection: ReportConnection, signal: AbortSignal): Promise<KeyReport> {
  const channel = await CtapHidChannel.open(connection, signal);
  const { major, minor, build } = channel.device;
  const firmwareVersion = `${major}.${minor}.${build}`;
  return readConfig(fidoConfigPages(channel, signal), firmwareVersion);
}

/** Over the smart card: the management application, on older keys the OTP application. Fails with a HardwareError. */
export async function readYubiKeyCard(card: CardConnection, signal: AbortSignal): Promise<KeyReport> {
  const readPage = await cardConfigPages(card, signal);
  const report: KeyReport = readPage === null ? NOTHING : await readConfig(readPage, null);
  if (report.serial !== null || (await query(card, selectApplication(OTP_AID), signal)) === null) return report;
  const serial = await query(card, commandApdu({ ins: INS_OTP, p1: OTP_SERIAL }), signal);
  return { ...report, serial: serial === null ? null : parseSerial(serial) };
}

const NOTHING: KeyReport = { serial: null, firmwareVersion: null };

async function readConfig(
  readPage: (page: number) => Promise<Uint8Array | null>,
  firmware: string | null,
): Promise<KeyReport> {
  let firmwareVersion = firmware;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const bytes = await readPage(page);
    if (bytes === null) break;
    const config = parseConfig(bytes);
    firmwareVersion = config.firmwareVersion ?? firmwareVersion;
    if (config.serial !== null) return { serial: config.serial, firmwareVersion };
    if (!config.morePages) return { serial: null, firmwareVersion, conclusive: true };
  }
  return { serial: null, firmwareVersion };
}

/** Milliseconds between two reads while the OTP interface is busy. */
const POLL_PAUSE = 20;
/** Reads before the key counts as busy for ever. Usually the signal comes first. */
const MAX_POLLS = 500;

/** Over the feature reports of the OTP interface: the only way for keys without FIDO. Fails with a HardwareError. */
export async function readYubiKeyOtp(connection: FeatureConnection, signal: AbortSignal): Promise<KeyReport> {
  const firmwareVersion = firmwareVersionOf(await connection.getFeature(signal));
  for (const report of toReports(OTP_SERIAL, new Uint8Array())) {
    await untilReady(connection, signal);
    await connection.sendFeature(report, signal);
  }
  const answer = await readAnswer(connection, signal);
  return { serial: answer === null ? null : parseSerial(answer), firmwareVersion };
}

async function untilReady(connection: FeatureConnection, signal: AbortSignal): Promise<void> {
  for (let poll = 0; poll < MAX_POLLS; poll += 1) {
    const report = await connection.getFeature(signal);
    if (((report[FLAGS_AT] ?? 0) & FLAG.WRITE_PENDING) === 0) return;
    await pause(POLL_PAUSE, signal);
  }
  throw new HardwareError('busy', 'the OTP interface of the key stays busy');
}

async function readAnswer(connection: FeatureConnection, signal: AbortSignal): Promise<Uint8Array | null> {
  const answer = new OtpAnswer(SERIAL_BYTES);
  for (let poll = 0; poll < MAX_POLLS; poll += 1) {
    const progress = answer.add(await connection.getFeature(signal));
    if (progress === 'none') return null;
    if (progress === 'complete') {
      await connection.sendFeature(RESET_REPORT, signal);
      return answer.data();
    }
    if (progress === 'wait') await pause(POLL_PAUSE, signal);
  }
  throw new HardwareError('protocol', 'the OTP interface of the key answers without end');
}
