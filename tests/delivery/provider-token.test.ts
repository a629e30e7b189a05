/**
 * A token that a sign-in server gave, or a secret that was stored before secrets were checked, is sent only if a header can carry it, and
 * is in no message: those who issue keys see the refusals of a provider.
 */
import { expect, it } from 'vitest';
import { requestsTo } from '../../daemon/issuing/providers/requests.ts';
import { answering } from '../support/http-servers.ts';

it.each(['a\u0000', 'a\r\nb', 'schlüssel'])(
  'a request with the token %j is a refusal that names the provider',
  async token => {
    const send = requestsTo('okta', 'https://127.0.0.1:1', { allowed: ['127.0.0.1'], now: Date.now });
    const sent = send('https://127.0.0.1:1/', { authorization: `Bearer ${token}` });
    await expect(sent).rejects.toThrow('the secret or token of okta cannot be sent in a header: check its secret');
  },
);

it.each([
  ['token', { authorization: 'Bearer very $& secret' }],
  ['client secret', { form: { client_secret: 'very $& secret' } }],
])('a refusal that repeats the %s is shown without it', async (_, sent) => {
  const { url } = await answering((_request, response) =>
    response.writeHead(401).end(JSON.stringify({ error: `${'x'.repeat(190)} very $& secret is not valid` })),
  );
  const send = requestsTo('okta', url, { allowed: [], now: Date.now });
  const answer = send(url, { method: 'POST', ...sent });
  await expect(answer).rejects.toThrow(/x \*\*\* is n/);
  await expect(answer).rejects.not.toThrow(/very/);
});
