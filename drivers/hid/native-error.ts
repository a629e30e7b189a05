/** Turns the failures of node-hid (errors, strings, texts without codes) into HardwareErrors. */
import { HardwareError, type HardwareErrorCode } from '../driver.ts';
import { cleanText } from '../text.ts';

/** The text of anything that was thrown, without paths of the operating system. */
export function errorText(error: unknown): string {
  const raw = error instanceof Error ? error.message : String(error);
  const pathless = raw.replace(/(?:with path )?(?:\/dev\/[^\s:',]+|\\\\[?.]\\\S+)/g, '').replace(/''/g, '');
  return cleanText(pathless) ?? 'unknown error';
}

/** node-hid passes on the texts of the operating systems and has no codes. */
const CODES: readonly [RegExp, HardwareErrorCode][] = [
  [/permission denied|not permitted|access is denied|not privileged/i, 'no-permission'],
  [/no such (?:file|device)|not connected|disconnected|has been (?:closed|removed)|not exist/i, 'removed'],
  [/busy|exclusive|sharing violation/i, 'busy'],
];

/** The failure of node-hid while `what` was being done. A HardwareError is returned unchanged. */
export function hardwareError(error: unknown, what: string): HardwareError {
  if (error instanceof HardwareError) return error;
  const text = errorText(error);
  const code = CODES.find(([pattern]) => pattern.test(text))?.[1] ?? 'protocol';
  return new HardwareError(code, `${what}: ${text}`, { cause: error });
}
