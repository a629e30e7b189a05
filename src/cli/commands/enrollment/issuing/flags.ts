import { pinBounds } from '../../../../contract/limits.ts';
import type { FlagShapes } from '../../../framework/flags.ts';

/** Flags of commands that issue keys. */
export const issueFlags = {
  for: { value: 'PROVIDER', many: true, offer: 'provider', help: 'provider by name or id' },
  pin: {
    value: 'KIND',
    help: 'PIN of the key: ask (default), random[:DIGITS] for a random first PIN that is stored encrypted, or none',
  },
  'pin-file': { value: 'FILE', offer: 'file', help: 'read the PIN from the first line of a file; - is standard input' },
  'change-pin': { help: 'the person must change the PIN before the first sign-in' },
  'min-pin': {
    value: 'N',
    whole: { min: pinBounds.least, max: pinBounds.most },
    help: 'characters that the key demands of each PIN from now on',
  },
} as const satisfies FlagShapes;
