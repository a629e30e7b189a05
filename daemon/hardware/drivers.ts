import {
  createHidDriver,
  createPcscDriver,
  createSimulatedDriver,
  type Driver,
  type TrafficLine,
} from '../../drivers/index.ts';
import type { Logger } from '../base/logger.ts';
import { StartRefused } from '../base/start-refused.ts';
import type { DaemonSettings } from '../home/settings.ts';

/** The hardware drivers that the settings ask for. Throws `StartRefused` if `--ukey-match` is invalid. */
export function createDrivers(settings: DaemonSettings, log: Logger): Driver[] {
  const options = {
    notice: (message: string, detail?: Readonly<Record<string, unknown>>) => log.info({ ...detail }, message),
    ...(settings.traffic === 'off' ? {} : { traffic: (line: TrafficLine) => logTraffic(line, settings.traffic, log) }),
  };
  const drivers: Driver[] = [];
  if (settings.role === 'registry') return drivers;
  if (settings.simulateKeys > 0) drivers.push(createSimulatedDriver({ ...options, count: settings.simulateKeys }));
  if (!settings.hardware) return drivers;
  const pcsc = createPcscDriver(options);
  try {
    drivers.push(createHidDriver({ ...options, match: settings.ukeyMatch, keyCards: pcsc.keyCards }));
  } catch (error) {
    throw new StartRefused(
      2,
      `--ukey-match: ${(error as Error).message}`,
      'write vendor or vendor:product in hex, such as 096e:0850',
    );
  }
  drivers.push(pcsc);
  return drivers;
}

/** Bytes of a response that are logged if serial numbers must stay out of the log: enough to follow the protocol. */
const SHOWN = 4;

function logTraffic(
  { driver, keyId, direction, bytes }: TrafficLine,
  mode: DaemonSettings['traffic'],
  log: Logger,
): void {
  const hex = Buffer.from(bytes).toString('hex');
  const masked = mode === 'masked' && direction === 'in' && bytes.length > 2 * SHOWN;
  const shown = masked ? `${hex.slice(0, 2 * SHOWN)}…(${bytes.length} bytes)…${hex.slice(-4)}` : hex;
  log.info({ driver, keyId, direction, bytes: shown }, 'traffic');
}
