/** The claims of a token, and the session that is written to them and read from them. */
import type { Session } from '../requests/context.ts';

/** The claims of a token. */
export interface Claims {
  readonly sub: string;
  readonly username: string;
  readonly role: string;
  readonly exp: number;
  readonly iat: number;
  readonly jti: string;
  /** When the user logged in, in seconds since 1970. Tokens of earlier versions have no such claim: they count from `iat`. */
  readonly login?: number;
  /** When the person last signed in, in seconds since 1970; absent: with the login. See `Session` for this and what follows. */
  readonly auth_time?: number;
  readonly session?: 'CONSOLE';
  readonly key?: true;
  readonly only?: 'KEY';
  readonly sso?: string;
  /** `tokenEpoch` of the user when the token was issued. */
  readonly epoch: number;
  /** Of the role LOCAL: the process that has issued it. */
  readonly process?: string;
}

/** A property that every login has needs no claim, so that tokens stay short. */
export function claimsOf({
  signedInAt,
  console,
  withKey,
  mustRegisterKey,
  sso,
}: Partial<Session> = {}): Partial<Claims> {
  return {
    ...(signedInAt === undefined ? {} : { auth_time: signedInAt }),
    ...(console ? { session: 'CONSOLE' } : {}),
    ...(withKey ? { key: true } : {}),
    ...(mustRegisterKey ? { only: 'KEY' } : {}),
    ...(sso === undefined ? {} : { sso }),
  };
}

/** The session that the claims describe. `loginAt` is in seconds since 1970. */
export function sessionOf({ auth_time: signedInAt, session, key, only, sso, iat }: Claims, loginAt: number): Session {
  return {
    signedInAt: typeof signedInAt === 'number' ? Math.min(signedInAt, iat) : loginAt,
    console: session === 'CONSOLE',
    withKey: key === true,
    mustRegisterKey: only !== undefined,
    ...(typeof sso === 'string' ? { sso } : {}),
  };
}
