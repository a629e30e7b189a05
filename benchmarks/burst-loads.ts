/** The requests beside which the health of a daemon is measured: what strangers and users can send many of. */
import { limitConcurrency } from '../daemon/base/concurrency.ts';
import { type Challenged, fidoAnswer } from '../tests/support/challenged.ts';
import type { Answer } from '../tests/support/daemon.ts';
import { type Caller, data } from '../tests/support/fleet.ts';
import {
  provedDevice,
  ReceiptKey,
  receiptOf,
  signedBy,
  terms,
  trustReceiptKeys,
} from '../tests/support/receipt-key.ts';
import { Browser, type SsoProvider, setUp, startSsoProvider } from '../tests/support/sso-provider.ts';
import { authenticatorRoot } from '../tests/support/test-authenticator.ts';
import type { BurstOrder, BurstRequest } from './burst.ts';
import type { BenchDaemon } from './processes.ts';

/** Requests of one burst. */
export const requests = 300;

type Envelope = Pick<Answer, 'code' | 'message' | 'data'>;

export type BurstLoad = Pick<BurstOrder, 'method' | 'sent' | 'body'> & Partial<Pick<BurstOrder, 'headers'>>;

const numbers = Array.from({ length: requests }, (_, i) => i + 1);

const get = (path: string, vary = ''): BurstLoad => ({
  method: 'GET',
  sent: vary === '' ? [{ path }] : numbers.map(n => ({ path: path + vary + n })),
});
const post = (path: string, body: object): BurstLoad => ({
  method: 'POST',
  sent: [{ path }],
  body: JSON.stringify(body),
});

/** Each burst sends the same. */
export const plainLoads: Readonly<Record<string, BurstLoad>> = {
  'unknown paths': get('/api/nothing'),
  'Postman collections': get('/api/postman.json'),
  'OpenAPI documents as YAML': get('/api/openapi.yaml'),
  'scripts of the Swagger page': get('/api/swagger-ui/swagger-ui-bundle.js'),
  'wrong passwords': post('/api/auth/login', { username: 'admin', password: 'not this one' }),
  lists: get('/api/devices/list', '?size=100&page='),
  'lists by model': get('/api/devices/list', '?size=100&sortBy=model&createdFrom=2026-01-01T00:00:00Z&page='),
  keywords: get('/api/devices/list', '?size=100&keyword=ft-2026&page='),
  statistics: get('/api/statistics'),
  exports: get('/api/devices/export'),
  'changes of 100 devices': post('/api/devices/batch-update', {
    operation: 'UPDATE',
    items: Array.from({ length: 100 }, (_, i) => ({ deviceId: `DEV-${i + 1}`, note: 'burst' })),
  }),
  // After the changes: a registry in PostgreSQL has no other events.
  'reads of 1,000 events': get('/api/events', '?limit=1000&after='),
  'lists of persons': get('/api/people/list', '?size=100&page='),
};

/** Requests whose contents each burst needs for itself. */
export interface MadeLoads {
  readonly loads: Readonly<Record<string, () => Promise<BurstLoad>>>;
  stop(): Promise<void>;
}

const backup = 'b'.repeat(1024 ** 2);

/** Proofs, receipts, files and sign-ins at a provider of this process. */
export async function makeLoads(daemon: BenchDaemon): Promise<MadeLoads> {
  const caller = callerOf(daemon);
  const root = authenticatorRoot('Root of the bench');
  await trustReceiptKeys(caller, root);
  const key = new ReceiptKey({ root });
  const { deviceId } = await provedDevice(caller, key);
  const receipt = await receiptOf(caller, key, { deviceId });
  const provider = await startSsoProvider({ daemons: [daemon.url] });
  await setUp({ ...caller, url: daemon.url }, provider);
  const each = async (make: (n: number) => Promise<BurstRequest>): Promise<BurstLoad> => {
    const atOnce = limitConcurrency(20);
    return { method: 'POST', sent: await Promise.all(numbers.map(n => atOnce(() => make(n)))) };
  };
  const boundary = 'boundary-of-the-bench';
  const loads = {
    'challenges of proofs': async () => post('/api/proofs/challenge', {}),
    'proofs with FIDO evidence': () =>
      each(async n => {
        const asked = data(await caller.call('POST', '/api/proofs/challenge', {})) as Challenged;
        const serialNumber = `PROOF-${n}`;
        const body = { serialNumber, claims: {}, evidence: fidoAnswer(root, serialNumber, asked) };
        return { path: `/api/proofs/${asked.proofId}`, body: JSON.stringify(body) };
      }),
    'receipts to be signed': async () => post('/api/receipts', { kind: 'handover', deviceId, terms }),
    'signed receipts': () =>
      each(async () => {
        const { path, body } = await signedBy(caller, key, { deviceId });
        return { path, body: JSON.stringify(body) };
      }),
    // The command line makes the PDF of it.
    'receipts for a PDF': async () => get(`/api/receipts/${receipt.receiptId}`),
    'uploads of 1 MiB': async () => ({
      ...post(`/api/devices/${deviceId}/backups`, {}),
      headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
      body: [
        `--${boundary}`,
        'Content-Disposition: form-data; name="file"; filename="key.bak"',
        'Content-Type: application/octet-stream',
        '',
        backup,
        `--${boundary}--`,
        '',
      ].join('\r\n'),
    }),
    'starts of single sign-on': async () => post('/api/auth/sso/start', {}),
    'returns from single sign-on': async () => {
      const made = await each(n => returnOf(daemon, provider, `person-${n}`));
      return { ...made, method: 'GET' };
    },
  };
  return { loads, stop: () => provider.stop() };
}

/** Signs a person in at the provider; the request leads back from there. */
async function returnOf({ url }: BenchDaemon, provider: SsoProvider, sub: string): Promise<BurstRequest> {
  provider.people.set(sub, { groups: ['keys-readers'] });
  const browser = new Browser();
  const back = await browser.atProvider(await browser.start(url), sub);
  const headers = { accept: 'text/html', cookie: browser.cookieFor(back) };
  return { path: back.slice(url.length), headers };
}

/** The daemon as the makers of tests call it. */
const callerOf = ({ url, token }: BenchDaemon): Caller => ({
  async call(method, path, body, { raw } = {}) {
    const headers = { authorization: `Bearer ${token}`, ...(raw ? {} : { 'content-type': 'application/json' }) };
    const content = raw ?? (body === undefined ? null : JSON.stringify(body));
    const response = await fetch(url + path, { method, headers, body: content });
    return { status: response.status, headers: response.headers, ...((await response.json()) as Envelope) };
  },
});
