/** SCIM: an identity provider sends persons and groups. */
import { scimRoutes } from '../http/routes/scim.ts';
import { scimErrors } from '../http/scim-error.ts';
import type { StartSubject } from '../http/subject.ts';
import { ScimGroups } from '../services/scim/scim-groups.ts';
import { ScimUsers } from '../services/scim/scim-users.ts';

export const startScim: StartSubject = ({ store, now, offers: { accounts, people } }) => {
  const { leavers, refused } = people!;
  const users = new ScimUsers({ store, leavers, refused, now });
  const scim = { users, groups: new ScimGroups({ store, refused, now }), refused };
  return { routes: app => scimRoutes(app, { tokens: accounts.tokens, scim }), errors: scimErrors };
};
