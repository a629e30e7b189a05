/** A listening server with the application versions alone, on a real store, whose patience a test decides. */
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { openBlobFolder } from '../../daemon/blobs/blob-folder.ts';
import type { FormTimes } from '../../daemon/http/form-operation.ts';
import { KeyedRequests } from '../../daemon/http/idempotency.ts';
import { originRule } from '../../daemon/http/origin.ts';
import { appRoutes } from '../../daemon/http/routes/operations.ts';
import { buildServer } from '../../daemon/http/server.ts';
import { Accounts } from '../../daemon/services/accounts.ts';
import { AppService } from '../../daemon/services/apps.ts';
import { FileBudget } from '../../daemon/services/file-budget.ts';
import { Limiter } from '../../daemon/services/limiter.ts';
import { Tokens } from '../../daemon/services/tokens.ts';
import type { Store } from '../../daemon/store/store.ts';
import { noFileBounds } from './daemon.ts';
import { openTemporary } from './sqlite.ts';

export interface UploadServerOptions {
  readonly formTimes?: FormTimes;
  /** Stands between the service and the store. */
  readonly between?: (store: Store) => Partial<Store>;
}

export async function startUploadServer({ formTimes, between }: UploadServerOptions) {
  const home = await mkdtemp(join(tmpdir(), 'devmgr-uploads-'));
  const { store, cleanup } = await openTemporary();
  const accounts = new Accounts(store);
  const tokens = new Tokens(
    [{ key: new Uint8Array(32).fill(1), createdAt: null, replacedAt: null }],
    accounts,
    Date.now,
  );
  const limiter = new Limiter({ login: null, query: null, modify: null, upload: null });
  const blobs = await openBlobFolder(join(home, 'blobs'));
  const reads = { appsOf: store.appsOf.bind(store), commit: store.commit.bind(store) };
  const budget = new FileBudget(noFileBounds, blobs);
  const apps = new AppService({ store: { ...reads, ...between?.(store) } as Store, blobs, budget, now: Date.now });
  const app = await buildServer(
    { logger: pino({ level: 'silent' }), origin: originRule('127.0.0.1', []), trustProxy: [] },
    [
      app =>
        appRoutes(app, {
          tokens,
          limiter,
          keyed: new KeyedRequests({ store, now: Date.now }),
          apps,
          ...(formTimes ? { formTimes } : {}),
        }),
    ],
  );
  await app.listen({ host: '127.0.0.1', port: 0 });
  const user = { username: 'admin', passwordHash: 'none', role: 'ADMIN', email: null, disabled: false } as const;
  await store.commit({
    at: Date.now(),
    actor: null,
    requestId: null,
    changes: [{ kind: 'user.add', user, entry: { type: 'USER_CREATED' } }],
  });
  return {
    home,
    url: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`,
    token: tokens.issue((await store.userByName('admin'))!).token,
    async stop() {
      await app.close();
      await cleanup();
      await rm(home, { recursive: true, force: true });
    },
  };
}
