/** Requests to a provider end, whatever it answers: the removal of credentials and the end of the daemon wait for them. */
import { expect, it } from 'vitest';
import { ProviderAway } from '../../daemon/delivery/provider/errors.ts';
import { providerFetch } from '../../daemon/delivery/provider/fetch.ts';
import { speaking } from '../support/http-servers.ts';

it('a provider that changes to another protocol does not respond', async () => {
  const { url } = await speaking(socket =>
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\nConnection: Upgrade\r\n\r\n'),
  );
  const answer = providerFetch(url, [], Date.now)(url, { method: 'GET', headers: {}, body: null, redirect: 'manual' });
  await expect(answer).rejects.toThrow(ProviderAway);
  await expect(answer).rejects.toThrow(/HTTP 101$/);
});
