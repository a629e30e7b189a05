/** The flags of `watch`, with and without a target. */
import { eventTypes } from '../../../contract/event-types.ts';
import { eventFlags } from '../../framework/devices/event-selection.ts';
import { type FlagShapes, type FlagValues, fileFlag } from '../../framework/flags.ts';

/** Which events, how they are shown, and the target that they are delivered to. */
export const watchFlags = {
  ...eventFlags,
  type: { ...eventFlags.type, choices: eventTypes },
  since: { ...eventFlags.since, help: `${eventFlags.since.help}; or: last` },
  timeout: { value: 'SECONDS', whole: { min: 1 }, help: 'stop if no event arrives within this time' },
  utc: { help: 'show times in UTC instead of local time' },
  exec: {
    value: 'PROGRAM',
    offer: 'file',
    help: 'run this program for each event, with the event as JSON on its standard input',
  },
  'forward-to': {
    value: 'URL',
    conflicts: ['exec'],
    help: 'post each event to this address, signed according to Standard Webhooks',
  },
  'secret-file': {
    ...fileFlag('file with the secret of the receiver (or DEVMGR_WEBHOOK_SECRET)'),
    needs: 'forward-to',
  },
  concurrency: {
    value: 'N',
    whole: { min: 1, max: 64 },
    needs: 'exec',
    help: 'number of programs to run at a time; events of one device stay in order (default: 1)',
  },
  retries: {
    value: 'N',
    whole: { min: 0 },
    help: 'retries for each event (default: 3; unlimited for --forward-to)',
  },
  'skip-failed': { help: 'continue with the next event if all attempts failed' },
  cursor: fileFlag('file that records which events were delivered'),
} as const satisfies FlagShapes;

/** The values of `watchFlags`. */
export type WatchValues = FlagValues<typeof watchFlags>;
