import type { AppVersion } from '../../../contract/apps.ts';
import type { Context } from '../../framework/context.ts';
import { command } from '../../framework/define.ts';
import { checkTarget, downloadTo, targetFlags } from '../../framework/files/download.ts';

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
  examples: [
    { does: 'under its own name', line: 'apps download APP-1' },
    { does: 'into a pipe', line: 'apps download APP-1 --out - | sha256sum' },
  ],
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
  return pickVersion(context, 'apps download');
}
