/** The reason of a change and its note, for the journal. */
import { need } from '../ask.ts';
import type { Context } from '../context.ts';

/** Flag for a note in the journal. */
export const noteFlag = { note: { value: 'TEXT', help: 'note, for the journal' } } as const;

/** The reason for the journal, asked for if it is missing. */
export const reasonOf = (context: Context, given: string | undefined): Promise<string> =>
  need(context, given, { flag: '--reason', question: 'Reason', field: 'reason' });
