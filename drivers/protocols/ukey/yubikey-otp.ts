/** YubiKeys asked through the feature reports of their OTP side: the one way into keys without FIDO. */
import { HardwareError } from '../../driver.ts';
import { pause } from '../deadline.ts';
import { OtpReply, toReports, versionOf } from '../otp-reports.ts';
import type { FeatureConnection } from './connection.ts';
import type { Answer } from './sources.ts';
import { serialOf } from './yubikey-config.ts';

const SLOT_SERIAL = 0x10;
const SERIAL_BYTES = 4;
const BUSY = 0x80;
const FLAGS_AT = 7;
const RESET = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0xff);
const POLL_PAUSE = 20;
/** Polls before the key is taken for one that is busy without end; the signal usually comes first. */
const MOST_POLLS = 500;

/** Fails with a HardwareError. */
export async function askYubiKeyOtp(connection: FeatureConnection, signal: AbortSignal): Promise<Answer> {
  const firmwareVersion = versionOf(await connection.getFeature(signal));
  for (const report of toReports(SLOT_SERIAL, new Uint8Array())) {
    await untilFree(connection, signal);
    await connection.sendFeature(report, signal);
  }
  const reply = await readReply(connection, signal);
  return { serial: reply === null ? null : serialOf(reply), firmwareVersion };
}

async function untilFree(connection: FeatureConnection, signal: AbortSignal): Promise<void> {
  for (let poll = 0; poll < MOST_POLLS; poll += 1) {
    const report = await connection.getFeature(signal);
    if (((report[FLAGS_AT] ?? 0) & BUSY) === 0) return;
    await pause(POLL_PAUSE, signal);
  }
  throw new HardwareError('busy', 'the OTP side of the key stays busy');
}

async function readReply(connection: FeatureConnection, signal: AbortSignal): Promise<Uint8Array | null> {
  const reply = new OtpReply(SERIAL_BYTES);
  for (let poll = 0; poll < MOST_POLLS; poll += 1) {
    const state = reply.add(await connection.getFeature(signal));
    if (state === 'none') return null;
    if (state === 'whole') {
      await connection.sendFeature(RESET, signal);
      return reply.data();
    }
    if (state === 'wait') await pause(POLL_PAUSE, signal);
  }
  throw new HardwareError('protocol', 'the OTP side of the key answers without end');
}
