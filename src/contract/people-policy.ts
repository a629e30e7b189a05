/** The policy for persons: what the registry requires of them, and what happens when one leaves. */
import { type Static, Type } from 'typebox';
import { additions, replacedPolicy, shownPolicy } from './define.ts';
import { oneOf } from './fields.ts';
import { leaverDelayHours } from './limits.ts';
import { leaverActions } from './person-values.ts';

const peoplePolicy = Type.Object({
  personsRequired: Type.Boolean({
    description: 'whether a device is activated only for the userName of an active person',
  }),
  leavers: oneOf(leaverActions, { description: 'what happens to the ACTIVE devices of a person who leaves' }),
  leaverDelayHours: Type.Integer({
    minimum: 0,
    maximum: leaverDelayHours,
    description: 'hours between leaving and that action; 0: at once',
  }),
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

  /** Replaces the whole policy. Delays that run already are kept. */
  setPeoplePolicy: {
    summary: 'Set the rules for persons and leavers',
    ...replacedPolicy(peoplePolicy),
    example: { body: { personsRequired: true, leavers: 'lock', leaverDelayHours: 0 } },
  },
});
