/** Requests to a provider end, whatever it answers: the removal of credentials and the end of the daemon wait for them. */
import { expect, it } from 'vitest';
import type { Resolve } from '../../daemon/base/allowed-targets.ts';
import { AddressRefused, ProviderAway } from '../../daemon/base/errors.ts';
import { enteredProblem, providerFetch } from '../../daemon/base/fetch.ts';
import { isRefusal } from '../../daemon/issuing/providers/provider-api.ts';
import { webauthnServer } from '../../daemon/issuing/providers/webauthn-server.ts';
import { answering, json, speaking } from '../support/http-servers.ts';

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

it.each([
  ['169.254.169.254', false],
  ['fd00:ec2::254', false],
  ['::ffff:10.0.0.1', false],
  ['10.20.0.7', true],
  ['127.0.0.1', true],
  ['100.64.0.9', true],
  ['fd12::1', true],
  ['93.184.216.34', true],
])('a name that an administrator has entered may have the address %s: %s', async (address, isAccepted) => {
  const lookup: Resolve = (_host, _options, done) => done(null, [{ address, family: address.includes(':') ? 6 : 4 }]);
  const named = 'https://sign-in.example.com/';
  const problem = await enteredProblem(named, named, [], lookup);
  expect(problem).toEqual(isAccepted ? null : expect.stringContaining(`which is ${address}`));
  // The operator of the daemon can allow anything.
  expect(await enteredProblem(named, named, ['sign-in.example.com'], lookup)).toBe(null);
});

it('a request to a metadata address is not sent, and is not to be repeated', async () => {
  await expect(get('https://169.254.169.254/latest')).rejects.toThrow(AddressRefused);
});

it('a WebAuthn server that was entered with a forbidden address is refused before a key makes a credential', async () => {
  let requests = 0;
  const { url } = await answering((_request, response) => {
    requests++;
    response.writeHead(200, json).end('{}');
  });
  const addresses = { address: url, finishAddress: 'https://169.254.169.254/', removeAddress: url };
  const refused = await webauthnServer(addresses, { secret: 'secret', allowed: [], now: Date.now })
    .options('ada')
    .catch((error: unknown) => error);
  expect([isRefusal(refused), String(refused), requests]).toEqual([true, expect.stringContaining('169.254'), 0]);
});
