/** The policy for persons: what the registry requires of them, and what happens when one leaves. */
import { type Static, Type } from 'typebox';
import { additions, replacedPolicy, shownPolicy } from './define.ts';
import { boolean, maybe, oneOf, whole } from './fields.ts';
import { arrivalDays, leaverDelayHours, retentionDays } from './limits.ts';
import { leaverActions } from './person-values.ts';

const days = (description: string) => maybe(Type.Integer({ minimum: 1, maximum: retentionDays, description }));

const peoplePolicy = Type.Object({
  personsRequired: boolean('whether a device is activated only for the userName of an active person'),
  leavers: oneOf(leaverActions, { description: 'what happens to the ACTIVE devices of a person who leaves' }),
  leaverDelayHours: whole('hours between leaving and that action; 0: at once', { min: 0, max: leaverDelayHours }),
  retentionDays: days(
    'days after the closing of the case of a person who has left until the registry erases the person automatically; null: never. Absent in a request: not changed',
  ),
  copiesDays: days(
    'days for which your organization keeps backups, forwarded entries, deliveries, files of stations and logs: an erasure then states by when they are gone; null: unknown. Absent in a request: not changed',
  ),
  arrivalDays: days(
    `days within which the arrival of a key that was sent to its person is to be confirmed; null: it is never overdue. ${arrivalDays} until it is set. Absent in a request: not changed`,
  ),
});
/** The policy for persons: what the registry requires of them, and what happens when one leaves. */
export type PeoplePolicy = Static<typeof peoplePolicy>;

/** The policy of persons. */
export const peoplePolicyOperations = additions('Persons', {
  /** Before a policy is set, persons are not required, and devices are locked at once. */
  showPeoplePolicy: {
    summary: 'Show the rules for persons and leavers',
    ...shownPolicy(peoplePolicy),
  },

  /** Replaces the whole policy but the days that are absent. Delays that run already are kept. */
  setPeoplePolicy: {
    summary: 'Set the rules for persons and leavers',
    description: 'A service token cannot change `retentionDays` (2007): an erasure is permanent.',
    ...replacedPolicy(peoplePolicy),
    example: { body: { personsRequired: true, leavers: 'lock', leaverDelayHours: 0 } },
  },
});
