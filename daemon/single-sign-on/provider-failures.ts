/** Requests to a provider of single sign-on: what the library throws, and which error the sign-in ends with. */
import * as client from 'openid-client';
import { ProviderAway, SessionOver, SignInDenied, TokenRefused } from '../base/errors.ts';

/** Calls the provider, with its failures as errors of a sign-in. */
export const refusing = <T>(work: () => Promise<T>): Promise<T> =>
  work().catch(error => {
    throw translated(error);
  });

/** Calls the provider before a sign-in has a token: whatever is wrong with its answer counts as a provider that does not respond. */
export const beginning = <T>(work: () => Promise<T>): Promise<T> =>
  refusing(work).catch(error => {
    throw error instanceof TokenRefused ? new ProviderAway(error.message, { cause: error }) : error;
  });

/** Calls the provider about a session. The session has ended if the library reports `invalid_grant` or 401. */
export const ending = <T>(work: () => Promise<T>): Promise<T> =>
  work().catch(error => {
    if (error instanceof client.ResponseBodyError && error.error === 'invalid_grant')
      throw new SessionOver(error.error);
    if (error instanceof client.WWWAuthenticateChallengeError && error.status === 401) throw new SessionOver('401');
    throw translated(error);
  });

/** The library wraps what `fetch` rejects with. Nothing that the provider has sent is in a message. */
export function translated(error: unknown): Error {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof ProviderAway || cause instanceof TokenRefused) return cause;
  if (error instanceof client.AuthorizationResponseError) return new SignInDenied('the provider refused the sign-in');
  if (error instanceof client.ResponseBodyError) {
    const code = /^[a-z_]{1,40}$/.test(error.error) ? error.error : 'an error';
    return new SignInDenied(`the provider refuses (${code})`);
  }
  return new TokenRefused(error instanceof Error ? error.message : 'not a valid response of a provider', {
    cause: error,
  });
}
