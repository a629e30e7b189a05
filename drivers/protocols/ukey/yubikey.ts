/** YubiKeys, asked through CTAPHID or through their smart card side. */

import { select, transmitOk } from '../apdu.ts';
import { CtapHid } from '../ctaphid.ts';
import type { CardConnection, ReportConnection } from './connection.ts';
import type { Answer } from './sources.ts';
import { parseConfig, serialOf } from './yubikey-config.ts';

const READ_CONFIG = 0x42;
const MOST_PAGES = 4;
const MANAGEMENT_APPLET = 'a000000527471117';
const OTP_APPLET = 'a0000005272001';

type ReadPage = (page: number) => Promise<Uint8Array | null>;

async function readConfig(readPage: ReadPage, firmware: string | null): Promise<Answer> {
  let firmwareVersion = firmware;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const bytes = await readPage(page);
    if (bytes === null) break;
    const config = parseConfig(bytes);
    firmwareVersion = config.firmwareVersion ?? firmwareVersion;
    if (config.serial !== null) return { serial: config.serial, firmwareVersion };
    if (!config.morePages) return { serial: null, firmwareVersion, conclusive: true };
  }
  return { serial: null, firmwareVersion };
}

/** Over CTAPHID; keys before 4.1 do not know the command and are not asked. Fails with a HardwareError. */
export async function askYubiKeyFido(connection: ReportConnection, signal: AbortSignal): Promise<Answer> {
  const channel = await CtapHid.open(connection, signal);
  const { major, minor, build } = channel.device;
  const firmwareVersion = `${major}.${minor}.${build}`;
  if (major < 4 || (major === 4 && minor < 1)) return { serial: null, firmwareVersion };
  return readConfig(page => channel.call(READ_CONFIG, Uint8Array.of(page), signal), firmwareVersion);
}

/** Over the smart card side: the management applet, on older keys the OTP applet. Fails with a HardwareError. */
export async function askYubiKeyCard(card: CardConnection, signal: AbortSignal): Promise<Answer> {
  if ((await select(card, MANAGEMENT_APPLET, signal)) !== null) {
    const answer = await readConfig(page => transmitOk(card, Uint8Array.of(0, 0x1d, page, 0), signal), null);
    if (answer.serial !== null) return answer;
  }
  const bytes =
    (await select(card, OTP_APPLET, signal)) && (await transmitOk(card, Uint8Array.of(0, 1, 0x10, 0), signal));
  return { serial: bytes === null ? null : serialOf(bytes), firmwareVersion: null };
}
