/** The messages of the line to its operator. */
import type { Remark } from '../../../../enrollment/line/events.ts';
import type { Person } from '../../../../enrollment/line/people.ts';

interface About {
  /** The person who is next, in words. */
  readonly who: string;
  /** The scan. */
  readonly text: string;
  /** The device that was bound last. */
  readonly deviceId: string | null;
  /** The file of the roster. */
  readonly roster: string;
}

const replug = 'Unplug the key; plug one in to continue';
const heldHint = 'Nothing is bound until a valid badge is scanned. Esc continues with the roster';

const remarks: Readonly<Record<Remark, (about: About) => string>> = {
  'two keys': () => 'two new keys at once: nothing is bound. Remove one of them',
  undone: ({ who }) => `undone: nothing was written. ${replug} for ${who}`,
  skipped: ({ who }) => `skipped ${who}. A later run with the same --out, or a badge, comes back to this person`,
  redo: ({ who }) => `back to ${who}. ${replug}`,
  'redo of a binding': ({ who, deviceId }) =>
    `back to ${who}, for another key. ${deviceId ?? 'The last key'} stays bound, because a binding cannot be undone here. To retire that key: devmgr deactivate`,
  'another key': ({ who }) =>
    `another key for ${who}: what this person has stays bound. To retire it: devmgr deactivate`,
  'nothing to redo': () =>
    'nothing to redo: only the last person can be repeated, and only before the next key is bound',
  'nothing to confirm': () => 'nothing to confirm: no key has passed its check',
  'nothing confirmed yet': () => 'Enter was pressed right after another keystroke: nothing is bound. Press Enter again',
  'nothing to undo': () => 'nothing to undo: a binding cannot be undone here',
  badge: ({ who }) => `badge of ${who}`,
  'badge incomplete': () => `the scan was incomplete: scan the badge again. ${heldHint}`,
  'unplugged during a scan': () => 'the key was unplugged during a scan: nothing is bound. Plug it in again',
  'badge unknown': ({ text, roster }) => `no person in ${roster} has the userId or name ${text}. ${heldHint}`,
  'badge of several': ({ text, roster }) =>
    `several people in ${roster} have the name ${text}: scan a userId. ${heldHint}`,
  'badge of a person who is done': ({ text }) => `${text} has all keys of the roster. ${heldHint}`,
  lost: () => 'the connection to the hardware service was lost: nothing is bound. Plug the key in again',
};

/** The remark in words; `person` is next, null if none is. Contains text of the scanner and of the roster: the caller makes it safe. */
export const remarkOf = (
  what: Remark,
  { person, ...about }: Omit<About, 'who'> & { readonly person: Person | null },
): string => remarks[what]({ ...about, who: person === null ? 'the next person' : nameOf(person) });

const nameOf = ({ userId, name }: Person): string => (name === null ? userId : `${name} (${userId})`);
