/** The flags of `enroll`. */
import { namesIn } from '../../../../contract/names.ts';
import { deviceTypes } from '../../../../contract/values.ts';
import { tagFlag } from '../../../framework/devices/tags.ts';
import { type FlagShapes, fileFlag } from '../../../framework/flags.ts';
import { tableFlags } from '../../../jobs/table-flags.ts';
import { issueFlags } from '../../issuing/flags.ts';
import { termsFlag } from '../../receipts/make.ts';
import { keyLabelFlags } from '../labels/flags.ts';

/** The flags, in the order of the help. */
export const enrollFlags = {
  station: {
    value: 'NAME',
    offer: 'station',
    supplies: true,
    help: 'use the flags of this station: devmgr config station',
  },
  count: {
    value: 'N',
    short: 'n',
    aliases: ['limit'],
    whole: { min: 1 },
    help: 'end after N keys, including those already in --out',
  },
  timeout: {
    value: 'SECONDS',
    whole: { min: 1 },
    help: 'stop if no key is plugged in within this time; exit code 10 if none was enrolled',
  },
  type: { value: 'TYPE', choices: deviceTypes, help: 'only keys of this type' },
  manufacturer: { value: 'NAME', offer: 'manufacturer', help: 'manufacturer to register with' },
  model: { value: 'NAME', help: 'model to register with' },
  'activate-for': { value: 'USER', offer: 'holder', help: 'activate each key for this user' },
  roster: fileFlag('enroll a key for each person in this list: an export of any system, or CSV'),
  group: {
    value: 'NAME',
    conflicts: ['roster'],
    help: 'enroll a key for each active member of this group',
  },
  ...tableFlags('roster'),
  bell: { help: 'with a roster: ring once if a key passes, twice if it fails' },
  big: { help: 'with a roster: show the name of the person in large letters' },
  redeliver: {
    value: 'FILE',
    offer: 'file',
    conflicts: namesIn('count timeout activate-for roster group prove require-proof tag spool label out'),
    help: 'register and activate again the keys in these results that the registry lacks, for example after a restore; no key is plugged in',
  },
  again: {
    conflicts: ['redeliver'],
    help: 'give another key to a person who has one that this run does not count, or whose last key is unfinished',
  },
  'skip-attached': { help: 'skip keys that are attached at the start' },
  prove: { help: 'ask each key for a proof; some keys blink and wait for a touch' },
  'require-proof': {
    value: 'GRADE',
    choices: ['model', 'unit'],
    help: 'prove each key, and register it only if its proof has at least this grade',
  },
  receipt: {
    conflicts: ['spool', 'dry-run', 'redeliver'],
    help: 'have each key sign a handover receipt when it is bound to a person (two touches)',
  },
  terms: { ...termsFlag, needs: 'receipt' },
  provider: {
    ...issueFlags.provider,
    conflicts: ['spool', 'dry-run', 'redeliver'],
    help: 'let the key of each person sign in at this provider; see keys issue',
  },
  pin: { ...issueFlags.pin, help: 'PIN of the key: ask (default), random[:DIGITS] or none', needs: 'provider' },
  'pin-file': { ...issueFlags['pin-file'], needs: 'provider', conflicts: ['roster', 'group'] },
  'change-pin': { ...issueFlags['change-pin'], needs: 'provider' },
  'min-pin': { ...issueFlags['min-pin'], needs: 'provider' },
  printed: {
    value: 'NUMBER',
    conflicts: ['redeliver', 'roster', 'group'],
    help: 'serial number of a key that reports none, as printed on it; asked for at a terminal',
  },
  'was-reset': {
    needs: 'printed',
    help: 'the key was reset elsewhere and has lost its credential: it gets a new one (ADMIN)',
  },
  number: {
    value: 'auto',
    choices: ['auto'],
    conflicts: ['printed', 'redeliver', 'roster', 'group'],
    help: 'a key that reports no serial number gets one from the registry; print it with --label',
  },
  tag: tagFlag('tag for each device, such as lot=7; can be repeated'),
  spool: {
    ...fileFlag('keep keys in this file while offline; see enroll spool'),
    conflicts: ['dry-run'],
  },
  ...keyLabelFlags,
  'dry-run': { help: 'show what would be done, and change nothing' },
  out: fileFlag('append the results to this file, CSV or JSON lines'),
} as const satisfies FlagShapes;
