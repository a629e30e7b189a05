import type * as api from '../../src/contract/apps.ts';
import { ApiError, Code } from '../../src/contract/codes.ts';
import { versionIds } from '../../src/contract/ids.ts';
import type { Data, Form, Query } from '../../src/contract/routes.ts';
import { iso } from '../base/time.ts';
import { BlobError } from '../requests/blob-error.ts';
import type { StagedBlob } from '../requests/blobs.ts';
import type { Download } from '../requests/content.ts';
import {
  accept,
  actorOf,
  type Context,
  commitFor,
  refused,
  Service,
  type ServiceParts,
  timeOf,
} from '../requests/context.ts';
import { readPage } from '../store/page.ts';
import * as domain from './app.ts';
import { type ArrivingBody, type FileStore, keep, stage, type UploadedFile } from './stored-files.ts';

/** Dependencies of the service. */
interface AppServiceParts extends FileStore, ServiceParts {}

/** The operations on application versions. A refusal is thrown as an `ApiError`. */
export class AppService extends Service<AppServiceParts> {
  /** Stages an upload with `stage`. */
  stage(arriving: ArrivingBody): Promise<StagedBlob> {
    return stage(this.parts, arriving);
  }

  /** Refuses an upload because of its fields or the name of its file: 1001, 4002. */
  async judge(form: Form<'uploadAppVersion'>, givenName: string): Promise<domain.AppIdentity> {
    const identity = accept(domain.identify(form, givenName));
    const existing = (await this.store.appsOf(identity.platform)).find(
      app => app.version === identity.version && app.extension === identity.extension,
    );
    if (existing) throw refused(domain.duplicateUpload(identity, existing.number));
    return identity;
  }

  async upload(
    context: Context,
    form: Form<'uploadAppVersion'>,
    { fileName, blob }: UploadedFile,
  ): Promise<api.AppVersion> {
    const identity = await this.judge(form, fileName);
    const at = this.now();
    return keep(this.parts, blob, async name => {
      const app: domain.NewApp = {
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
      return appVersion({ ...app, ...(await this.#add(context, at, app)) });
    });
  }

  async list(query: Query<'listAppVersions'>): Promise<Data<'listAppVersions'>> {
    const platform = query.platform === undefined ? undefined : accept(domain.platformOf(query.platform));
    return readPage(query, window => this.store.apps({ platform, ...window }), appVersion);
  }

  async latest(query: Query<'getLatestAppVersion'>): Promise<Data<'getLatestAppVersion'>> {
    const platform = accept(domain.platformOf(query.platform));
    const extension =
      query.extension === undefined ? undefined : accept(domain.packageExtension(platform, query.extension));
    const all = await this.store.appsOf(platform);
    const found = domain.latestOf(
      all.filter(app => extension === undefined || app.extension === extension),
      query.currentVersion,
    );
    if (!found)
      throw new ApiError(Code.versionNotFound, `no version for ${platform}${extension ? ` as .${extension}` : ''} yet`);
    return { ...found, latest: appVersion(found.latest) };
  }

  async show(versionId: string): Promise<api.AppVersion> {
    return appVersion(await this.#app(versionId));
  }

  /** The digest of the file has been checked. The caller closes the file. */
  async download(versionId: string): Promise<Download> {
    const { blob, fileSize, sha256, fileName } = await this.#app(versionId);
    const file = await this.parts.blobs.read(blob, fileSize, sha256).catch(error => {
      if (!(error instanceof BlobError)) throw error;
      const how = error.problem === 'missing' ? 'is missing' : 'has changed on the disk';
      const message = `the file of ${versionId} ${how}; restore the files of the service from a backup`;
      throw Object.assign(new ApiError(500, message), { cause: error });
    });
    return { blob: file, sha256, fileName };
  }

  async #app(versionId: string): Promise<domain.AppRecord> {
    const number = versionIds.parse(versionId);
    const app = number === null ? null : await this.store.app(number);
    if (!app) throw new ApiError(Code.versionNotFound, 'application version does not exist');
    return app;
  }

  async #add(
    context: Context,
    at: number,
    app: domain.NewApp,
  ): Promise<Pick<domain.AppRecord, 'number' | 'createdAt'>> {
    const [result] = await commitFor(this.store, context, { at, changes: [domain.upload(app)] });
    if (result?.kind === 'duplicate') throw refused(domain.duplicateUpload(app, result.number));
    if (result?.kind !== 'added') throw new Error('the store has not added the version');
    return { number: result.number, createdAt: timeOf(result, at) };
  }
}

function appVersion(app: Omit<domain.AppRecord, 'blob'>): api.AppVersion {
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
    createdAt: iso(app.createdAt),
  };
}
