/** A token that a sign-in server gave, or a secret that was stored before secrets were checked, is sent only if a header can carry it. */
import { expect, it } from 'vitest';
import { ProviderRequests } from '../../daemon/services/issuing/providers/requests.ts';

it.each(['a\u0000', 'a\r\nb', 'schlüssel'])(
  'a request with the token %j is a refusal that names the provider',
  async token => {
    const requests = new ProviderRequests('okta', 'https://127.0.0.1:1', { allowed: ['127.0.0.1'], now: Date.now });
    const sent = requests.send('https://127.0.0.1:1/', { authorization: `Bearer ${token}` });
    await expect(sent).rejects.toThrow('the secret or token of okta cannot be sent in a header: check its secret');
  },
);
