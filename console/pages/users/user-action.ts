/** What can be done to a user on the page. */
import type { User } from '../../../src/contract/users.ts';

/** What can be done with a user. */
export type UserAction = 'edit' | 'password' | 'logout' | 'disable' | 'enable';
/** What the dialog of the page is about. */
export type DialogSubject = { readonly action: 'create' } | { readonly action: UserAction; readonly user: User };

/** What every dialog about an existing user is given. */
export interface AboutUser {
  readonly user: User;
  /** Whether it is the person's own account. */
  readonly isOwn: boolean;
  readonly onClose: () => void;
  readonly onDone: (username: string) => void;
}
