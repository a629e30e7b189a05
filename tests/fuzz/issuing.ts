/** Issuing keys and receipts: what a provider may answer, and what a program may send in the name of a key. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { ProviderAway } from '../../daemon/base/errors.ts';
import { entra } from '../../daemon/issuing/providers/entra.ts';
import { okta } from '../../daemon/issuing/providers/okta.ts';
import { type IssuingProvider, ProviderRefused } from '../../daemon/issuing/providers/provider-api.ts';
import { webauthnServer } from '../../daemon/issuing/providers/webauthn-server.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { data } from '../support/fleet.ts';
import { IdentityKey, identityChallenge } from '../support/identity-key.ts';
import { answerOf } from '../support/issuing-providers.ts';
import { provedDevice, signedBy, trustReceiptKeys } from '../support/receipt-key.ts';
import { text } from './values.ts';

interface Tried {
  readonly seed: number;
  readonly count: number;
}

/** A server that answers each request with what is set. */
class Answering {
  status = 200;
  headers: Record<string, string> = {};
  body: string | Buffer = '';
  readonly #server = createServer((request, response) => {
    const isToken = request.url!.endsWith('/token') && this.status === 200;
    const body = isToken ? '{"access_token":"token","expires_in":3599}' : this.body;
    response.writeHead(this.status, this.headers).end(body);
  });
  url = '';

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

const json = fc.json({ maxDepth: 3 }).map(one => JSON.parse(one) as unknown);
const scalar = fc.oneof(
  text,
  json,
  fc.constantFrom<unknown>(null, 5, true, [], {}, '', 'webauthn', 'ACTIVE', '2026-01-01T00:00:00Z', [{}], [null]),
);
const memberNames = [
  ...['id', 'value', '_embedded', 'activation', 'challenge', 'publicKey', 'challengeTimeoutDateTime', 'origin'],
  ...['options', 'rp', 'user', 'excludeCredentials', 'timeout', 'profile', 'credentialId', 'factorType', 'status'],
  ...['displayName', '@odata.nextLink', '@odata.type', 'error', 'message', 'errorSummary', 'error_description'],
];
/** Objects of the names that providers use, with values of any kind. */
const answerBody = fc.letrec<{ object: Record<string, unknown>; value: unknown }>(tie => ({
  value: fc.oneof({ maxDepth: 4 }, scalar, tie('object'), fc.array(tie('object'), { maxLength: 3 })),
  object: fc.dictionary(fc.constantFrom(...memberNames), tie('value'), { maxKeys: 8 }),
})).value;
const providerAnswer = fc.record({
  status: fc.constantFrom(200, 200, 200, 200, 201, 204, 302, 400, 401, 404, 429, 500, 503),
  retryAfter: fc.constantFrom('', '', '5', '-1', 'x', '9'.repeat(40), 'Wed, 21 Oct 2099 07:28:00 GMT'),
  body: fc.oneof(
    { weight: 6, arbitrary: answerBody.map(one => JSON.stringify(one) ?? '') },
    { weight: 1, arbitrary: text },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }).map(bytes => Buffer.from(bytes)) },
  ),
  request: fc.constantFrom('test', 'account', 'options', 'finish', 'list', 'remove'),
  account: text.map(one => one.toWellFormed()),
});

const response = { id: 'AAAA', rawId: 'AAAA', type: 'public-key' as const };
const parts = { clientDataJSON: 'AAAA', attestationObject: 'AAAA' };
const caller = { role: 'ADMIN', user: null, serviceToken: null, expiresAt: 0, loginAt: 0 } as const;
const by = { caller, requestId: 'fuzz', address: '127.0.0.1' };
const requests: Readonly<Record<string, (api: IssuingProvider, account: string) => Promise<unknown>>> = {
  test: api => api.test(),
  account: (api, account) => api.account(account),
  options: (api, account) => api.options(account),
  finish: (api, account) =>
    api.finish({
      account,
      label: 'devmgr 0123456789',
      handle: 'h',
      response: { ...response, response: parts },
      device: 1,
      by,
    }),
  list: (api, account) => api.list(account),
  remove: (api, account) => api.remove(account, { remoteId: 'r', credentialId: 'AAAA' }),
};

/** The fault of the result of a request; null if it has none. */
function wrongIn(request: string, result: unknown): string | null {
  if (request === 'account' || request === 'finish') return typeof result === 'string' ? null : 'not a text';
  if (request === 'list') {
    const isItem = (one: unknown) => typeof (one as { remoteId?: unknown })?.remoteId === 'string';
    return result === null || (Array.isArray(result) && result.every(isItem)) ? null : 'not a list of credentials';
  }
  if (request !== 'options') return null;
  const { origin, options, expiresAt } = result as Record<string, unknown>;
  const isWhole = typeof origin === 'string' && typeof options === 'object' && Number.isFinite(expiresAt);
  return isWhole ? null : 'options are not whole';
}

/** Each answer gives a value, or an error of the two that callers know. */
export async function tryProviderAnswers({ seed, count }: Tried): Promise<string[]> {
  const server = new Answering();
  await server.start();
  const { url } = server;
  const network = { allowed: ['127.0.0.1'], now: Date.now, secret: 'secret' };
  const apis = {
    entra: () => entra({ tenant: 't', clientId: 'c', loginAddress: url, address: url }, network),
    okta: () => okta(url, network),
    webauthn: () => webauthnServer({ address: url, finishAddress: url, removeAddress: url }, network),
  };
  const faults: string[] = [];
  const samples = fc.sample(fc.tuple(fc.constantFrom(...Object.keys(apis)), providerAnswer), { seed, numRuns: count });
  for (const [i, [name, { status, retryAfter, body, request, account }]] of samples.entries()) {
    Object.assign(server, { status, body: status === 204 ? '' : body });
    server.headers = retryAfter === '' ? {} : { 'retry-after': retryAfter };
    const fault = await requests[request]!(apis[name as keyof typeof apis](), account).then(
      result => wrongIn(request, result),
      error => (error instanceof ProviderAway || error instanceof ProviderRefused ? null : String(error)),
    );
    if (fault !== null) faults.push(`answer ${i} of ${name} to ${request}, seed ${seed}: ${fault}: ${status} ${body}`);
  }
  server.stop();
  return faults;
}

/** A text or bytes in base64url with something cut out, put in or changed. */
const spoiling = fc.array(fc.tuple(fc.nat(), fc.constantFrom('cut', 'flip', 'insert', 'replace'), fc.nat(255), json), {
  minLength: 1,
  maxLength: 3,
});
type Spoiling = readonly (readonly [number, string, number, unknown])[];

function spoiledBytes(bytes: Buffer, at: number, how: string, byte: number): Buffer {
  const place = at % (bytes.length + 1);
  if (how === 'cut') return bytes.subarray(0, place);
  if (how === 'insert') return Buffer.concat([bytes.subarray(0, place), Buffer.of(byte), bytes.subarray(place)]);
  const copy = Buffer.from(bytes);
  if (place < copy.length) copy[place] = copy[place]! ^ (byte || 1);
  return copy;
}

/** The body with one of its texts spoiled by each. `encoded`: those that are base64url. */
function spoiled(body: object, spoilings: Spoiling, encoded: readonly string[]): object {
  const copy = structuredClone(body) as Record<string, unknown>;
  for (const [at, how, byte, value] of spoilings) {
    const inner = typeof copy.response === 'object' && copy.response !== null && byte % 4 > 0 ? copy.response : copy;
    const object = inner as Record<string, unknown>;
    const names = Object.keys(object);
    const name = names[at % names.length]!;
    const before = object[name];
    if (how === 'replace' || typeof before !== 'string') object[name] = value;
    else if (encoded.includes(name))
      object[name] = spoiledBytes(Buffer.from(before, 'base64url'), at >>> 3, how, byte).toString('base64url');
    else object[name] = spoiledBytes(Buffer.from(before), at >>> 3, how, byte).toString('latin1');
  }
  return copy;
}

const ENCODED = ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature', 'id', 'rawId', 'sealed'];
const CODES = [200, 404, 1001, 2001, 2004, 2006];

/** Answers of keys, what they sign, and sealed PINs, all spoiled: refused, each as the interface describes it. No receipt is stored. */
export async function tryAnswersOfKeys({ seed, count }: Tried): Promise<string[]> {
  const faults: string[] = [];
  const server = new Answering();
  await server.start();
  const daemon = await startTestDaemon({ webhookAllow: ['127.0.0.1'] });
  await trustReceiptKeys(daemon);
  const { deviceId, key } = await provedDevice(daemon);
  const settings = { name: 'p', type: 'webauthn', secret: 's', address: server.url };
  const addresses = { finishAddress: server.url, removeAddress: server.url };
  const { providerId } = data(await daemon.call('POST', '/api/providers', { ...settings, ...addresses }));
  const rp = { id: 'accounts.example', name: 'Accounts' };
  const options = { challenge: 'A'.repeat(43), rp, user: { id: 'AAAA', name: 'ada', displayName: 'Ada' } };
  const answer = { origin: 'https://accounts.example', options };
  const credentials = `/api/devices/${deviceId}/credentials`;
  const begin = async () => {
    Object.assign(server, { status: 200, body: JSON.stringify(answer) });
    const { credentialId } = data(await daemon.call('POST', credentials, { providerId }));
    // Whatever reaches it is refused.
    server.status = 400;
    return `${credentials}/${credentialId}`;
  };
  let path = await begin();
  const made = answerOf(answer);
  const receipt = await signedBy(daemon, key, { deviceId });
  const sealed = Buffer.from('age-encryption.org/v1\n-> X25519 sample\n').toString('base64url');
  const [recognized, fresh] = [new IdentityKey(), new IdentityKey()];
  await recognized.enroll(daemon);
  const asked = await identityChallenge(daemon);
  const proving = `/api/identity/${asked.identityId}/prove`;
  const signed = recognized.sign(asked);
  const evidence = fresh.make(asked);
  const kinds = fc.constantFrom('credential', 'receipt', 'pin', 'signature', 'evidence');
  for (const [i, [kind, spoilings]] of fc.sample(fc.tuple(kinds, spoiling), { seed, numRuns: count }).entries()) {
    const [to, body] =
      kind === 'pin'
        ? [`/api/devices/${deviceId}/pin`, spoiled({ sealed, reset: true }, spoilings, ENCODED)]
        : kind === 'receipt'
          ? [receipt.path, spoiled(receipt.body, spoilings, ENCODED)]
          : kind === 'signature'
            ? [proving, spoiled(signed, spoilings, ENCODED)]
            : kind === 'evidence'
              ? [
                  `/api/identity/${asked.identityId}/bind`,
                  { deviceId, numberSource: 'printed', evidence: spoiled(evidence, spoilings, ENCODED) },
                ]
              : [path, { response: spoiled(made, spoilings, ENCODED) }];
    const { code, message } = await daemon.call('POST', to, body).catch(error => ({ code: 0, message: String(error) }));
    const whole = { receipt: receipt.body, signature: signed }[kind as 'receipt'];
    const isStored = whole !== undefined && code === 200 && JSON.stringify(body) !== JSON.stringify(whole);
    if (!CODES.includes(code) || isStored)
      faults.push(`${kind} ${i} of seed ${seed}: ${code} ${message}: ${JSON.stringify(body)}`);
    if (kind === 'credential' && /refuse/.test(message)) path = await begin();
  }
  faults.push(...(daemon.logged().match(/^.*"level":"error".*$/gm) ?? []));
  await daemon.stop();
  server.stop();
  return faults;
}
