/** Security keys in the browser. The code for them is loaded when a key is used. */
import type { AssertionResponse, AttestationResponse } from '../../src/contract/webauthn.ts';
import { Problem } from './problem.ts';

/** Keys belong to the name of a site: browsers refuse them at an address of numbers. */
const isNumeric = (): boolean => /^[\d.]+$|^\[/.test(location.hostname);

/** Whether this browser can use security keys at this address: over HTTPS or at localhost, not at an address of numbers. */
export const canUseKeys = (): boolean => 'PublicKeyCredential' in globalThis && !isNumeric();

/** Address of this page at localhost, where keys work; null if this machine is not known to be that of the daemon. */
export const localAddress = (): string | null =>
  /^127\.|^\[::1\]$/.test(location.hostname)
    ? Object.assign(new URL(location.href), { hostname: 'localhost' }).href
    : null;

/** Asks a key for a signature. `options`: from the daemon. Throws `Problem` if the person cancels or no key fits. */
export async function answerOf(options: object): Promise<AssertionResponse> {
  const { startAuthentication } = await import('@simplewebauthn/browser');
  return asked(startAuthentication({ optionsJSON: options as never }));
}

/** Asks a key for a credential of this site. Throws `Problem` if the person cancels or the key has one already. */
export async function newCredential(options: object): Promise<AttestationResponse> {
  const { startRegistration } = await import('@simplewebauthn/browser');
  return asked(startRegistration({ optionsJSON: options as never }));
}

/** The messages of browsers are for programmers; the name of the error shows whether the key is already registered. */
async function asked<T>(answer: Promise<object>): Promise<T> {
  try {
    return (await answer) as T;
  } catch (error) {
    throw new Problem('key', error instanceof Error && error.name === 'InvalidStateError' ? 'known' : 'none');
  }
}
