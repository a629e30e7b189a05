/** The backups of a device. */
import { paging } from '../../../src/contract/limits.ts';
import { useAction } from '../../api/action.ts';
import { call, open } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { ProblemNotice } from '../../parts/problem.tsx';
import { moment } from '../../text/numbers.ts';
import { dictionary, text } from '../../text/text.ts';

const deviceWords = dictionary('device');

/** The newest backups. Loaded for a device that has some. */
export function Backups({ deviceId }: { readonly deviceId: string }) {
  const words = deviceWords.value.backups;
  const { data, problem, reload } = useResource(signal =>
    call('listBackups', { params: { deviceId }, query: { size: paging.maxSize } }, { signal }),
  );
  const download = useAction();
  const page = data.value;
  return (
    <>
      <ProblemNotice problem={problem.value} retry={reload} />
      <ProblemNotice problem={download.problem.value} />
      {page && (
        <div class="scroll">
          <table class="dense">
            <thead>
              <tr>
                {[words.file, words.size, words.at, deviceWords.value.note.title].map(head => (
                  <th key={head} scope="col">
                    {head}
                  </th>
                ))}
                <td />
              </tr>
            </thead>
            <tbody>
              {page.list.map(({ backupId, fileName, fileSize, createdAt, note }) => (
                <tr key={backupId}>
                  <th scope="row">{fileName}</th>
                  <td class="keep">{words.bytes(fileSize)}</td>
                  <td>
                    <time dateTime={createdAt}>{moment(createdAt)}</time>
                  </td>
                  <td>{note}</td>
                  <td>
                    <button
                      type="button"
                      aria-label={`${words.download}: ${fileName}`}
                      onClick={() => void download.run(() => save(fileName, { deviceId, backupId }))}
                    >
                      {words.download}
                    </button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {page && page.pagination.total > page.list.length && (
        <p class="hint">{words.more(page.pagination.total - page.list.length)}</p>
      )}
      {!page && !problem.value && <p role="status">{text.value.common.loading}</p>}
    </>
  );
}

async function save(fileName: string, params: { readonly deviceId: string; readonly backupId: string }): Promise<void> {
  const { saveResponse } = await import('../../parts/save.ts');
  await saveResponse(fileName, () => open('downloadBackup', { params }));
}
