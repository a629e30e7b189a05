/** The reset of a key, from before it is asked until it is known whether it was erased: what it had at providers is removed only then. */
import { type Static, Type } from 'typebox';
import { signedAction } from './assertion.ts';
import { Code } from './codes.ts';
import { additions } from './define.ts';
import { boolean, count, nullable, oneOf, shown, timestamp, token } from './fields.ts';
import { changers } from './values.ts';
import { storedOnKey } from './webauthn.ts';

const params = Type.Object({ deviceId: token({ description: 'id of the device', examples: ['DEV-1'] }) });

const keyReset = Type.Object({
  deviceId: shown('id of the device', 'DEV-1'),
  begunAt: nullable(timestamp('when a reset was begun whose outcome is not recorded; null: there is none')),
  hadPin: nullable(boolean('whether the key had a PIN then; null without a reset')),
  credentials: Type.Array(storedOnKey, {
    description: 'what the key had at providers then: one that still has any of it was not erased',
  }),
  pending: count('credentials of the device that must be removed at providers and are not yet'),
});
/** Stages in the record of the reset of a key. */
export type KeyReset = Static<typeof keyReset>;

/** Operations on resets. */
export const keyResetOperations = additions('Providers', {
  /** Another program continues with it: it asks the key. */
  showKeyReset: {
    summary: 'Show the reset of a key whose outcome is not recorded',
    access: changers,
    params,
    data: keyReset,
    errors: [Code.deviceNotFound],
    example: { params: { deviceId: 'DEV-1' } },
  },

  /** The key is asked between `begun` and `done`. */
  recordKeyReset: {
    summary: 'Record that a key is about to be reset, was reset, or was not',
    description:
      'begun: before the key is asked. Nothing is removed, and no credential is begun or finished until the outcome is recorded. Refused while an earlier reset is open. A device without credentials has nothing to record. done: the key was erased. In one commit, its credentials have to be removed at their providers, which the registry repeats until it succeeds, and the stored PIN becomes an earlier one. canceled: the key was not erased. Without an open reset, done only changes the PIN and ends the credential by which the key is recognized, and canceled nothing. begun, and done without an open reset, need the signature of a key that has one.',
    access: changers,
    params,
    body: Type.Object({
      stage: oneOf(['begun', 'done', 'canceled']),
      hadPin: Type.Optional(boolean('for begun: whether the key has a PIN')),
      ...signedAction,
    }),
    data: keyReset,
    errors: [Code.deviceNotFound, Code.deviceDeactivated, Code.serialDuplicated],
    example: { params: { deviceId: 'DEV-1' }, body: { stage: 'begun', hadPin: true } },
  },
});
