/** The inputs and outputs of the state machine of the line. */

/** An event at the reader or the keyboard. `attempt` is the number of the check or commit that the line has requested. */
export type LineEvent =
  /** `plug`: a key was plugged in, or its serial number has become readable. `present`: it was plugged in unseen. */
  | { readonly type: 'plug' | 'present'; readonly keyId: string }
  /** `isTyping`: the first characters of a scan or of a key have come, and it is not known yet which. */
  | { readonly type: 'pull'; readonly keyId: string; readonly isTyping?: boolean }
  /** `hasAnother`: it failed because the person has another key. */
  | { readonly type: 'checked'; readonly attempt: number; readonly passed: boolean; readonly hasAnother?: boolean }
  | { readonly type: 'committed'; readonly attempt: number; readonly passed: boolean }
  /** The hardware service was out of reach: keys may have been exchanged unseen. */
  | { readonly type: 'lost' }
  /** `before`: characters that came right before it without Enter; together they may be one scan that was cut. */
  | { readonly type: 'badge'; readonly text: string; readonly before?: string }
  | { readonly type: 'enter'; readonly before?: string }
  /** `cut`: a scan was incomplete. `early`: Enter that came right after another key. */
  | { readonly type: Exclude<Command, 'enter'> | 'cut' | 'early' };

/**
 * When a key that has passed its check is bound. `unplugged`: then, or when it is confirmed. `confirmed` and `passed` keep it in the
 * reader, because more is done with it than to register it.
 */
export type BindsWhen = 'unplugged' | 'confirmed' | 'passed';

/** A command of the operator. */
export type Command = 'enter' | 'undo' | 'skip' | 'redo';

interface Task {
  readonly attempt: number;
  readonly keyId: string;
  /** Number of a row of the roster. */
  readonly person: number;
}

/** Check a key. It is new if it was plugged in for this person; otherwise it may already be unplugged: see `settled`. */
export type CheckAction = Task & { readonly type: 'check'; readonly isNew: boolean };

/** Something to do. */
export type LineAction =
  | CheckAction
  /** `fail`: it was unplugged too early. */
  | (Task & { readonly type: 'commit' | 'fail' })
  /** The person gets another key. */
  | { readonly type: 'allow'; readonly person: number }
  | { readonly type: 'say'; readonly what: Remark; readonly person: number | null; readonly text: string };

/** Messages for the operator. */
export type Remark =
  | 'two keys'
  | 'undone'
  | 'skipped'
  | 'redo'
  | 'redo of a binding'
  | 'another key'
  | 'nothing to redo'
  | 'nothing to confirm'
  | 'nothing confirmed yet'
  | 'nothing to undo'
  | 'badge'
  | 'badge incomplete'
  | 'unplugged during a scan'
  | 'badge unknown'
  | 'badge of several'
  | 'badge of a person who is done'
  | 'lost';

/** The state of what is in the reader. `aside`: the key has to be unplugged before the line continues. */
export type Phase =
  | { readonly type: 'empty' | 'crowded' }
  | { readonly type: 'checking' | 'ready' | 'failed' | 'aside'; readonly keyId: string }
  | { readonly type: 'committing'; readonly keyId: string; readonly person: number };
