import { basename, extname } from 'node:path';
import type { AppVersion } from '../../../contract/apps.ts';
import { sizes } from '../../../contract/limits.ts';
import { namesIn } from '../../../contract/names.ts';
import { type Platform, platformNames, platforms } from '../../../contract/values.ts';
import { need } from '../../framework/ask.ts';
import type { Context } from '../../framework/context.ts';
import { command, definedFields } from '../../framework/define.ts';
import { checkTarget, downloadTo, targetFlags } from '../../framework/files/download.ts';
import { fileAt, notAccepted, sendFile } from '../../framework/files/upload.ts';
import { pageFlags } from '../../framework/flags.ts';
import { listFlags } from '../../framework/format.ts';
import { type CardRow, indent, present } from '../../framework/present.ts';
import { pageQuery, presentPage } from '../../framework/present-list.ts';
import { textIn } from '../../settings/files.ts';
import type { Column } from '../../terminal/column.ts';
import { safe, safeProse } from '../../terminal/text.ts';
import { bytes, localTime } from '../../terminal/when.ts';

const appFields = namesIn(
  'versionId platform version versionName changelog forceUpdate minSupportVersion fileName fileSize sha256 uploadedBy createdAt',
) satisfies readonly (keyof AppVersion)[];

/** Lists application versions: `GET /api/app-versions/list`. */
export const appsList = command({
  flags: {
    platform: { value: 'PLATFORM', choices: platformNames, help: 'only this platform' },
    ...pageFlags('versions'),
    ...listFlags(appFields),
  },
  examples: { 'versions for Android': 'apps list --platform ANDROID' },
  async run({ flags }, context) {
    const query = { ...pageQuery(flags), ...definedFields({ platform: flags.platform }) };
    const data = await context.registry.call('listAppVersions', { query });
    const listing = { fields: appFields, columns: appColumns, id: 'versionId' } as const;
    return presentPage(context, data, listing, { what: 'versions', none: 'No application version has been uploaded.' });
  },
});

/** Columns of a list of application versions. */
export const appColumns: Column<AppVersion>[] = [
  { title: 'ID', value: app => app.versionId },
  { title: 'PLATFORM', value: app => app.platform },
  { title: 'VERSION', value: app => app.version, shorten: 'end' },
  { title: 'FORCED', value: app => (app.forceUpdate ? 'yes' : 'no'), drop: 2 },
  { title: 'FILE', value: app => app.fileName, shorten: 'middle', drop: 1 },
  { title: 'SIZE', value: app => bytes(app.fileSize), align: 'right', drop: 3 },
  { title: 'BY', value: app => app.uploadedBy, shorten: 'end', drop: 5 },
  { title: 'UPLOADED', value: app => localTime(app.createdAt), drop: 4 },
];

/** Shows the newest version for a platform: `GET /api/app-versions/latest`. */
export const appsLatest = command({
  isPaged: true,
  args: [{ name: 'PLATFORM', help: platformNames.join(', '), optional: true }],
  follows: () => ({ choices: platformNames }),
  flags: {
    platform: { value: 'PLATFORM', choices: platformNames, help: 'the platform, instead of PLATFORM' },
    current: {
      value: 'VERSION',
      field: 'currentVersion',
      aliases: ['current-version'],
      help: 'the installed version: shows whether it must be updated',
    },
    extension: { value: 'EXT', help: 'only packages with this extension, such as deb' },
  },
  examples: {
    'the newest version': 'apps latest --platform LINUX --extension deb',
    'must 1.2.0 be updated?': 'apps latest --platform ANDROID --current 1.2.0 --json | jq .forceUpdate',
  },
  async run({ args, flags }, context) {
    const platform = await need(context, flags.platform ?? args[0]?.toUpperCase(), {
      flag: '--platform',
      question: 'Platform',
      choices: platformNames,
    });
    const query = definedFields({
      platform,
      currentVersion: flags.current,
      extension: flags.extension,
    });
    const data = await context.registry.call('getLatestAppVersion', { query });
    const rows = appRows(data.latest);
    if (flags.current !== undefined)
      rows.unshift([
        'update',
        data.forceUpdate ? 'required' : data.updateAvailable ? 'available' : 'none, this version is the newest',
      ]);
    await present(context, { data, id: data.latest.versionId, title: titleOf(data.latest), rows });
  },
});

/** An application version in one line, safe for a terminal. */
const titleOf = (app: AppVersion): string =>
  safe(`${app.versionId}  ${app.platform} ${app.version}${app.versionName ? ` (${app.versionName})` : ''}`);

/** An application version as the rows of a card. */
function appRows(app: AppVersion): CardRow[] {
  return [
    ['file', safe(`${app.fileName}, ${bytes(app.fileSize)}`)],
    ['SHA-256', safe(app.sha256)],
    ['forced', app.forceUpdate ? 'yes' : 'no'],
    ['oldest supported', safe(app.minSupportVersion)],
    ['uploaded', `${localTime(app.createdAt)} by ${safe(app.uploadedBy)}`],
    ['changelog', app.changelog === null ? null : indent(indent(safeProse(app.changelog))).trim()],
  ];
}

/** Downloads a package and compares its SHA-256. A damaged or incomplete file is deleted. */
export const appsDownload = command({
  description: 'An existing file is overwritten only with --force. A damaged download is deleted.',
  args: [
    {
      name: 'VERSION_ID',
      help: 'id of the version, such as APP-1; asked for at a terminal',
      optional: true,
      offer: 'version',
    },
  ],
  flags: targetFlags,
  examples: {
    'under its own name': 'apps download APP-1',
    'into a pipe': 'apps download APP-1 --out - | sha256sum',
  },
  async run({ args, flags }, context) {
    checkTarget(context, flags);
    const app = await versionOf(context, args[0]);
    const { versionId, fileName, fileSize, sha256 } = app;
    const file = { id: versionId, fileName, otherName: 'package', fileSize, sha256 };
    await downloadTo(context, flags, { ...file, operation: 'downloadAppVersion', params: { versionId } }, app);
  },
});

async function versionOf(context: Context, versionId: string | undefined): Promise<AppVersion> {
  if (versionId !== undefined) return context.registry.call('getAppVersion', { params: { versionId } });
  const { pickVersion } = await import('../../framework/pickers/listed.ts');
  return pickVersion(context);
}

/** Uploads a package: `POST /api/app-versions/upload`. Compares the SHA-256 that the server returns. */
export const upload = command({
  description: 'Checks extension, size and platform before the upload, and the digest after it.',
  args: [{ name: 'FILE', help: 'the installer package', offer: 'file' }],
  flags: {
    platform: { value: 'PLATFORM', choices: platformNames, help: 'the platform (default: from the extension)' },
    version: { value: 'VERSION', help: 'version number, such as 1.0.0' },
    name: { value: 'NAME', field: 'versionName', aliases: ['version-name'], help: 'display name' },
    changelog: { value: 'TEXT', empty: true, help: 'what is new; @FILE reads the text from a file' },
    'force-update': { help: 'older clients must update' },
    'min-version': {
      value: 'VERSION',
      field: 'minSupportVersion',
      aliases: ['min-support-version'],
      help: 'oldest supported version',
    },
  },
  examples: {
    'a package': 'apps add devmgr-1.2.0.apk --platform ANDROID --version 1.2.0',
    'with release notes from a file':
      'apps add devmgr-1.2.0.deb --version 1.2.0 --changelog @CHANGES.txt --force-update',
  },
  async run({ args, flags }, context) {
    const path = args[0]!;
    const version = await need(context, flags.version, {
      flag: '--version',
      question: 'Version number, such as 1.0.0',
      hint: 'add the version number: --version 1.0.0',
      field: 'version',
    });
    const platform = platformOf(path, flags.platform);
    const file = fileAt(context, path, sizes.package);
    const fields = {
      platform,
      version,
      versionName: flags.name,
      changelog: changelogOf(flags.changelog),
      forceUpdate: String(flags.forceUpdate),
      minSupportVersion: flags.minVersion,
    };
    const data = await sendFile(context, {
      file,
      fields,
      send: request => context.registry.send({ operation: 'uploadAppVersion', ...request }),
      idOf: app => app.versionId,
      ifDifferent: 'do not distribute it; upload the file under another version',
    });
    await present(context, { data, id: data.versionId, title: `Uploaded ${titleOf(data)}`, rows: appRows(data) });
  },
});

function changelogOf(text: string | undefined): string | undefined {
  return text?.startsWith('@') ? textIn(text.slice(1), 'the changelog') : text;
}

/** The platform of a package by its extension, or the one that is wanted if it takes such packages. */
function platformOf(file: string, wanted: Platform | undefined): Platform {
  const extension = extname(file).slice(1).toLowerCase();
  const possible = platformNames.filter(name => (platforms[name] as readonly string[]).includes(extension));
  const known = platformNames.map(name => `${name}: ${platforms[name].join(', ')}`).join('; ');
  if (possible.length === 0)
    throw notAccepted(`${basename(file)} has no recognized installer extension; extensions are ${known}`);
  const platform = wanted ?? possible[0]!;
  if (!possible.includes(platform))
    throw notAccepted(`.${extension} is not a package for ${platform}; extensions are ${known}`);
  return platform;
}
