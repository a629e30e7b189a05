import { basename, extname } from 'node:path';
import { sizes } from '../../../contract/limits.ts';
import { type Platform, platformNames, platforms } from '../../../contract/values.ts';
import { need } from '../../framework/ask.ts';
import { command } from '../../framework/define.ts';
import { fileAt, notAccepted, sendFile } from '../../framework/files/upload.ts';
import { present } from '../../framework/present.ts';
import { textIn } from '../../settings/files.ts';
import { appRows, titleOf } from './apps.ts';

/** Uploads a package: `POST /api/app-versions/upload`. Compares the SHA-256 that the server returns. */
export const upload = command({
  description: 'Checks extension, size and platform before the upload, and compares the digest of the server after it.',
  args: [{ name: 'FILE', help: 'the installer package', offer: 'file' }],
  flags: {
    platform: { value: 'PLATFORM', choices: platformNames, help: 'the platform (default: from the extension)' },
    version: { value: 'VERSION', help: 'version number, such as 1.0.0' },
    name: { value: 'NAME', field: 'versionName', aliases: ['version-name'], help: 'display name' },
    changelog: { value: 'TEXT', help: 'what is new; @FILE reads the text from a file' },
    'force-update': { help: 'older clients must update' },
    'min-version': {
      value: 'VERSION',
      field: 'minSupportVersion',
      aliases: ['min-support-version'],
      help: 'oldest supported version',
    },
  },
  examples: [
    { does: 'a package', line: 'upload devmgr-1.2.0.apk --platform ANDROID --version 1.2.0' },
    {
      does: 'with release notes from a file',
      line: 'upload devmgr-1.2.0.deb --version 1.2.0 --changelog @CHANGES.txt --force-update',
    },
  ],
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
