/** SCIM: an identity provider sends persons and groups. */
import type { StartSubject } from '../http/subject.ts';
import { scimErrors } from './http-error.ts';
import { scimRoutes } from './routes.ts';
import { ScimGroups } from './scim-groups.ts';
import { ScimUsers } from './scim-users.ts';

export const startScim: StartSubject = ({ store, now, offers: { accounts, people } }) => {
  const { leavers, refused } = people!;
  const parts = { store, leavers, refused, now };
  const scim = { users: new ScimUsers(parts), groups: new ScimGroups(parts), refused };
  return { routes: app => scimRoutes(app, { tokens: accounts.tokens, scim }), errors: scimErrors };
};
