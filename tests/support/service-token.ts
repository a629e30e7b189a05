/** Service tokens for tests. */
import type { TestDaemon } from './daemon.ts';
import { data } from './fleet.ts';

let made = 0;

export interface MadeToken {
  readonly tokenId: string;
  readonly token: string;
  readonly name: string;
  readonly expiresAt: string;
}

/** Creates a service token as the administrator: a DEALER's for a day unless `body` sets something else. */
export async function serviceToken(daemon: TestDaemon, body: object = {}): Promise<MadeToken> {
  const given = { name: `service-${++made}`, role: 'DEALER', expiresInDays: 1, ...body };
  return data(await daemon.call('POST', '/api/tokens', given));
}
