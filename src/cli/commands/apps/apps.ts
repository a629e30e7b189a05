import type { AppVersion } from '../../../contract/apps.ts';
import { namesIn } from '../../../contract/names.ts';
import { platformNames } from '../../../contract/values.ts';
import { need } from '../../framework/ask.ts';
import { command, definedFields } from '../../framework/define.ts';
import { pageFlags } from '../../framework/flags.ts';
import { listFlags } from '../../framework/format.ts';
import { type CardRow, indent, present } from '../../framework/present.ts';
import { pageQuery, presentPage } from '../../framework/present-list.ts';
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
  examples: [{ does: 'versions for Android', line: 'apps list --platform ANDROID' }],
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
  examples: [
    { does: 'the newest version', line: 'apps latest --platform LINUX --extension deb' },
    { does: 'must 1.2.0 be updated?', line: 'apps latest --platform ANDROID --current 1.2.0 --json | jq .forceUpdate' },
  ],
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
export const titleOf = (app: AppVersion): string =>
  safe(`${app.versionId}  ${app.platform} ${app.version}${app.versionName ? ` (${app.versionName})` : ''}`);

/** An application version as the rows of a card. */
export function appRows(app: AppVersion): CardRow[] {
  return [
    ['file', safe(`${app.fileName}, ${bytes(app.fileSize)}`)],
    ['SHA-256', safe(app.sha256)],
    ['forced', app.forceUpdate ? 'yes' : 'no'],
    ['oldest supported', safe(app.minSupportVersion)],
    ['uploaded', `${localTime(app.createdAt)} by ${safe(app.uploadedBy)}`],
    ['changelog', app.changelog === null ? null : indent(indent(safeProse(app.changelog))).trim()],
  ];
}
