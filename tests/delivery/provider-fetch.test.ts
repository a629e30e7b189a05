/** Requests to a provider end, whatever it answers: the removal of credentials and the end of the daemon wait for them. */
import { expect, it } from 'vitest';
import { ProviderAway } from '../../daemon/delivery/provider/errors.ts';
import { providerFetch } from '../../daemon/delivery/provider/fetch.ts';
import { speaking } from '../support/http-servers.ts';

const get = (url: string) =>
  providerFetch(url, [], Date.now)(url, { method: 'GET', headers: {}, body: null, redirect: 'manual' });

it('a provider without a server is away, with the reason in words', async () => {
  await expect(get('http://127.0.0.1:1/')).rejects.toThrow(/^127\.0\.0\.1:1: the connection was refused$/);
});

it('a provider that changes to another protocol does not respond', async () => {
  const { url } = await speaking(socket =>
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\nConnection: Upgrade\r\n\r\n'),
  );
  const answer = get(url);
  await expect(answer).rejects.toThrow(ProviderAway);
  await expect(answer).rejects.toThrow(/HTTP 101$/);
});
