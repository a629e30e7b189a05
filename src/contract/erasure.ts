/** The data about one person: its report, and its erasure. */
import { Type } from 'typebox';
import { additions, adminOnly } from './define.ts';
import { boolean, nullable, oneOf, secret, shown, timestamp } from './fields.ts';
import { deviceIds } from './ids.ts';
import { reportBounds } from './limits.ts';
import { ofOne, personId } from './people.ts';
import { erasureLimits } from './person-values.ts';

const record = (description: string) =>
  Type.Unsafe<Readonly<Record<string, unknown>>>(Type.Object({}, { additionalProperties: true, description }));
const records = (description: string) => Type.Array(record(description));

/** Operations on what is held about a person. */
export const erasureOperations = additions('Persons', {
  /** Secrets are left out: passwords, tokens, activation codes, PINs. */
  reportPerson: {
    summary: 'Report what is held about a person',
    description: `All that the registry holds about one person, as one document, without secrets. At most ${reportBounds.devices} devices and ${reportBounds.events} entries; \`complete\` is false if there are more.`,
    ...adminOnly,
    ...ofOne,
    data: Type.Object({
      personId,
      generatedAt: timestamp('when the report was made'),
      complete: boolean('false if devices or entries were left out'),
      person: record('the stored person: all names, addresses and ids of the source, and the state'),
      devices: records('devices of the person, with notes, tags and the records of their backups'),
      accounts: records('accounts with the user name, with their service tokens and sign-in keys'),
      credentials: records('credentials of the devices at providers'),
      receipts: records('receipts of the devices, with the text that the key has signed'),
      refused: records('requests about the user name that could not be stored'),
      case: nullable(record('the case of the last leave')),
      events: records('entries of the journal about the devices, the oldest first'),
    }),
  },

  /** Idempotent: of a person who is erased, the free space of the database is cleared again. */
  erasePerson: {
    summary: 'Erase a person',
    description:
      'Cannot be undone. The id replaces the names, addresses and external ids of the person: the person and the devices then show the id. Refused with 1001 until the case is closed, and while a credential is not removed at its provider. The journal stays verifiable. All responses that are stored for an Idempotency-Key are removed. The database is rewritten before the response. `remains` lists what the erasure does not reach. confirmPassword is the password of the calling ADMIN.',
    ...adminOnly,
    stepUp: true,
    ...ofOne,
    body: Type.Object({ confirmPassword: secret({ min: 1 }, { description: "an administrator's password" }) }),
    data: Type.Object({
      personId,
      erasedAt: timestamp('when the erasure was made, or repeated'),
      devices: Type.Array(Type.String({ pattern: deviceIds.pattern }), {
        description: 'devices that show the id of the person from now on',
        examples: [['DEV-1']],
      }),
      remains: Type.Array(
        Type.Object({
          where: oneOf(erasureLimits),
          what: shown('what it is, and what to do', 'deliveries that receivers have stored'),
          until: nullable(timestamp('by when it is gone; null: someone has to remove it')),
        }),
        { description: 'what the erasure does not reach' },
      ),
    }),
    errors: [404, 1003],
    example: { params: { personId: 'PER-1' }, body: { confirmPassword: 'correct horse battery' } },
  },
});
