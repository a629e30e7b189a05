/** A listening server with the application versions alone, on a real store, whose patience a test decides. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppService } from '../../daemon/files/apps.ts';
import { openBlobFolder } from '../../daemon/files/blob-folder.ts';
import { FileBudget } from '../../daemon/files/file-budget.ts';
import { fileOperations } from '../../daemon/files/routes.ts';
import type { FormTimes } from '../../daemon/http/form-operation.ts';
import { Quota, type QuotaBounds } from '../../daemon/requests/quota.ts';
import type { Store } from '../../daemon/store/store.ts';
import { uploadBounds } from '../../src/contract/limits.ts';
import { noFileBounds } from './daemon.ts';
import { startOperations } from './operation-server.ts';
import { openTemporary } from './sqlite.ts';

export interface UploadServerOptions {
  readonly formTimes?: FormTimes;
  readonly uploads?: QuotaBounds;
  /** Stands between the service and the store. */
  readonly between?: (store: Store) => Partial<Store>;
}

export async function startUploadServer({ formTimes, uploads = uploadBounds, between }: UploadServerOptions) {
  const home = await mkdtemp(join(tmpdir(), 'devmgr-uploads-'));
  const { store, cleanup } = await openTemporary();
  const blobs = await openBlobFolder(join(home, 'blobs'));
  const reads = { appsOf: store.appsOf.bind(store), commit: store.commit.bind(store) };
  const budget = new FileBudget(noFileBounds, blobs);
  const apps = new AppService({ store: { ...reads, ...between?.(store) } as Store, blobs, budget, now: Date.now });
  const server = await startOperations(store, fileOperations({ apps } as Parameters<typeof fileOperations>[0]), {
    uploads: new Quota(uploads),
    ...(formTimes ? { formTimes } : {}),
  });
  return {
    home,
    url: server.url,
    token: server.token,
    async stop() {
      await server.stop();
      await cleanup();
      await rm(home, { recursive: true, force: true });
    },
  };
}
