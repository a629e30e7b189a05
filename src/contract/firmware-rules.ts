/** A rule of the least firmware as a line of text: `VERSION` for all keys, or `NAME=VERSION`. */
import type { ProofPolicy } from './proof.ts';

/** The least firmware of some keys, or of all. */
export type FirmwareRule = ProofPolicy['leastFirmware'][number];

/** An AAGUID, in either case. */
export const aaguidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The rule in a line: NAME is an AAGUID, else how the name of a model begins. Null if a part is missing; the daemon checks the version. */
export function firmwareRuleOf(text: string): FirmwareRule | null {
  const at = text.lastIndexOf('=');
  const version = text.slice(at + 1).trim();
  const name = text.slice(0, Math.max(at, 0)).trim();
  if (version === '' || (at >= 0 && name === '')) return null;
  if (name === '') return { version };
  return aaguidForm.test(name) ? { aaguid: name.toLowerCase(), version } : { model: name, version };
}

/** The line of a rule. One with an AAGUID and a model is shown with the AAGUID. */
export function firmwareRuleText({ aaguid, model, version }: FirmwareRule): string {
  const name = aaguid ?? model;
  return name === undefined ? version : `${name}=${version}`;
}
