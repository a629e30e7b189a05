/** The backups of a device. */
import type { Backup } from '../../../src/contract/backups.ts';
import { paging } from '../../../src/contract/limits.ts';
import { useAction } from '../../api/action.ts';
import { call, open } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import { RecordTable } from '../../parts/records.tsx';
import { Moment } from '../../parts/time.tsx';
import { reporting } from '../../parts/toast.ts';
import { device as deviceWords } from '../../text/words.ts';

const backups = {
  keyOf: ({ backupId }: Backup) => backupId,
  nameOf: ({ fileName }: Backup) => fileName,
  columns: {
    file: ({ fileName }: Backup) => fileName,
    size: ({ fileSize }: Backup) => deviceWords.backups.bytes(fileSize),
    at: ({ createdAt }: Backup) => <Moment at={createdAt} />,
    note: ({ note }: Backup) => note,
  },
  rowHead: 'file',
  classes: { size: 'keep' },
} as const;

interface BackupsProps {
  readonly deviceId: string;
  /** Whether the state of the device and the role of the person allow it. */
  readonly isRestorable: boolean;
}

const restore = ({ deviceId, backupId }: Backup, key: string) =>
  call('restoreBackup', { params: { deviceId, backupId } }, { key });

/** The newest backups. Loaded for a device that has some. */
export function Backups({ deviceId, isRestorable }: BackupsProps) {
  const words = deviceWords.backups;
  const resource = useResource(signal =>
    call('listBackups', { params: { deviceId }, query: { size: paging.maxSize } }, { signal }),
  );
  const { problem, run } = useAction();
  const start = ({ fileName, backupId }: Backup) => void run(() => save(fileName, { deviceId, backupId }));
  return (
    <>
      <ProblemNotice problem={problem.value} />
      <Loaded from={resource}>
        {({ list, pagination: { total } }) => (
          <>
            <RecordTable
              title={words.title}
              kind={{
                ...backups,
                actions: { download: { start }, restore: { isFor: () => isRestorable, carryOut: restore } },
              }}
              words={words}
              records={list}
              onDone={reporting(resource.reload)}
            />
            {total > list.length && <p class="hint">{words.more(total - list.length)}</p>}
          </>
        )}
      </Loaded>
    </>
  );
}

async function save(fileName: string, params: { readonly deviceId: string; readonly backupId: string }): Promise<void> {
  const { saveResponse } = await import('../../parts/save.ts');
  await saveResponse(fileName, () => open('downloadBackup', { params }));
}
