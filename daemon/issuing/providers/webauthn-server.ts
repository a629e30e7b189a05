/** Any server with three addresses that speak WebAuthn's JSON: options, finish, remove. docs/issuing.md describes them. */
import { enteredProblem } from '../../base/fetch.ts';
import type { ProviderRecord } from '../provider.ts';
import { type IssuingProvider, ProviderRefused } from './provider-api.ts';
import { type JsonRequest, objectIn, type ProviderAccess, requestsTo, textIn } from './requests.ts';

type Addresses = Pick<ProviderRecord, 'address' | 'finishAddress' | 'removeAddress'>;

/** Milliseconds for which a challenge is valid: without a `timeout` of the server, and at most. */
const CHALLENGE_MS = 5 * 60_000;

/** The secret is sent as a bearer token. */
export function webauthnServer(addresses: Addresses, access: ProviderAccess): IssuingProvider {
  const send = requestsTo('the server', addresses.address!, access, `Bearer ${access.secret}`);
  const post = (url: string | null, body: object, reading: Pick<JsonRequest, 'mayMiss' | 'anyContent'> = {}) =>
    send(url!, { method: 'POST', body, ...reading });
  return {
    async test() {
      await post(addresses.address, { test: true });
    },
    account: async userName => userName,
    async options(account) {
      // Checked before a key makes a credential that could not be finished or removed.
      for (const address of [addresses.finishAddress!, addresses.removeAddress!]) {
        const problem = await enteredProblem(address, addresses.address!, access.allowed);
        if (problem !== null) throw new ProviderRefused(`the address ${address} ${problem}`);
      }
      const answer = (await post(addresses.address, { userName: account }))!;
      const options = objectIn(answer, 'options');
      const life = typeof options.timeout === 'number' ? Math.min(options.timeout, CHALLENGE_MS) : CHALLENGE_MS;
      return { origin: textIn(answer, 'origin'), options, expiresAt: access.now() + life, handle: null };
    },
    /** The server keeps the credential id as its own: a repeated answer is the same credential. */
    async finish({ account, label, response }) {
      await post(addresses.finishAddress, { userName: account, name: label, response }, { anyContent: true });
      return response.id;
    },
    list: async () => null,
    async remove(account, { credentialId }) {
      const reading = { mayMiss: true, anyContent: true };
      return (await post(addresses.removeAddress, { userName: account, credentialId }, reading)) !== null;
    },
  };
}
