/** The words of the bench in English. */
import { grouped } from '../../text/numbers.ts';

/** Every text in English. Other languages have the same entries: the type checker compares them. */
export const en = {
  title: 'Bench',
  intro: 'A person, a key, unplug: the key is registered and activated for the person.',
  sound: 'Sound',
  notAllowed: 'Your role allows you to look, not to enroll keys. An administrator can give you the role DEALER.',
  elsewhere: {
    none: 'This daemon does not look for keys: it was started for the registry alone.',
    unavailable: 'This daemon finds no keys on its machine:',
    command: 'At the station where keys are plugged in, enroll with the command line:',
    again: 'Look again',
  },
  call: { roster: 'User id or name', open: 'User id of the person', submit: 'Call', hint: 'Type it, or scan a badge.' },
  stage: {
    label: 'Key and person',
    unnamed: 'Scan a badge or type a person',
    all: 'All people of the roster have their keys',
    keyOf: (number: number, all: number) => `key ${grouped(number)} of ${grouped(all)}`,
    emptyOpen: 'Then plug in the key.',
    wait: 'WAIT',
    asideOpen: 'A key is plugged in. Scan the badge of its person, or type the person.',
    bind: 'Bind (Enter)',
    undo: 'Undo (Esc)',
    skip: 'Skip this person',
    redo: 'Back to the last person',
    ignore: 'Ignore',
    ignoreKey: (key: string) => `Ignore ${key}`,
    ignored: (count: number) => `Ignored until unplugged: ${grouped(count)}`,
    unreadable: 'key without a readable serial number',
    unregistered: 'not registered',
    keys: 'Keys that are plugged in',
    simulated: 'simulated',
  },
  roster: {
    title: 'Roster',
    file: 'CSV file with the columns userId, name, count and type',
    hint: 'Only userId is required. The file is read in this browser and sent nowhere.',
    remove: 'Remove the roster',
  },
};

/** What the page has as words, in each language. */
export type BenchWords = typeof en;
