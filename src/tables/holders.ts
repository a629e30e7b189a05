/** The login of a person in a text about the holder of a key, as asset systems, directories and spreadsheets write it. */
import { isOpaqueId } from './values.ts';

const none = /^(?:[-–—]+|n\/?a|unassigned)?$/i;
/** `Ada Lovelace (ada)`: the name and the login. */
const named = /\(([a-z0-9@._\\-]{1,128})\)$/;
const ofEntry = /(?:^|, ?)(?:uid|samaccountname)=([^,=]{1,128})/i;

/** The column with the holders. */
export interface HolderColumn {
  readonly column: string;
  /** A person has said that it has logins. */
  readonly isChosen: boolean;
}

/** The login; null if no one has the key. A text beside secrets is not shown: it may be one of them. */
export function loginIn(
  written: string,
  { column, isChosen }: HolderColumn,
  hasSecrets: boolean,
): { readonly login: string | null } | { readonly problem: string } {
  const text = written.trim();
  if (none.test(text)) return { login: null };
  const login = (named.exec(text) ?? ofEntry.exec(text))?.[1]?.trim() ?? text;
  if (isChosen || !(/\s/.test(login) || isOpaqueId(login, column))) return { login };
  const shown = hasSecrets ? 'the text' : `"${text.slice(0, 60)}"`;
  return { problem: `userId: ${shown} is not a login. If it is: --map "userId=${column}"` };
}
