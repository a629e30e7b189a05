/** SCIM: an identity provider sends persons and groups. */

import type { StartSubject } from '../http/subject.ts';
import { scimErrors } from './http-error.ts';
import { scimRoutes } from './routes.ts';
import { ScimGroups } from './scim-groups.ts';
import { ScimUsers } from './scim-users.ts';

export const startScim: StartSubject = ({ store, now, offers: { accounts, people } }) => {
  const { leavers, refused } = people!;
  const users = new ScimUsers({ store, leavers, refused, now });
  const scim = { users, groups: new ScimGroups({ store, refused, now }), refused };
  return { routes: app => scimRoutes(app, { tokens: accounts.tokens, scim }), errors: scimErrors };
};
