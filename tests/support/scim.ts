/** Requests of an identity provider. */
import type { TestDaemon } from './daemon.ts';
import { serviceToken } from './service-token.ts';

export interface ScimAnswer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
  readonly body: any;
  readonly headers: Headers;
}

export type ScimCall = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<ScimAnswer>;

/** A client with a service token that may use SCIM and nothing else. */
export async function scimClient(daemon: TestDaemon): Promise<ScimCall> {
  const { token } = await serviceToken(daemon, { role: 'VIEWER', may: ['scim'] });
  return scimClientWith(() => daemon.url, token);
}

export const scimClientWith =
  (url: () => string, token: string): ScimCall =>
  async (method, path, body, headers = {}) => {
    const content = body === undefined ? {} : { 'content-type': 'application/scim+json' };
    const response = await fetch(`${url()}/scim/v2${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...content, ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
  };

export const patchOp = (...Operations: object[]) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations,
});
