import type { AnyCommand, Entry } from '../framework/define.ts';

/** A row of the table of commands. The code of the command is loaded when it is used. */
export const entry = (name: string, summary: string, load: () => Promise<AnyCommand>, ...aliases: string[]): Entry => ({
  name,
  summary,
  aliases,
  load,
});
