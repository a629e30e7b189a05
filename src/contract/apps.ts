import { type Static, Type } from 'typebox';
import { Code } from './codes.ts';
import { adminOnly, operations } from './define.ts';
import { boolean, line, maybe, nullable, oneOf, prose, shown, timestamp, token, whole } from './fields.ts';
import { versionIds } from './ids.ts';
import { sizes, textLengths } from './limits.ts';
import { paged, pageQuery } from './paging.ts';
import { platformNames, roles, textShapes } from './values.ts';

const platformInput = token({ description: `${platformNames.join(', ')}; case-insensitive`, examples: ['ANDROID'] });
const number = line(textLengths.version, {
  ...textShapes.packageVersion,
  description: 'version number',
  examples: ['1.0.0'],
});

/** An uploaded installer package. */
export const appVersion = Type.Object({
  versionId: Type.String({ pattern: versionIds.pattern, examples: ['APP-1'] }),
  platform: oneOf(platformNames),
  version: shown('version number', '1.0.0'),
  versionName: nullable(shown('display name')),
  changelog: nullable(shown('changes in this version')),
  forceUpdate: boolean('older clients must update'),
  minSupportVersion: nullable(shown('oldest version still supported')),
  fileName: shown('name of the package', 'devmgr-1.0.0.apk'),
  fileSize: whole('bytes', { min: 1 }),
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the file in lower-case hex' }),
  uploadedBy: shown('name of the user who uploaded it'),
  createdAt: timestamp('when it was uploaded'),
});
/** An uploaded installer package. */
export type AppVersion = Static<typeof appVersion>;

const params = Type.Object({ versionId: token({ description: 'version id', examples: ['APP-1'] }) });

/** Operations on application versions. */
export const appOperations = operations('Application versions', {
  /** A second upload with one platform, version and extension is refused with 4002. After a failure nothing is stored. */
  uploadAppVersion: {
    summary: 'Upload an installer package',
    description:
      'The parts can be in any order. Each combination of platform, version and extension can be uploaded once.',
    ...adminOnly,
    limit: 'upload',
    form: Type.Object({
      platform: platformInput,
      version: number,
      versionName: maybe(line(textLengths.versionName, { description: 'display name' })),
      changelog: maybe(prose(textLengths.changelog, { description: 'changes in this version' })),
      forceUpdate: maybe(boolean('older clients must update; true or false, case-insensitive')),
      minSupportVersion: maybe(number),
    }),
    file: {
      field: 'file',
      maxBytes: sizes.package,
      description: "the package; its extension must be one of the platform's",
    },
    data: appVersion,
    errors: [Code.uploadFailed],
    example: { form: { platform: 'ANDROID', version: '1.0.0', versionName: 'First', forceUpdate: 'false' } },
  },

  /** A page past the end is empty. */
  listAppVersions: {
    summary: 'List application versions',
    extension: true,
    access: roles,
    query: Type.Object({ ...pageQuery(), platform: Type.Optional(platformInput) }),
    data: paged(appVersion),
  },

  /** Refused with 4001 if nothing was uploaded for the platform (and extension). */
  getLatestAppVersion: {
    summary: 'Find the newest version and whether a client must update',
    description:
      'Versions compare as numbers; a missing part counts as 0, and a pre-release is below its release. Without currentVersion, updateAvailable and forceUpdate are false.',
    extension: true,
    access: roles,
    query: Type.Object({
      platform: platformInput,
      currentVersion: Type.Optional(number),
      extension: Type.Optional(
        token({ description: 'only packages with this extension, with or without the dot', examples: ['deb'] }),
      ),
    }),
    data: Type.Object({
      latest: appVersion,
      updateAvailable: Type.Boolean(),
      forceUpdate: boolean(
        'true if any newer version is forced, or if the client is below minSupportVersion of the latest',
      ),
    }),
    errors: [Code.versionNotFound],
    example: { query: { platform: 'ANDROID', currentVersion: '0.9.0' } },
  },

  /** An unknown id is refused with 4001. */
  getAppVersion: {
    summary: 'Show an application version',
    extension: true,
    access: roles,
    params,
    data: appVersion,
    errors: [Code.versionNotFound],
  },

  /** Supports one range per request; more than one returns the whole file. */
  downloadAppVersion: {
    summary: 'Download the package',
    description: 'Supports Range and If-None-Match; the ETag is the SHA-256 of the file.',
    extension: true,
    access: roles,
    params,
    raw: { contentType: 'application/octet-stream', description: 'the file' },
    errors: [Code.versionNotFound, 416],
  },
});
