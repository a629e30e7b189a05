import { type Stats, statSync } from 'node:fs';
import { basename, extname } from 'node:path';
import type { AppVersion } from '../../../contract/apps.ts';
import { sizes } from '../../../contract/limits.ts';
import { type Platform, platformNames, platforms } from '../../../contract/values.ts';
import { need } from '../../ask.ts';
import { ServerRefusal } from '../../client/failures.ts';
import { formRequest } from '../../client/upload.ts';
import type { Context } from '../../context.ts';
import { command } from '../../define.ts';
import { Fault, systemWords, usage } from '../../fault.ts';
import { present } from '../../present.ts';
import { safe } from '../../terminal/text.ts';
import { bytes } from '../../terminal/when.ts';
import { appRows, titleOf } from './apps.ts';

/** Uploads a package: `POST /api/app-versions/upload`. Compares the SHA-256 that the server returns. */
export const upload = command({
  description: 'Checks extension, size and platform before the upload, and the digest of the server after it.',
  args: [{ name: 'FILE', help: 'the installer package', offer: 'file' }],
  flags: {
    platform: { value: 'PLATFORM', choices: platformNames, help: 'the platform (default: by the extension)' },
    version: { value: 'VERSION', help: 'version number, such as 1.0.0' },
    name: { value: 'TEXT', field: 'versionName', aliases: ['version-name'], help: 'display name' },
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
    const file = args[0]!;
    const version = await need(context, flags.version, {
      flag: '--version',
      question: 'Version number, such as 1.0.0',
      hint: 'add the version number: --version 1.0.0',
      field: 'version',
    });
    const { size, platform } = inspect(file, flags.platform);
    const fields: [string, string][] = [
      ['platform', platform],
      ['version', version],
      ...optional('versionName', flags.name),
      ...optional('changelog', changelogOf(flags.changelog)),
      ['forceUpdate', String(flags.forceUpdate)],
      ...optional('minSupportVersion', flags.minVersion),
    ];
    const data = await send(context, file, size, fields);
    await present(context, { data, id: data.versionId, title: `Uploaded ${titleOf(data)}`, rows: appRows(data) });
  },
});

const optional = (name: string, value: string | undefined): [string, string][] =>
  value === undefined ? [] : [[name, value]];

function changelogOf(text: string | undefined): string | undefined {
  if (!text?.startsWith('@')) return text;
  try {
    return process.getBuiltinModule('node:fs').readFileSync(text.slice(1), 'utf8');
  } catch (error) {
    throw usage(`the changelog in ${text.slice(1)} cannot be read: ${systemWords(error)}`);
  }
}

function inspect(file: string, wanted: Platform | undefined): { size: number; platform: Platform } {
  const extension = extname(file).slice(1).toLowerCase();
  const possible = platformNames.filter(name => (platforms[name] as readonly string[]).includes(extension));
  const known = platformNames.map(name => `${name}: ${platforms[name].join(', ')}`).join('; ');
  if (possible.length === 0)
    throw notAccepted(`${basename(file)} has no recognized installer extension; extensions are ${known}`);
  const platform = wanted ?? possible[0]!;
  if (!possible.includes(platform))
    throw notAccepted(`.${extension} is not a package for ${platform}; extensions are ${known}`);
  const { size } = fileStats(file);
  if (size === 0) throw notAccepted(`${file} is empty`);
  if (size > sizes.package) throw notAccepted(`${file} has ${bytes(size)}; the maximum is ${bytes(sizes.package)}`);
  return { size, platform };
}

/** The refusal of the server, before anything is sent. */
const notAccepted = (message: string): ServerRefusal => new ServerRefusal(4002, message, null, null);

function fileStats(file: string): Stats {
  try {
    const stats = statSync(file);
    if (stats.isFile()) return stats;
  } catch (error) {
    throw usage(`${file} cannot be read: ${systemWords(error)}`);
  }
  throw usage(`${file} is not a file`);
}

async function send(
  context: Context,
  file: string,
  size: number,
  fields: readonly (readonly [string, string])[],
): Promise<AppVersion> {
  const { progress } = context.out;
  const onProgress = (sent: number) => progress.show('Uploading', sent, size, bytes);
  const { request, digest } = formRequest({ fields, file, size, signal: context.io.interrupt, onProgress });
  try {
    const data = await context.registry.upload('uploadApp', request);
    if (data.sha256 !== digest())
      throw new Fault(
        'failure',
        `the server stored a different file: ${safe(data.versionId)} has SHA-256 ${safe(data.sha256)}, ${file} has ${digest()}`,
        'do not distribute it; upload the file under another version',
      );
    return data;
  } finally {
    progress.clear();
  }
}
