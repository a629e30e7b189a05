/** PINs that a station has made for keys. They are sealed for recipients of age before a key gets them: the registry cannot read them. */
import { type Static, Type } from 'typebox';
import { Code } from './codes.ts';
import { additions, adminOnly, replacedPolicy, shownPolicy } from './define.ts';
import { boolean, line, nullable, shown, timestamp } from './fields.ts';
import { pinBounds } from './limits.ts';
import { ofDevice } from './providers.ts';
import { changers } from './values.ts';

const example = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';

/** Who can read PINs that stations have made. */
const pinPolicy = Type.Object({
  recipients: Type.Array(
    line(pinBounds.recipient, {
      minLength: pinBounds.recipient,
      pattern: '^age1[02-9ac-hj-np-z]{58}$',
      shape: 'an age recipient: age1…',
      examples: [example],
    }),
    { maxItems: pinBounds.recipients, description: 'age recipients (X25519); empty: stations cannot create PINs' },
  ),
});
/** Who can read PINs that stations have made. */
export type PinPolicy = Static<typeof pinPolicy>;

const sealedPin = Type.Object({
  deviceId: shown('id of the device', 'DEV-1'),
  storedAt: nullable(timestamp('when it was stored; null: none is')),
  openedAt: nullable(timestamp('when it was last read, before this request; null: never')),
});

/** Operations on PINs. */
export const pinOperations = additions('Providers', {
  /** Until a policy is set, no recipient can open sealed PINs. */
  showPinPolicy: {
    summary: 'Show who can read PINs that stations create',
    ...shownPolicy(pinPolicy),
  },

  /** Replaces the whole policy. PINs that are stored stay sealed for the recipients of their time. */
  setPinPolicy: {
    summary: 'Set who can read PINs that stations create',
    ...replacedPolicy(pinPolicy),
    example: { body: { recipients: [example] } },
  },

  /** Before the key gets the PIN: a key never has one that no one can open. */
  storePin: {
    summary: 'Store the sealed PIN of a key',
    description: `Only a PIN that is encrypted with age is accepted. A second PIN is refused while one is stored, because the key would not accept it. With reset the stored one is replaced, or removed if sealed is absent; the journal records that. It stays readable as an earlier one: after ${pinBounds.earlier} of them, only an ADMIN can replace another. All are removed when the device is deactivated.`,
    access: changers,
    params: Type.Object(ofDevice),
    body: Type.Object({
      sealed: Type.Optional(
        line(pinBounds.sealed, {
          pattern: '^[A-Za-z0-9_-]+$',
          shape: 'base64url without padding',
          description: 'the PIN, encrypted with age for the recipients of the policy: the file as base64url',
        }),
      ),
      reset: Type.Optional(
        boolean('true: the key reports that it has no PIN, because it was reset or never got the stored one'),
      ),
      dryRun: Type.Optional(boolean('true: only check whether it would be accepted, before a key is reset')),
    }),
    data: sealedPin,
    errors: [Code.deviceNotFound, Code.deviceDeactivated],
    example: { params: { deviceId: 'DEV-1' }, body: { sealed: 'YWdlLWVuY3J5cHRpb24ub3JnL3YxCg' } },
  },

  /** The journal records each request. */
  readPin: {
    summary: 'Read the sealed PIN of a key',
    description: 'Only a recipient can open it. 404 if none was stored.',
    ...adminOnly,
    params: Type.Object(ofDevice),
    data: Type.Object({
      ...sealedPin.properties,
      sealed: nullable(shown('the PIN, encrypted with age; base64url. Null: the key was reset')),
      earlier: Type.Array(Type.String(), {
        description: 'what was stored before, in the same form, newest first: the PIN of the key, if this one is not',
      }),
    }),
    errors: [404, Code.deviceNotFound],
    example: { params: { deviceId: 'DEV-1' } },
  },
});
