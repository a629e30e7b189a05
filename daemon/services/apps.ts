import type { Readable } from 'node:stream';
import type * as api from '../../src/contract/apps.ts';
import type { Platform } from '../../src/contract/apps.ts';
import { ApiError } from '../../src/contract/codes.ts';
import type { DataOf, FormOf, QueryOf } from '../../src/contract/define.ts';
import { versionIds } from '../../src/contract/ids.ts';
import { paging } from '../../src/contract/limits.ts';
import { toPage } from '../../src/contract/paging.ts';
import type { Blobs, StagedBlob } from '../blobs/blobs.ts';
import { isPackageOf, newest, packagesOf, platformOf } from '../domain/app-versions.ts';
import { cleanFileName, extensionOf } from '../domain/file-name.ts';
import type { AppRecord, Store } from '../store/store.ts';
import { actorOf, type Context } from './context.ts';
import * as present from './present.ts';
import { type Download, keep, stage, type Uploaded } from './stored-files.ts';

export interface AppServiceParts {
  readonly store: Store;
  readonly blobs: Blobs;
  readonly now: () => number;
}

type UploadForm = FormOf<typeof api.uploadApp>;

/** What an upload will be known by. */
interface Identity {
  readonly platform: Platform;
  readonly version: string;
  readonly extension: string;
  readonly fileName: string;
}

/** The operations on application versions. Refusals are `ApiError`s. */
export class AppService {
  readonly #store: Store;
  readonly #blobs: Blobs;
  readonly #now: () => number;

  constructor(parts: AppServiceParts) {
    this.#store = parts.store;
    this.#blobs = parts.blobs;
    this.#now = parts.now;
  }

  stage(content: Readable, maxBytes: number, expected: number): Promise<StagedBlob> {
    return stage(this.#blobs, content, maxBytes, expected);
  }

  /** Refuses an upload by its fields and the name of its file: 1001, 4002. */
  async judge(form: UploadForm, givenName: string): Promise<Identity> {
    const platform = platformOf(form.platform);
    const fileName = cleanFileName(givenName);
    const extension = extensionOf(fileName);
    if (!isPackageOf(platform, extension))
      throw new ApiError(
        4002,
        `the file needs an extension of ${platform} (${packagesOf(platform)}); it has ${extension ? `.${extension}` : 'none'}`,
      );
    const identity = { platform, version: form.version, extension, fileName };
    const same = (await this.#store.appsOf(platform)).find(
      app => app.version === form.version && app.extension === extension,
    );
    if (same) throw duplicate(identity, same.number);
    return identity;
  }

  async upload(context: Context, form: UploadForm, { fileName, blob }: Uploaded): Promise<api.AppVersion> {
    const identity = await this.judge(form, fileName);
    const at = this.#now();
    return keep(this.#blobs, blob, async name => {
      const app: Omit<AppRecord, 'number' | 'createdAt'> = {
        ...identity,
        versionName: form.versionName ?? null,
        changelog: form.changelog ?? null,
        forceUpdate: form.forceUpdate ?? false,
        minSupportVersion: form.minSupportVersion ?? null,
        fileSize: blob.size,
        sha256: blob.sha256,
        uploadedBy: actorOf(context) ?? '',
        blob: name,
      };
      const number = await this.#add(context, at, app);
      return appVersion({ ...app, number, createdAt: at });
    });
  }

  async list(query: QueryOf<typeof api.listApps>): Promise<DataOf<typeof api.listApps>> {
    const { page = paging.page, size = paging.size } = query;
    const { rows, total } = await this.#store.apps({
      platform: query.platform === undefined ? undefined : platformOf(query.platform),
      descending: query.sortOrder !== 'asc',
      offset: (page - 1) * size,
      limit: size,
    });
    return toPage(rows.map(appVersion), total, page, size) as DataOf<typeof api.listApps>;
  }

  async latest(query: QueryOf<typeof api.latestApp>): Promise<DataOf<typeof api.latestApp>> {
    const platform = platformOf(query.platform);
    const extension = query.extension?.replace(/^\./, '').toLowerCase();
    if (extension !== undefined && !isPackageOf(platform, extension))
      throw new ApiError(1001, `extension must be one of ${platform}: ${packagesOf(platform)}`);
    const all = await this.#store.appsOf(platform);
    const found = newest(
      all.filter(app => extension === undefined || app.extension === extension),
      query.currentVersion,
    );
    if (!found) throw new ApiError(4001, `no version for ${platform}${extension ? ` as .${extension}` : ''} yet`);
    return { ...found, latest: appVersion(found.latest) };
  }

  async show(versionId: string): Promise<api.AppVersion> {
    return appVersion(await this.#app(versionId));
  }

  /** The caller closes the file. */
  async download(versionId: string): Promise<Download> {
    const { blob, fileSize, sha256, fileName } = await this.#app(versionId);
    return { blob: await this.#blobs.read(blob, fileSize), sha256, fileName };
  }

  async #app(versionId: string): Promise<AppRecord> {
    const number = versionIds.parse(versionId);
    const app = number === null ? null : await this.#store.app(number);
    if (!app) throw new ApiError(4001, 'application version does not exist');
    return app;
  }

  async #add(context: Context, at: number, app: Omit<AppRecord, 'number' | 'createdAt'>): Promise<number> {
    const { platform, version, fileName, fileSize, sha256 } = app;
    const [outcome] = await this.#store.commit({
      at,
      actor: actorOf(context),
      requestId: context.requestId,
      changes: [
        {
          kind: 'app.add',
          app,
          entry: {
            type: 'APP_VERSION_UPLOADED',
            data: { platform, version },
            detail: { fileName, fileSize, sha256 },
          },
        },
      ],
    });
    if (outcome?.kind === 'added') return outcome.number;
    throw duplicate(app, outcome?.kind === 'duplicate' ? outcome.number : null);
  }
}

function duplicate({ platform, version, extension }: Omit<Identity, 'fileName'>, number: number | null): ApiError {
  const where = number === null ? '' : ` as ${versionIds.format(number)}`;
  return new ApiError(4002, `${platform} ${version} (.${extension}) has been uploaded already${where}`);
}

function appVersion(app: Omit<AppRecord, 'blob'>): api.AppVersion {
  return {
    versionId: versionIds.format(app.number),
    platform: app.platform,
    version: app.version,
    versionName: app.versionName,
    changelog: app.changelog,
    forceUpdate: app.forceUpdate,
    minSupportVersion: app.minSupportVersion,
    fileName: app.fileName,
    fileSize: app.fileSize,
    sha256: app.sha256,
    uploadedBy: app.uploadedBy,
    createdAt: present.iso(app.createdAt),
  };
}
