/** Operations with which people register security keys and sign in with them (WebAuthn). */
import { type Static, Type } from 'typebox';
import { expireTime, jwt, loginData, session } from './auth.ts';
import { Code } from './codes.ts';
import { additions, administration, adminOnly } from './define.ts';
import { boolean, JUDGED, line, maybe, nullable, SHAPE, secret, shown, timestamp, token } from './fields.ts';
import { passkeyIds } from './ids.ts';
import { passkeyBounds, stepUpSeconds, textLengths } from './limits.ts';
import { SSH_APPLICATION } from './ssh-key.ts';
import { roles } from './values.ts';

const minutes = passkeyBounds.challengeSeconds / 60;

/** An object of WebAuthn in JSON, as browsers write and read it (WebAuthn 3, 5.1 `toJSON`, `parse…FromJSON`). */
export const webauthnJson = (description: string) =>
  Type.Unsafe<object>({ type: 'object', additionalProperties: true, description });
const bytes = (maxLength: number) =>
  Type.String({ minLength: 1, maxLength, pattern: '^[A-Za-z0-9_\\-]+$', [SHAPE]: 'base64url without padding' });
const credential = {
  id: bytes(passkeyBounds.id),
  rawId: bytes(passkeyBounds.id),
  type: Type.Unsafe<'public-key'>({ type: 'string', pattern: '^public-key$', [SHAPE]: 'public-key' }),
};
const clientDataJSON = bytes(passkeyBounds.clientData);
/** The response of a browser for a new credential. */
export const attestation = Type.Object(
  {
    ...credential,
    response: Type.Object({
      clientDataJSON,
      attestationObject: bytes(passkeyBounds.attestationObject),
      transports: Type.Optional(Type.Unsafe<unknown>({ description: 'an array of words, hints only', [JUDGED]: true })),
    }),
  },
  { description: 'what `navigator.credentials.create` returned, as JSON' },
);
/** A credential that a key stores, by which it is asked whether it has it. */
export const storedOnKey = Type.Object({
  site: line(255, { description: 'relying party of the credential' }),
  id: bytes(passkeyBounds.id),
});
const assertion = Type.Object(
  {
    ...credential,
    response: Type.Object({
      clientDataJSON,
      authenticatorData: bytes(passkeyBounds.authenticatorData),
      signature: bytes(passkeyBounds.signature),
      userHandle: maybe(bytes(passkeyBounds.id)),
    }),
  },
  { description: 'what `navigator.credentials.get` returned, as JSON' },
);
/** The response of a browser for a new credential. Bytes are base64url. */
export type AttestationResponse = Static<typeof attestation>;
/** The response of a browser for a signature. Bytes are base64url. `userHandle`: the name of the account at the key, if it has one. */
export type AssertionResponse = Static<typeof assertion>;
/** The site of the keys for an origin: `named`, or the host. Null if the origin may not use it (WebAuthn 3, 5.1.3). SSH has its own. */
export function siteOf(origin: string, named: unknown): string | null {
  if (origin === SSH_APPLICATION && named === SSH_APPLICATION) return SSH_APPLICATION;
  const url = URL.parse(origin);
  if (url?.origin !== origin) return null;
  const id = typeof named === 'string' ? named : url.hostname;
  return id === url.hostname || (id.includes('.') && url.hostname.endsWith(`.${id}`)) ? id : null;
}
const requestOptions = webauthnJson('`publicKey` of `navigator.credentials.get`, as JSON');
const ofUser = { userId: token({ description: 'user id', examples: ['USR-1'] }) };
const example = { id: 'AAAA', rawId: 'AAAA', type: 'public-key' };
/** An example of it. */
export const attested = {
  ...example,
  response: { clientDataJSON: 'AAAA', attestationObject: 'AAAA', transports: ['usb'] },
};
const asserted = { ...example, response: { clientDataJSON: 'AAAA', authenticatorData: 'AAAA', signature: 'AAAA' } };

/** A security key that a user signs in with. */
export const passkey = Type.Object({
  passkeyId: Type.String({ pattern: passkeyIds.pattern, examples: ['PSK-1'] }),
  name: shown('name that its user has given', 'desk'),
  rpId: shown('name of the site that it was registered for; it works there only', 'localhost'),
  aaguid: shown('model (AAGUID); zeros if the browser or the key does not say', '00000000-0000-0000-0000-000000000000'),
  createdAt: timestamp('when it was registered'),
  lastUsedAt: nullable(timestamp('when it was last used')),
});
/** A security key that a user signs in with. */
export type Passkey = Static<typeof passkey>;

/** Operations on security keys of users, and sign-ins with them. */
export const passkeyOperations = additions('Security keys of users', {
  /** The options are the same for everyone: they show neither whether an account exists nor whether it has a key. */
  getSignInOptions: {
    summary: 'Get a challenge to sign in with a security key alone',
    description: `The key names the account (a discoverable credential) and verifies the person by PIN or fingerprint. The challenge is valid for ${minutes} minutes, once. 1001 if keys cannot be used at the address of the request.`,
    limit: 'signIn',
    data: Type.Object({ options: requestOptions }),
    errors: [Code.parameterError],
  },

  /** A signature cannot be guessed, so that attempts do not count as logins. The message of a refusal does not name the reason. */
  signInWithKey: {
    summary: 'Sign in with a security key',
    description:
      'With `loginTicket` as the second step of a login with a password, else alone. A key that is not registered, was removed or belongs to another account, a wrong origin, a page in a frame of another origin, a challenge that was answered before, right or wrong, and a counter that went back are all refused with the same 1004; the journal has the reason.',
    limit: 'signIn',
    body: Type.Object({
      response: assertion,
      loginTicket: maybe(token({ description: '`data.loginTicket` of the login with the password' })),
      session,
    }),
    data: loginData,
    errors: [Code.tokenInvalid, Code.noPermission],
    example: { body: { response: asserted } },
  },

  /** Needs a sign-in of the last ten minutes. */
  getKeyRegistrationOptions: {
    summary: 'Get a challenge to register a security key',
    description: `For the calling user and this session. The challenge is valid for ${minutes} minutes, once.`,
    access: roles,
    peopleOnly: true,
    stepUp: true,
    withoutKey: true,
    limit: 'query',
    data: Type.Object({ options: webauthnJson('`publicKey` of `navigator.credentials.create`, as JSON') }),
    errors: [Code.parameterError],
  },

  /** A key that is or was registered is refused with 1001. */
  registerKey: {
    summary: 'Register a security key of the calling user',
    description: `At most ${passkeyBounds.perUser} keys for each user.`,
    access: roles,
    peopleOnly: true,
    stepUp: true,
    withoutKey: true,
    body: Type.Object({
      name: line(textLengths.tokenName, { description: 'name of the key', examples: ['desk'] }),
      response: attestation,
    }),
    data: passkey,
    example: { body: { name: 'desk', response: attested } },
  },

  /** An ADMIN sees the keys of any user, other users see their own. */
  listKeysOfUser: {
    summary: 'List the security keys of a user',
    ...adminOnly,
    ownUser: 'userId',
    withoutKey: true,
    params: Type.Object(ofUser),
    data: Type.Object({
      list: Type.Array(passkey),
      required: boolean('whether the user must sign in with a key'),
      requiredByUser: boolean('whether that was set for this user, besides the policy'),
    }),
    errors: [404],
  },

  /** An ADMIN removes the keys of any user, other users remove their own. */
  removeKeyOfUser: {
    summary: 'Remove a security key of a user',
    description:
      'Permanent: the same credential cannot be registered again. The last key of a user who has chosen to need one is refused with 1001, unless another ADMIN removes it.',
    ...administration,
    ownUser: 'userId',
    params: Type.Object({ ...ofUser, passkeyId: token({ description: 'id of the key', examples: ['PSK-1'] }) }),
    data: passkey,
    errors: [404],
    example: { params: { userId: 'USR-1', passkeyId: 'PSK-1' } },
  },

  /** Users without a key cannot require one of themselves (1001). */
  requireKeyOfUser: {
    summary: 'Require a security key at each login of a user, or stop requiring it',
    description: 'In addition to the policy of roles, which applies to all users of a role.',
    ...administration,
    ownUser: 'userId',
    params: Type.Object(ofUser),
    body: Type.Object({ required: boolean('whether this user must sign in with a key') }),
    data: Type.Object({ userId: shown('user id', 'USR-1'), required: Type.Boolean() }),
    errors: [404],
    example: { params: { userId: 'USR-1' }, body: { required: false } },
  },

  /** For one registration. It ends when it is used, when the password changes, when the user is logged out or disabled, and at `until`. */
  allowRegistration: {
    summary: 'Allow a user whose keys were removed to register one',
    description: `A user who must sign in with a key, had one and has none is refused with 1004, also with the right password. For ${passkeyBounds.allowedHours} hours the password then opens a session that may register one key. Another ADMIN has to allow it for an ADMIN (2007). 1001 if the user has a key or is disabled.`,
    ...administration,
    params: Type.Object(ofUser),
    data: Type.Object({ until: timestamp('when it ends, if it is not used') }),
    errors: [404],
    example: { params: { userId: 'USR-2' } },
  },

  /** Options for the keys of the calling user. */
  getStepUpOptions: {
    summary: 'Get a challenge to sign in again with a security key',
    access: roles,
    peopleOnly: true,
    limit: 'query',
    data: Type.Object({ options: requestOptions }),
    errors: [Code.parameterError],
  },

  /** The earlier token stays valid; it keeps the time of its sign-in. */
  stepUp: {
    summary: 'Sign in again within a session',
    description: `Returns a token of the same session whose sign-in is new. Operations that need a recent sign-in accept it for ${stepUpSeconds / 60} minutes. Send either the password or the answer of a key; a user who must sign in with a key sends the latter. A wrong password is refused with 1003, a key that is not accepted with 1004 in HTTP 401; both count as wrong passwords do.`,
    access: roles,
    peopleOnly: true,
    limit: 'query',
    body: Type.Object({
      password: maybe(secret({ min: 1 }, { description: 'password of the calling user' })),
      response: Type.Optional(assertion),
    }),
    data: Type.Object({ token: jwt, expireTime }),
    errors: [Code.wrongPassword],
    example: { body: { password: 'correct horse battery' } },
  },
});
