/** Single sign-on with a provider of OpenID Connect. */
import { type Static, Type } from 'typebox';
import { loginData, expireTime as tokenEnd } from './auth.ts';
import { Code } from './codes.ts';
import { additions, administration, adminPerson } from './define.ts';
import {
  boolean,
  count,
  findings,
  line,
  maybe,
  nullable,
  oneOf,
  secret,
  shown,
  timestamp,
  token,
  whole,
} from './fields.ts';
import { ssoBounds, terminalLogin } from './limits.ts';
import { accountRoles, localSources, roles } from './values.ts';

const names = (description: string) =>
  Type.Array(line(ssoBounds.text), { minItems: 0, maxItems: ssoBounds.names, description });

/** Which groups of the provider have which role. A person in several has the highest. */
const groupsOfRoles = Type.Object({
  ADMIN: names('groups whose members are ADMIN'),
  DEALER: names('groups whose members are DEALER'),
  VIEWER: names('groups whose members are VIEWER'),
});

/** Which sign-ins at the provider count as strong. */
const strong = Type.Object({
  acr: names('values of the claim acr'),
  amr: names('values of the claim amr'),
});

/** Who may sign in without the provider while single sign-on is on. */
const localAccounts = Type.Object({
  from: oneOf(localSources, { description: 'LOOPBACK: only on the machine of the daemon' }),
  names: maybe(
    Type.Array(line(ssoBounds.text), {
      minItems: 0,
      maxItems: ssoBounds.names,
      description: 'names of the local accounts that may sign in; null for all',
    }),
  ),
});

/** How the registry uses the provider: what a request sets, and a response shows. */
const chosen = {
  issuer: nullable(
    line(ssoBounds.url, {
      description: 'issuer of the provider; https://, or http:// on the machine of the daemon',
      examples: ['https://login.example.com/realms/company'],
    }),
  ),
  clientId: nullable(
    line(ssoBounds.text, { description: 'id of this registry at the provider', examples: ['devmgr'] }),
  ),
  name: nullable(
    line(ssoBounds.name, {
      description: 'text of the sign-in button; the host of the issuer if absent',
      examples: ['Example Inc.'],
    }),
  ),
  roles: groupsOfRoles,
  holders: boolean(
    'whether persons of the registry who are in none of the groups sign in with the role HOLDER, and see their own keys. false if absent: everyone at the provider who is a person here could sign in',
  ),
  groupsClaim: line(ssoBounds.text, { description: 'claim with the groups; groups if absent', examples: ['groups'] }),
  scopes: nullable(
    Type.Array(line(ssoBounds.text), {
      minItems: 1,
      maxItems: ssoBounds.names,
      description:
        'scopes to request; absent or null: openid, and of profile, groups and offline_access those that the provider has',
    }),
  ),
  strong,
  localAccounts,
};

const settings = Type.Object({ enabled: Type.Boolean(), ...chosen });
/** How the registry uses the provider, without the secret. */
export type SsoSettings = Static<typeof settings>;

/** Values to enter at the provider. */
const registration = Type.Object({
  redirectUri: shown('redirect address', 'https://registry.example.com/api/auth/sso/callback'),
  backchannelLogoutUri: shown('address for back-channel logout', 'https://registry.example.com/api/auth/sso/logout'),
  grantTypes: Type.Array(Type.String(), { description: 'grants that the client needs' }),
  scopes: Type.Array(Type.String(), { description: 'scopes that the registry requests' }),
});

/** The answer of the provider, which the browser brings back. */
const returned = {
  code: Type.Optional(token({ description: 'code of the provider' })),
  state: Type.Optional(token({ description: '`state` of the start' })),
  iss: Type.Optional(token({ description: 'issuer of the provider' })),
  error: Type.Optional(token({ description: 'why the provider refused the sign-in' })),
};

/** Operations of single sign-on. */
export const ssoOperations = additions('Single sign-on', {
  /** Needs no token: the page of the sign-in shows a button. */
  showSso: {
    summary: 'Show whether single sign-on is on',
    limit: 'signIn',
    data: Type.Object({ enabled: Type.Boolean(), issuer: chosen.issuer, name: chosen.name }),
  },

  /** The secret of the client is in no response. */
  showSsoSettings: {
    summary: 'Show the settings of single sign-on',
    ...adminPerson,
    data: settings,
  },

  /** Replaces all settings. All sessions end with a change of issuer, client or roles. */
  setSso: {
    summary: 'Set up, change or turn off single sign-on',
    description:
      '`enabled: false` turns it off: its sessions end with this request, on every node, and the settings are removed. They also end if issuer, client, groups of roles or `groupsClaim` change, or `holders` is turned off. The secret is stored encrypted; without `clientSecret`, the stored one for the same issuer and client is kept. A policy of local accounts must leave an enabled ADMIN who can sign in (1001).',
    ...administration,
    body: Type.Partial(
      Type.Object({
        enabled: boolean('whether users can sign in there; true if absent'),
        ...chosen,
        clientSecret: nullable(secret({ min: 1, max: ssoBounds.secret }, { description: 'secret of the client' })),
      }),
    ),
    data: settings,
    example: {
      body: {
        issuer: 'https://login.example.com/realms/company',
        clientId: 'devmgr',
        clientSecret: 'from the provider',
        name: 'Example Inc.',
        roles: { ADMIN: ['keys-admins'], DEALER: ['keys-desk'], VIEWER: [] },
      },
    },
  },

  /** Nothing is changed. */
  testSso: {
    summary: 'Check the provider: discovery, keys, clock, client secret',
    ...adminPerson,
    limit: 'query',
    data: Type.Object({ ...findings, register: registration }),
  },

  /** Sets a cookie that binds the sign-in to this browser. */
  startSso: {
    summary: 'Start a sign-in at the provider in a browser',
    description: `The browser opens \`url\` and is redirected to /api/auth/sso/callback within ${ssoBounds.signInSeconds / 60} minutes, to any node. The response sets a cookie: only the browser that has it can complete the sign-in.`,
    limit: 'signIn',
    body: Type.Object({
      again: Type.Optional(boolean('true: the provider asks for the password or key even if a session exists there')),
      loopbackPort: Type.Optional(
        whole(
          'for a terminal: after the person has confirmed in the console, the browser is redirected to this port of 127.0.0.1 on its own machine (RFC 8252); no cookie is set',
          { min: 1, max: 65_535 },
        ),
      ),
      name: Type.Optional(
        line(terminalLogin.nameLength, {
          description: 'for `loopbackPort`: name of the terminal, which the person is shown',
          examples: ['alice@workstation-7'],
        }),
      ),
    }),
    data: Type.Object({
      url: shown('address that the browser opens'),
      state: shown('what the address of the console has after a sign-in that began here'),
      secret: Type.Optional(shown('for `loopbackPort`: with which the terminal completes the sign-in; never shown')),
      userCode: Type.Optional(
        shown('for `loopbackPort`: the terminal shows it, and the person compares it', 'K7QM-3XWP'),
      ),
    }),
    errors: [404, Code.noPermission],
    example: { body: { again: false } },
  },

  /** The provider sends the browser here. */
  finishSso: {
    summary: 'Complete a sign-in at the provider in a browser',
    description:
      'Redirects to the console with a single-use code (`POST /api/auth/exchange`), or with the reason why no one is signed in. A client that does not accept HTML gets the reason as an envelope: 1004. For a terminal, the console gets a code for `POST /api/auth/sso/terminal`; if no one is signed in, the browser is redirected to `loopbackPort`, and `POST /api/auth/sso/callback` returns the reason.',
    limit: 'signIn',
    query: Type.Object(returned),
    raw: { contentType: 'text/html', status: 303, description: 'redirect to the console (303)' },
    errors: [Code.tokenInvalid, 404],
  },

  /** The provider may have asked nothing, so the person decides here whether the terminal gets the session. */
  showSsoTerminal: {
    summary: 'Show the terminal that a sign-in at the provider is for',
    description:
      'The console shows this once, and redirects the browser to `url` if the person confirms that the code is that of the terminal. 1004 if the code is unknown, was used or has expired.',
    limit: 'signIn',
    body: Type.Object({ code: token({ description: '`terminal` in the address to which the callback redirects' }) }),
    data: Type.Object({
      account: shown('account that the terminal will be signed in as, or the name at the provider if it has none yet'),
      role: oneOf(accountRoles, { description: 'role of the account after the sign-in' }),
      name: nullable(shown('name of the terminal, as it sent it', 'alice@workstation-7')),
      address: shown('network address of the terminal', '192.0.2.7'),
      userCode: shown('what the terminal shows', 'K7QM-3XWP'),
      url: shown('where the terminal waits: `loopbackPort` of 127.0.0.1, with a single-use code'),
    }),
    errors: [Code.tokenInvalid],
    example: { body: { code: 'AAAA' } },
  },

  /** The code is worth nothing without `secret`, which only the terminal has. */
  takeSso: {
    summary: 'Complete a sign-in at the provider for a terminal',
    description:
      'Accepts what the browser has delivered to `loopbackPort`, once, and only with the `secret` of the start.',
    limit: 'signIn',
    body: Type.Object({
      secret: secret({ min: 1, max: 100 }, { description: '`secret` of the start' }),
      ...returned,
    }),
    data: loginData,
    errors: [Code.tokenInvalid, 404],
    example: { body: { secret: 'AAAA', state: 'AAAA.50000', code: 'AAAA' } },
  },

  /** For terminals: the person opens `verificationUri` anywhere. */
  startSsoDevice: {
    summary: 'Start a sign-in at the provider from a terminal',
    description: 'Device authorization (RFC 8628). 1001 if the provider does not offer it.',
    limit: 'signIn',
    data: Type.Object({
      deviceCode: shown('with which the terminal asks for the session; never shown'),
      userCode: shown('what the person types', 'WDJB-MJHT'),
      verificationUri: shown('where', 'https://login.example.com/device'),
      verificationUriComplete: nullable(shown('the same with the code')),
      interval: whole('seconds between two polls', { min: 1 }),
      expireTime: timestamp('when the code ends'),
    }),
    errors: [404, Code.parameterError, Code.tokenInvalid],
  },

  /** The session is returned once. */
  pollSsoDevice: {
    summary: 'Get the session of a terminal',
    limit: 'signIn',
    body: Type.Object({ deviceCode: secret({ min: 1, max: 4096 }, { description: '`deviceCode` of the request' }) }),
    data: Type.Object({
      state: oneOf(['PENDING', 'APPROVED']),
      interval: whole('seconds until the next poll', { min: 1 }),
      login: nullable(loginData),
    }),
    errors: [Code.tokenInvalid, 404],
    example: { body: { deviceCode: 'AAAA' } },
  },

  /** Back-channel logout (OpenID Connect): the token is signed by the provider. */
  logoutSso: {
    summary: 'End sessions, as the provider reports',
    description:
      'Takes a `logout_token` as a form (application/x-www-form-urlencoded), as providers send it, or as JSON. A token with a session id ends that session on every node; a token without one ends all sessions of the person. A repeated token ends nothing.',
    limit: 'signIn',
    body: Type.Object({ logout_token: secret({ min: 1, max: ssoBounds.token }, { description: 'logout token' }) }),
    data: Type.Object({ ended: count('sessions that have ended') }),
    errors: [404],
    example: { body: { logout_token: 'eyJhbGciOiJSUzI1NiJ9.e30.AA' } },
  },

  /** For pages and terminals that have a token. */
  getSession: {
    tag: 'Authentication',
    summary: 'Show the session of the token',
    access: roles,
    peopleOnly: true,
    withoutKey: true,
    data: Type.Object({
      user: loginData.properties.user,
      sso: boolean('true: the session came from the provider and ends with the session there'),
      console: boolean('whether a page in a browser keeps the token'),
      withKey: boolean('whether a security key was used, or the provider reports so'),
      signedInAt: nullable(timestamp('the last sign-in; null if the provider does not say')),
      expireTime: tokenEnd,
    }),
  },
});
