/** The messages of the line to its operator. */
import type { Remark } from '../../../../enrollment/line/events.ts';
import type { Person } from '../../../../enrollment/line/people.ts';

interface About {
  /** The person who is next; null if none is. */
  readonly person: Person | null;
  /** The scan. */
  readonly text: string;
  /** The device that was bound last. */
  readonly deviceId: string | null;
  /** The file of the roster. */
  readonly roster: string;
}

const replug = 'Unplug the key; plug one in to continue';
const heldHint = 'Nothing is bound until a valid badge is scanned. Esc continues with the roster';

/** The remark in words. Contains text of the scanner and of the roster: the caller makes it safe. */
export function remarkOf(what: Remark, { person, text, deviceId, roster }: About): string {
  const who = person === null ? 'the next person' : nameOf(person);
  switch (what) {
    case 'two keys':
      return 'two new keys at once: nothing is bound. Remove one of them';
    case 'undone':
      return `undone: nothing was written. ${replug} for ${who}`;
    case 'skipped':
      return `skipped ${who}. A later run with the same --out, or a badge, comes back to this person`;
    case 'redo':
      return `back to ${who}. ${replug}`;
    case 'redo of a binding':
      return `back to ${who}, for another key. ${deviceId ?? 'The last key'} stays bound, because a binding cannot be undone here. To retire that key: devmgr deactivate`;
    case 'another key':
      return `another key for ${who}: what this person has stays bound. To retire it: devmgr deactivate`;
    case 'nothing to redo':
      return 'nothing to redo: only the last person can be repeated, and only before the next key is bound';
    case 'nothing to confirm':
      return 'nothing to confirm: no key has passed its check';
    case 'nothing confirmed yet':
      return 'Enter was pressed right after another keystroke: nothing is bound. Press Enter again';
    case 'nothing to undo':
      return 'nothing to undo: a binding cannot be undone here';
    case 'badge':
      return `badge of ${who}`;
    case 'badge incomplete':
      return `the scan was incomplete: scan the badge again. ${heldHint}`;
    case 'unplugged during a scan':
      return 'the key was unplugged during a scan: nothing is bound. Plug it in again';
    case 'badge unknown':
      return `no person in ${roster} has the userId or name ${text}. ${heldHint}`;
    case 'badge of several':
      return `several people in ${roster} have the name ${text}: scan a userId. ${heldHint}`;
    case 'badge of a person who is done':
      return `${text} has all keys of the roster. ${heldHint}`;
    case 'lost':
      return 'the connection to the hardware service was lost: nothing is bound. Plug the key in again';
  }
}

const nameOf = ({ userId, name }: Person): string => (name === null ? userId : `${name} (${userId})`);
