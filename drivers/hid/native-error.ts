/** What node-hid fails with (errors, strings, texts without codes) in the driver's own words. */
import { HardwareError, type HardwareErrorCode } from '../driver.ts';
import { cleanText } from '../text.ts';

/** The text of whatever was thrown, without paths of the operating system. */
export function errorText(error: unknown): string {
  const raw = error instanceof Error ? error.message : String(error);
  const pathless = raw.replace(/(?:with path )?(?:\/dev\/[^\s:',]+|\\\\[?.]\\\S+)/g, '').replace(/''/g, '');
  return cleanText(pathless) ?? 'unknown error';
}

const CODES: readonly [RegExp, HardwareErrorCode][] = [
  [/permission denied|not permitted|access is denied|not privileged/i, 'no-permission'],
  [/no such (?:file|device)|not connected|disconnected|has been (?:closed|removed)|not exist/i, 'removed'],
  [/busy|exclusive|sharing violation/i, 'busy'],
];

/** `what` was being done when node-hid failed. An error that is a HardwareError already comes back as it is. */
export function hardwareError(error: unknown, what: string): HardwareError {
  if (error instanceof HardwareError) return error;
  const text = errorText(error);
  const code = CODES.find(([pattern]) => pattern.test(text))?.[1] ?? 'protocol';
  return new HardwareError(code, `${what}: ${text}`, { cause: error });
}
