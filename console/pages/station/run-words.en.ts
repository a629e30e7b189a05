/** The words of a run in English. */
import type { Remark } from '../../../src/enrollment/line/events.ts';
import { grouped } from '../../text/numbers.ts';
import type { CheckName, Failure } from './verdict.ts';

/** The words for each entry of a set. */
type Words<K extends string> = Readonly<Record<K, string>>;

/** Every text in English. Other languages have the same entries: the type checker compares them. */
export const en = {
  stage: {
    empty: (person: string) => `Plug in a key for ${person}.`,
    checking: 'Checking the key … If it blinks, touch it.',
    pass: 'PASS',
    ready: (person: string) => `Unplug the key or press Enter: it will be bound to ${person}. Esc undoes.`,
    fail: 'FAIL',
    still: (person: string) => `Nothing is bound. ${person} still needs a key.`,
    committing: 'Binding …',
    away: 'The daemon does not answer. The binding is sent again when it does, once.',
    bound: 'BOUND',
    boundTo: (key: string, person: string) => `${key} is bound to ${person} and active.`,
    stop: 'STOP',
    crowded: 'Two keys are plugged in: nothing is bound. Remove both, or ignore one of them.',
    aside: 'A key is plugged in, and it is not known for whom. Unplug it and plug it in again, or scan a badge.',
    held: 'Nothing is bound until a valid badge is scanned or Esc is pressed.',
  },
  check: { serial: 'Serial number', type: 'Type', free: 'Free to be bound', proof: 'Proof' } satisfies Words<CheckName>,
  passed: 'pass',
  failed: 'fail',
  code: 'The key is registered, but not active. Its activation code, shown only here:',
  roster: {
    progress: (finished: number, all: number) => `${grouped(finished)} of ${grouped(all)} rows done`,
    skipped: (count: number) => `${grouped(count)} skipped`,
    waiting: 'Next',
    more: (count: number) => `and ${grouped(count)} more`,
  },
  failure: {
    unreadable: 'The serial number cannot be read.',
    'wrong type': 'The person gets a key of another type.',
    'counted before': 'This key was bound in this run before. Use another key.',
    'bound to another person': 'This key is already registered and bound to another person.',
    LOCKED: 'This key is already registered and locked.',
    DEACTIVATED: 'This key is already registered and retired.',
    'pulled too early': 'The key was unplugged before its check had ended. Plug it in again.',
    refused: 'The registry refuses it.',
    unproved: 'It does not prove what the registry requires:',
    'no answer': 'The daemon does not answer.',
  } satisfies Words<Failure>,
  said: {
    'two keys': 'Two new keys at once: nothing is bound.',
    undone: 'Undone: nothing was written. Unplug the key.',
    skipped: 'Skipped. A badge comes back to this person.',
    redo: 'Back to the last person. Unplug the key.',
    'redo of a binding': 'Back to the last person, for another key. The first key stays bound.',
    'nothing to redo': 'Only the last person can be done again, before the next key is bound.',
    'nothing to confirm': 'Nothing to confirm: no key has passed its check.',
    'nothing confirmed yet': 'Enter came right after another key: nothing is bound. Press Enter again.',
    'nothing to undo': 'Nothing to undo: what is bound is not undone here.',
    badge: 'Badge accepted.',
    'badge incomplete': 'The scan was incomplete: scan the badge again.',
    'unplugged during a scan': 'The key was unplugged during a scan: nothing is bound. Plug it in again.',
    'badge unknown': 'This is not a user id or a name that the bench knows.',
    'badge of several': 'Several people of the roster have this name: scan a user id.',
    'badge of a person who is done': 'This person has all keys of the roster.',
    lost: 'The connection was lost: nothing is bound. Plug the key in again.',
  } satisfies Words<Remark>,
  results: {
    title: 'Results',
    passed: 'passed',
    failed: 'failed',
    yield: 'yield',
    perHour: 'keys per hour',
    newest: 'The newest 20 results',
    time: 'Time',
    person: 'Person',
    serial: 'Serial number',
    device: 'Device',
    result: 'Result',
    bound: 'bound',
    download: 'Download as CSV',
    clear: 'Clear the results',
  },
};

/** What a run has as words, in each language. */
export type RunWords = typeof en;
