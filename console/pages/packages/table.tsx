/** The packages of one page of the list. */
import type { AppVersion } from '../../../src/contract/apps.ts';
import { CopyButton } from '../../parts/copy.tsx';
import { ListTable } from '../../parts/list-table.tsx';
import { day, moment } from '../../text/numbers.ts';
import { dictionary } from '../../text/text.ts';
import type { PackageList } from './requests.ts';
import { sizeOf } from './sizes.ts';

const packageWords = dictionary('packages');

interface PackagesTableProps {
  readonly list: PackageList;
  readonly onDownload: (app: AppVersion) => void;
}

/** The table. Names and changes are shown as text, never as markup. */
export function PackageTable({ list, onDownload }: PackagesTableProps) {
  const { title, column } = packageWords.value;
  return (
    <ListTable title={title} columns={column} numbers={['size']}>
      {list.list.map(app => (
        <Row key={app.versionId} app={app} isNewest={list.newest.has(app.versionId)} onDownload={onDownload} />
      ))}
    </ListTable>
  );
}

interface RowProps extends Pick<PackagesTableProps, 'onDownload'> {
  readonly app: AppVersion;
  readonly isNewest: boolean;
}

function Row({ app, isNewest, onDownload }: RowProps) {
  const words = packageWords.value;
  const { platform, fileName, fileSize, sha256, createdAt, uploadedBy } = app;
  return (
    <tr>
      <th scope="row">
        <Version app={app} isNewest={isNewest} />
      </th>
      <td>{platform}</td>
      <td>{fileName}</td>
      <td class="number keep">{sizeOf(fileSize)}</td>
      <td class="keep">
        <code title={sha256}>{sha256.slice(0, 12)}…</code> <CopyButton value={sha256} />
      </td>
      <td>
        <time dateTime={createdAt} title={moment(createdAt)}>
          {day(createdAt)}
        </time>{' '}
        <small>{words.by(uploadedBy)}</small>
      </td>
      <td>
        <button type="button" class="small" aria-label={words.downloadOf(fileName)} onClick={() => onDownload(app)}>
          {words.download}
        </button>
      </td>
    </tr>
  );
}

function Version({ app, isNewest }: Pick<RowProps, 'app' | 'isNewest'>) {
  const words = packageWords.value;
  const { version, versionName, forceUpdate, minSupportVersion, changelog } = app;
  return (
    <>
      {version} {versionName && <small>{versionName}</small>}{' '}
      {isNewest && <span class="badge good">{words.newest}</span>}{' '}
      {forceUpdate && <span class="badge warn">{words.forced}</span>}
      {minSupportVersion && (
        <div>
          <small>{words.oldest(minSupportVersion)}</small>
        </div>
      )}
      {changelog && (
        <details>
          <summary>{words.changes}</summary>
          <p class="note">{changelog}</p>
        </details>
      )}
    </>
  );
}
