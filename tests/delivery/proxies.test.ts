/** The proxies of the environment: which address goes through which, and what is said of one that does not serve, with a real proxy. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { AllowedTargets } from '../../daemon/base/allowed-targets.ts';
import { Outgoing } from '../../daemon/base/outgoing.ts';
import { readText } from '../../src/cli/client/http.ts';
import { proxyAgent, sendHttp } from '../../src/cli/client/transport.ts';
import { agentEnv, proxyFor, proxyWords } from '../../src/delivery/proxies.ts';
import { issueCertificate, makeAuthority } from '../support/certificates.ts';
import { answering, answeringTls, closedAddress, listening } from '../support/http-servers.ts';
import { needs } from '../support/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { startTinyproxy } from '../support/tinyproxy.ts';

const chosen = (address: string, env: Readonly<Record<string, string>>) =>
  proxyFor(new URL(address), env)?.url.href ?? null;

describe('the proxy for an address', () => {
  it.each([
    ['https://api.example.org', { HTTPS_PROXY: 'http://p:3128' }, 'http://p:3128/'],
    ['https://api.example.org', { HTTP_PROXY: 'http://p:3128' }, null],
    ['wss://api.example.org', { HTTPS_PROXY: 'p:3128' }, 'http://p:3128/'],
    ['http://api.example.org', { HTTP_PROXY: 'http://p:3128' }, 'http://p:3128/'],
    ['https://api.example.org', { HTTPS_PROXY: 'http://p:1', https_proxy: 'http://q:2' }, 'http://q:2/'],
    ['https://api.example.org', { HTTPS_PROXY: ' ' }, null],
    ['https://localhost:7470', { HTTPS_PROXY: 'http://p:3128' }, null],
    ['http://127.0.0.9', { HTTP_PROXY: 'http://p:3128' }, null],
    ['http://[::1]:7470', { HTTP_PROXY: 'http://p:3128' }, null],
  ])('of %s with %j is %s', (address, env, proxy) => {
    expect(chosen(address, env as Readonly<Record<string, string>>)).toBe(proxy);
  });

  it.each([
    ['example.org', ['https://example.org', 'https://api.example.org'], ['https://notexample.org']],
    ['.example.org, *.example.com', ['https://a.example.org', 'https://a.example.com'], ['https://example.net']],
    ['example.org:8443', ['https://example.org:8443'], ['https://example.org']],
    ['10.0.0.0/8 fd00::1', ['https://10.1.2.3', 'https://[fd00::1]'], ['https://11.1.2.3', 'https://[fd00::2]']],
    ['10.64.0.0/10', ['https://10.127.9.9'], ['https://10.128.0.1', 'https://a.example.org']],
    [
      'fd00::2:1 [fd00::7]:8443',
      ['https://[fd00::2:1]', 'https://[fd00::7]:8443'],
      ['https://[fd00::2]:1', 'https://[fd00::7]'],
    ],
    ['192.0.2.7', ['https://192.0.2.7'], ['https://192.0.2.70']],
    ['*', ['https://example.org'], []],
    ['/8,,10.0.0.0/99', [], ['https://10.1.2.3']],
  ])('is none for what NO_PROXY=%s names', (exceptions, without, others) => {
    const env = { HTTPS_PROXY: 'http://p:3128', NO_PROXY: exceptions };
    for (const address of without) expect(chosen(address, env), address).toBe(null);
    for (const address of others) expect(chosen(address, env), address).toBe('http://p:3128/');
  });

  it('is named without its password, and a value that is none is refused', () => {
    const url = new URL('https://example.org');
    expect(proxyWords(proxyFor(url, { HTTPS_PROXY: 'http://ann:secret@p:3128' })!)).toBe(
      'the proxy http://p:3128 (HTTPS_PROXY)',
    );
    for (const value of ['socks5://p:1080', 'http://'])
      expect(() => proxyFor(url, { HTTPS_PROXY: value })).toThrow('HTTPS_PROXY is not the address of a proxy');
  });

  it('is refused by a Node whose agents would ignore it', async () => {
    vi.spyOn(process, 'allowedNodeEnvironmentFlags', 'get').mockReturnValue(new Set());
    onTestFinished(() => void vi.restoreAllMocks());
    env({ HTTPS_PROXY: 'http://ann:secret@p:3128' });
    const url = new URL('https://example.org');
    const words = `Node ${process.versions.node} cannot use the proxy http://p:3128 (HTTPS_PROXY)`;
    expect(() => agentEnv(proxyFor(url)!)).toThrow(words);
    const sent = sendHttp({ method: 'GET', url, headers: {}, signal: new AbortController().signal });
    await expect(sent).rejects.toThrow(`the request cannot be sent: ${words}`);
  });
});

const env = (values: Readonly<Record<string, string>>) => {
  for (const [name, value] of Object.entries(values)) vi.stubEnv(name, value);
};
afterEach(() => vi.unstubAllEnvs());

/** Not an address of loopback by its form, and this machine. */
const elsewhere = '0.0.0.0';

needs('tinyproxy')('through a proxy', () => {
  const signal = new AbortController().signal;
  async function both(address: string, ca?: string) {
    const url = new URL(address);
    const answer = await new Outgoing({ ...(ca ? { ca: Buffer.from(ca) } : {}) }).send({
      url,
      method: 'GET',
      headers: {},
    });
    const response = await sendHttp({ method: 'GET', url, headers: {}, ca, signal });
    return [answer.content.toString(), await readText(response, url.origin, signal)];
  }

  it('a daemon and a command reach a server over HTTP and HTTPS, with the credentials of the proxy', async () => {
    const via: (string | undefined)[] = [];
    const plain = await answering((request, response) => {
      via.push(request.headers.via);
      response.end('plain');
    }, elsewhere);
    const folder = temporaryFolder();
    const authority = makeAuthority(folder, 'authority');
    const made = issueCertificate(folder, authority, `IP:${elsewhere}`);
    const options = { cert: readFileSync(made.cert), key: readFileSync(made.key) };
    const peers: (number | undefined)[] = [];
    const tls = await answeringTls(
      options,
      (request, response) => {
        peers.push(request.socket.remotePort);
        response.end('secret');
      },
      elsewhere,
    );
    const { place } = await startTinyproxy('ann:word');
    env({ HTTP_PROXY: `http://ann:word@${place}`, HTTPS_PROXY: `http://ann:word@${place}` });
    expect(await both(plain.url)).toEqual(['plain', 'plain']);
    expect(via).toEqual([expect.stringContaining('tinyproxy'), expect.stringContaining('tinyproxy')]);
    expect(await both(tls.url, readFileSync(authority.cert, 'utf8'))).toEqual(['secret', 'secret']);
    expect(peers).toHaveLength(2);
    env({ NO_PROXY: elsewhere });
    expect(await both(plain.url)).toEqual(['plain', 'plain']);
    expect(via.slice(2)).toEqual([undefined, undefined]);
  });

  it('the stream of notifications is opened', async () => {
    const folder = temporaryFolder();
    const authority = makeAuthority(folder, 'authority');
    const made = issueCertificate(folder, authority, `IP:${elsewhere}`);
    const server = await import('node:https').then(({ createServer }) =>
      createServer({ cert: readFileSync(made.cert), key: readFileSync(made.key) }),
    );
    new WebSocketServer({ server }).on('connection', socket => socket.send('hello'));
    const { url } = await listening(server, { scheme: 'wss', host: elsewhere });
    env({ HTTPS_PROXY: (await startTinyproxy()).place });
    const proxy = proxyFor(new URL(url))!;
    const socket = new WebSocket(url, { ca: readFileSync(authority.cert), agent: proxyAgent(proxy) });
    const [message] = await once(socket, 'message');
    expect(`${message}`).toBe('hello');
    socket.terminate();
  });

  it('an error names the proxy that refuses, or is down, and never its password', async () => {
    const server = await answering((_request, response) => response.end(), elsewhere);
    const url = new URL(server.url.replace('http:', 'https:'));
    const errors = async () => [
      await new Outgoing({}).send({ url, method: 'GET', headers: {} }).catch((error: Error) => error.message),
      await sendHttp({ method: 'GET', url, headers: {}, signal }).catch((error: Error) => error.message),
    ];
    const { place } = await startTinyproxy('ann:word');
    env({ HTTPS_PROXY: `http://ann:wrong@${place}` });
    for (const said of await errors()) {
      expect(said).toContain(`the proxy http://${place} (HTTPS_PROXY)`);
      expect(said).not.toContain('wrong');
    }
    const away = await closedAddress();
    env({ HTTPS_PROXY: away });
    expect(await errors()).toEqual([
      `the proxy ${away} (HTTPS_PROXY): the connection was refused`,
      `${url.origin} cannot be reached through the proxy ${away} (HTTPS_PROXY): ECONNREFUSED`,
    ]);
  });

  it('an address that a webhook may not name is refused before the proxy is asked', async () => {
    const { place } = await startTinyproxy();
    env({ HTTPS_PROXY: place, HTTP_PROXY: place });
    const outgoing = new Outgoing({ allowed: new AllowedTargets([]) });
    const url = new URL('https://169.254.169.254/latest');
    await expect(outgoing.send({ url, method: 'GET', headers: {} })).rejects.toThrow('not a public address');
  });
});
