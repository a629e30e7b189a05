/** Backups of devices: files that the registry stores without reading them. */
import type { Backup } from '../../../contract/backups.ts';
import { Code } from '../../../contract/codes.ts';
import { paging, sizes } from '../../../contract/limits.ts';
import { namesIn } from '../../../contract/names.ts';
import { ServerRefusal } from '../../client/failures.ts';
import { itemsOf } from '../../client/pages.ts';
import { usage } from '../../fault.ts';
import { checkArgument } from '../../framework/ask.ts';
import type { Context } from '../../framework/context.ts';
import { command } from '../../framework/define.ts';
import { resolveDevice } from '../../framework/devices/device.ts';
import { checkTarget, downloadTo, targetFlags } from '../../framework/files/download.ts';
import { fileAt, fileOnStdin, sendFile } from '../../framework/files/upload.ts';
import { type ArgShape, pageFlags, yesFlag } from '../../framework/flags.ts';
import { listFlags } from '../../framework/format.ts';
import { type CardRow, present } from '../../framework/present.ts';
import { pageQuery, presentPage } from '../../framework/present-list.ts';
import type { Column } from '../../terminal/column.ts';
import { confirm } from '../../terminal/prompt.ts';
import { safe, safeProse } from '../../terminal/text.ts';
import { bytes, localTime } from '../../terminal/when.ts';

const backupFields = namesIn(
  'backupId deviceId fileName fileSize sha256 note createdAt',
) satisfies readonly (keyof Backup)[];

const deviceArg: ArgShape = { name: 'DEVICE', help: 'deviceId or serial number', offer: 'device' };
const askedDevice: ArgShape = { ...deviceArg, help: `${deviceArg.help}; asked for at a terminal`, optional: true };

/** Lists the backups of a device: `GET /api/devices/{deviceId}/backups/list`. */
export const backupsList = command({
  description: 'The newest backups come first.',
  args: [askedDevice],
  flags: { ...pageFlags('backups'), ...listFlags(backupFields) },
  examples: {
    'the backups of a key': 'device-backups list UK-2026-000001',
    'the id of the newest': 'device-backups list DEV-1 --limit 1 --quiet',
  },
  async run({ args, flags }, context) {
    checkArgument(context, args[0], 'DEVICE', 'device-backups list');
    const deviceId = await resolveDevice(context, args[0], false);
    const data = await context.registry.call('listBackups', { params: { deviceId }, query: pageQuery(flags) });
    const listing = { fields: backupFields, columns: backupColumns, id: 'backupId' } as const;
    return presentPage(context, data, listing, { what: 'backups', none: `${deviceId} has no backups.` });
  },
});

const backupColumns: Column<Backup>[] = [
  { title: 'BACKUP', value: backup => backup.backupId },
  { title: 'FILE', value: backup => backup.fileName, shorten: 'middle' },
  { title: 'SIZE', value: backup => bytes(backup.fileSize), align: 'right', drop: 2 },
  { title: 'NOTE', value: backup => backup.note, shorten: 'end', drop: 1 },
  { title: 'UPLOADED', value: backup => localTime(backup.createdAt) },
];

/** Uploads a backup: `POST /api/devices/{deviceId}/backups`. Compares the SHA-256 that the server returns. */
export const backupsAdd = command({
  description:
    'The registry stores the file as it is: encrypt it first. The device must be ACTIVE. Each call stores another backup, of at most 64 MiB. The digest that the server returns is compared with that of the file.',
  args: [deviceArg, { name: 'FILE', help: 'the backup; - is standard input', offer: 'file' }],
  flags: {
    note: { value: 'TEXT', empty: true, help: 'note, shown in the list' },
    name: { value: 'NAME', help: 'name to store it under (default: the name of the file)' },
  },
  examples: {
    'a file': 'device-backups add DEV-1 key.age --note "before the firmware update"',
    'from a pipe': 'device-backups add DEV-1 - --name key.age',
  },
  async run({ args, flags }, context) {
    const path = args[1]!;
    const given = path === '-' ? null : fileAt(context, path, sizes.backup);
    const deviceId = await resolveDevice(context, args[0], false);
    const file = given ?? (await fileOnStdin(context, 'backup', sizes.backup));
    const data = await sendFile(context, {
      file: { ...file, name: flags.name ?? file.name },
      fields: { note: flags.note },
      send: request =>
        context.registry.send({ operation: 'createBackup', input: { params: { deviceId } }, ...request }),
      idOf: backup => backup.backupId,
      ifDifferent: 'do not rely on it; upload the file again',
    });
    await present(context, {
      data,
      id: data.backupId,
      title: `${safe(data.backupId)} of ${safe(data.deviceId)} is stored`,
      rows: rowsOf(data),
    });
  },
});

const backupArg = {
  name: 'BACKUP_ID',
  offer: 'backup',
  help: 'id of the backup, such as BKP-1',
  optional: true,
} as const;

/** Downloads a backup and compares its SHA-256. */
export const backupsDownload = command({
  description:
    'Without BACKUP_ID, downloads the newest backup. An existing file is overwritten only with --force. A damaged or incomplete download is deleted.',
  args: [askedDevice, backupArg],
  flags: targetFlags,
  examples: {
    'the newest one, under its own name': 'device-backups download DEV-1',
    'into a pipe': 'device-backups download DEV-1 BKP-1 --out - | sha256sum',
  },
  async run({ args, flags }, context) {
    checkArgument(context, args[0], 'DEVICE', 'device-backups download');
    checkTarget(context, flags);
    const deviceId = await resolveDevice(context, args[0], false);
    const backup = await findBackup(context, deviceId, args[1]);
    const { backupId, fileName, fileSize, sha256 } = backup;
    const params = { deviceId, backupId };
    const file = { id: backupId, fileName, otherName: 'backup', fileSize, sha256 };
    await downloadTo(context, flags, { ...file, operation: 'downloadBackup', params }, backup);
  },
});

/** Restores a backup: `POST /api/devices/{deviceId}/backups/{backupId}/restore`. Confirmed at the terminal, or with --yes. */
export const backupsRestore = command({
  description:
    'The server checks the stored file against its digest and records the restore in the journal. It does not send the file: use device-backups download. Refused if the device is DEACTIVATED.',
  args: [askedDevice, { ...backupArg, help: `${backupArg.help}; asked for at a terminal` }],
  flags: yesFlag,
  examples: {
    'asks for confirmation': 'device-backups restore DEV-1 BKP-1',
    'in a script': 'device-backups restore DEV-1 BKP-1 --yes',
  },
  async run({ args, flags }, context) {
    checkArgument(context, args[0], 'DEVICE', 'device-backups restore');
    checkArgument(context, args[1], 'BACKUP_ID', 'device-backups restore');
    if (!flags.yes && !context.canAsk) throw usage('a restore must be confirmed', 'add --yes');
    const deviceId = await resolveDevice(context, args[0], false, restorable);
    const backupId = args[1] ?? (await picked(context, deviceId)).backupId;
    if (!flags.yes) await confirmRestore(context, await findBackup(context, deviceId, backupId));
    const data = await context.registry.call('restoreBackup', { params: { deviceId, backupId } });
    await present(context, {
      data,
      id: data.backupId,
      title: `${safe(data.backupId)} of ${safe(data.deviceId)} is restored`,
      rows: [...rowsOf(data), ['restored', localTime(data.restoredAt)]],
      next: `devmgr device-backups download ${safe(data.deviceId)} ${safe(data.backupId)} for the file`,
    });
  },
});

/** States in which a device takes a restore. */
const restorable = ['INACTIVE', 'ACTIVE', 'LOCKED'] as const;

const rowsOf = (backup: Backup): CardRow[] => [
  ['file', safe(`${backup.fileName}, ${bytes(backup.fileSize)}`)],
  ['SHA-256', safe(backup.sha256)],
  ['note', backup.note === null ? null : safeProse(backup.note)],
  ['uploaded', localTime(backup.createdAt)],
];

async function confirmRestore({ out }: Context, backup: Backup): Promise<void> {
  const { backupId, deviceId, fileName, createdAt } = backup;
  const details = `${fileName}, ${bytes(backup.fileSize)}, ${localTime(createdAt)}`;
  await out.preview(safe(`${backupId} of ${deviceId} (${details}) will be recorded as restored.`));
  if (!(await confirm(out, 'Restore it?'))) throw usage('not confirmed: nothing was restored');
}

async function picked(context: Context, deviceId: string): Promise<Backup> {
  const { pickBackup } = await import('../../framework/pickers/listed.ts');
  return pickBackup(context, deviceId);
}

/** The record of a backup, or of the newest one; the refusal of the server if there is none. */
async function findBackup({ registry }: Context, deviceId: string, backupId: string | undefined): Promise<Backup> {
  const size = backupId === undefined ? 1 : paging.maxSize;
  for await (const backup of itemsOf(registry, 'listBackups', { params: { deviceId }, query: { size } }))
    if (backupId === undefined || backup.backupId === backupId) return backup;
  const what = backupId === undefined ? `${deviceId} has no backups` : `${deviceId} has no backup ${backupId}`;
  throw new ServerRefusal(Code.backupNotFound, what, { request: { deviceId } });
}
