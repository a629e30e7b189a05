/** Who has to sign in with a security key. */
import { type Static, Type } from 'typebox';
import { additions, replacedPolicy, shownPolicy } from './define.ts';
import { oneOf } from './fields.ts';
import { roles } from './values.ts';

/** Who has to sign in with a security key. */
const signInPolicy = Type.Object({
  requireKey: Type.Array(oneOf(roles), {
    minItems: 0,
    maxItems: roles.length,
    description: 'roles whose users must sign in with a security key; empty: none of them',
  }),
});
/** Who has to sign in with a security key. */
export type SignInPolicy = Static<typeof signInPolicy>;

/** The policy of sign-ins. */
export const signInPolicyOperations = additions('Security keys of users', {
  /** No role is in it before a policy is set. */
  showSignInPolicy: {
    summary: 'Show which roles must sign in with a security key',
    ...shownPolicy(signInPolicy),
  },

  /** Replaces the whole policy. Tokens that were issued before stay valid until they expire, but cannot be refreshed. */
  setSignInPolicy: {
    summary: 'Set which roles must sign in with a security key',
    description:
      'A user of such a role who has no key signs in with the password, and may then only register one. An ADMIN who includes the role ADMIN must have a key (1001). An ADMIN who must sign in with a key changes the policy in a session with a key only (2007). Tokens of sign-ins without a key stay valid until they expire, but cannot be refreshed.',
    ...replacedPolicy(signInPolicy),
    peopleOnly: true,
    example: { body: { requireKey: [] } },
  },
});
