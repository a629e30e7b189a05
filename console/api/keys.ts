/** Security keys in the browser. The code for them is loaded when a key is used. */
import type { AssertionResponse, AttestationResponse } from '../../src/contract/webauthn-input.ts';
import { Problem } from './problem.ts';

/** Whether this browser can use security keys at this address: only under HTTPS, or at localhost. */
export const canUseKeys = (): boolean => 'PublicKeyCredential' in globalThis;

/** Has a key sign in. `options`: from the daemon. Throws `Problem` if the person cancels or the key refuses. */
export async function answerOf(options: object): Promise<AssertionResponse> {
  const { startAuthentication } = await import('@simplewebauthn/browser');
  type Options = Parameters<typeof startAuthentication>[0]['optionsJSON'];
  return (await said(startAuthentication({ optionsJSON: options as Options }))) as AssertionResponse;
}

/** Has a key make a credential for this site. Throws `Problem` if the person cancels, or the key has one already. */
export async function newCredential(options: object): Promise<AttestationResponse> {
  const { startRegistration } = await import('@simplewebauthn/browser');
  type Options = Parameters<typeof startRegistration>[0]['optionsJSON'];
  return (await said(startRegistration({ optionsJSON: options as Options }))) as AttestationResponse;
}

/** What a browser says about a key is for programmers; the name of the error says which of two things happened. */
async function said(asked: Promise<object>): Promise<object> {
  try {
    return await asked;
  } catch (error) {
    throw new Problem('key', error instanceof Error && error.name === 'InvalidStateError' ? 'known' : 'none');
  }
}
