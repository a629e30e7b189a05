/** A listening server with the operations that a test binds, on a real store with one administrator. */
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { Accounts } from '../../daemon/accounts/accounts.ts';
import { Tokens } from '../../daemon/accounts/tokens.ts';
import { type Bindings, bindOperations } from '../../daemon/http/bindings.ts';
import type { FormParts } from '../../daemon/http/form-operation.ts';
import { KeyedRequests } from '../../daemon/http/idempotency.ts';
import { originRule } from '../../daemon/http/origin.ts';
import { buildServer } from '../../daemon/http/server.ts';
import { Limiter } from '../../daemon/requests/limiter.ts';
import { Quota } from '../../daemon/requests/quota.ts';
import { StepUpRule } from '../../daemon/requests/session.ts';
import type { Store } from '../../daemon/store/store.ts';
import { uploadBounds } from '../../src/contract/limits.ts';

export interface OperationServer {
  readonly url: string;
  /** Token of the administrator. */
  readonly token: string;
  stop(): Promise<void>;
}

export async function startOperations(
  store: Store,
  operations: Bindings,
  { uploads = new Quota(uploadBounds), ...times }: Pick<FormParts, 'uploads' | 'formTimes'> = {},
): Promise<OperationServer> {
  const key = { key: new Uint8Array(32).fill(1), createdAt: null, replacedAt: null };
  const tokens = new Tokens([key], new Accounts(store), Date.now);
  const limiter = new Limiter({ login: null, query: null, modify: null, upload: null });
  const stepUp = new StepUpRule('off', Date.now);
  const parts = { tokens, limiter, keyed: new KeyedRequests({ store, now: Date.now }), stepUp, uploads, ...times };
  const logger = pino({ level: 'silent' });
  const app = await buildServer({ logger, origin: originRule('127.0.0.1', []), trustProxy: [] }, [
    app => bindOperations(app, parts, operations),
  ]);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const user = { username: 'admin', passwordHash: 'none', role: 'ADMIN', email: null, disabled: false } as const;
  const change = { kind: 'user.add', user, entry: { type: 'USER_CREATED' } } as const;
  await store.commit({ at: Date.now(), actor: null, requestId: null, changes: [change] });
  return {
    url: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`,
    token: tokens.issue((await store.userByName('admin'))!).token,
    stop: () => app.close(),
  };
}
