import { pinBounds } from '../../../../contract/limits.ts';
import type { FlagShapes } from '../../../framework/flags.ts';

/** Flags of commands that issue keys. */
export const issueFlags = {
  for: { value: 'PROVIDER', many: true, offer: 'provider', help: 'provider by name or id' },
  pin: { value: 'KIND', help: 'ask (default), random[:DIGITS] for a first PIN that is sealed, or none to set none' },
  'pin-file': { value: 'FILE', offer: 'file', help: 'the PIN, first line of a file; - for standard input' },
  'change-pin': { help: 'the person has to change the PIN before it opens anything else' },
  'min-pin': {
    value: 'N',
    whole: { min: pinBounds.least, max: pinBounds.most },
    help: 'characters that the key demands of each PIN from now on',
  },
} as const satisfies FlagShapes;
