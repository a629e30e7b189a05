/** Provisioning: what the identity provider, the directory and imports have sent about persons, and what was refused. */
import { type Static, Type } from 'typebox';
import { additions, adminOnly } from './define.ts';
import { nullable, oneOf, shown, timestamp, token } from './fields.ts';
import { provisioningLog, refusedBounds } from './limits.ts';
import { paged, pageQuery } from './paging.ts';
import { personId } from './people.ts';
import { personSources, provisioningSources } from './person-values.ts';

const refusedRequest = Type.Object({
  at: timestamp('when it was refused last'),
  source: oneOf(provisioningSources),
  userName: nullable(shown('user name of the person; null if the request names none', 'ada.lovelace')),
  field: nullable(shown('value that was left out; null if the whole request was refused', 'email')),
  reason: shown('why', 'email must be an e-mail address'),
});
/** A request of an identity provider or the directory that the registry could not store. */
export type RefusedRequestItem = Static<typeof refusedRequest>;

/** Operations on the log of provisioning, and on the requests that were refused. */
export const provisioningOperations = additions('Persons', {
  /** Values that a SCIM request or a run of the directory has left out, and requests that were refused. */
  listRefusedRequests: {
    summary: 'List what identity provider and directory could not store',
    description: `The newest ${refusedBounds.kept} of each source, for ${refusedBounds.days} days. A repeated request is listed once, with its last time.`,
    ...adminOnly,
    query: Type.Object({
      ...pageQuery(),
      source: Type.Optional(oneOf(provisioningSources, { description: 'what sent the request' })),
    }),
    data: paged(refusedRequest),
  },

  /** Fields are named, values are not: the journal does not have them. */
  listProvisioning: {
    summary: 'List what the sources of persons have sent',
    description: `The last ${provisioningLog.entries} changes of persons, or of one person, by an identity provider, the directory, an import or an ADMIN, with the names of the fields, and what was refused with the reason (see the list of refused requests).`,
    ...adminOnly,
    query: Type.Object({
      ...pageQuery(),
      source: Type.Optional(oneOf(personSources, { description: 'what sent the request' })),
      personId: Type.Optional(token({ description: 'id of a person', examples: ['PER-1'] })),
    }),
    data: paged(
      Type.Object({
        at: timestamp('when'),
        source: oneOf(personSources, { description: 'source of the person; of a refusal, who sent it' }),
        actor: nullable(
          shown('user name, or token:NAME of a service token; null: a daemon, or not known', 'token:entra'),
        ),
        personId: nullable(personId),
        userName: nullable(shown('user name of the person', 'ada.lovelace')),
        outcome: oneOf(['added', 'updated', 'left', 'held', 'returned', 'refused']),
        fields: Type.Array(Type.String(), {
          description: 'fields that were changed, or left out of a refused request',
        }),
        reason: nullable(shown('why it was refused', 'email must be an e-mail address')),
        requestId: nullable(shown('id of the request, which the log of the daemon has too')),
      }),
    ),
  },
});
