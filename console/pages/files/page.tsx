/** The installer packages of the registry. */
import type { AppVersion } from '../../../src/contract/apps.ts';
import { Code } from '../../../src/contract/codes.ts';
import type { Page } from '../../../src/contract/paging.ts';
import { type Platform, platformNames } from '../../../src/contract/values.ts';
import { settled, useRefresh } from '../../api/live.ts';
import { Problem } from '../../api/problem.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { isAdmin } from '../../api/session.ts';
import { Digest } from '../../parts/copy.tsx';
import { Choice } from '../../parts/inputs.tsx';
import { ActorLink } from '../../parts/item.tsx';
import { lazyDialog } from '../../parts/lazy.tsx';
import { ListPage } from '../../parts/list-page.tsx';
import { pageIn } from '../../parts/pager.tsx';
import { Moment } from '../../parts/time.tsx';
import { go, linkTo, place } from '../../router.ts';
import { sizeOf } from '../../text/numbers.ts';
import { platformLabels } from '../../text/text.ts';
import { text, packages as words } from '../../text/words.ts';
import { DownloadStatus, useDownload } from './download.tsx';

const UploadDialog = lazyDialog(async () => (await import('./upload.tsx')).UploadDialog);

interface ListedPackage extends AppVersion {
  /** Whether it is the newest version of its platform. */
  readonly isNewest: boolean;
}

/** The list of packages. Platform and page are in the address. */
export function PackagesPage() {
  const list = useResource(signal => listPackages(place.value.query, signal));
  useRefresh(list.reload, events => events.some(({ type }) => type === 'APP_VERSION_UPLOADED'), settled);
  const { current, start, cancel } = useDownload();
  const platform = platformIn(place.value.query);
  return (
    <ListPage
      path="packages"
      query={{ platform }}
      kind={{ ...packages, actions: { download: { start } } }}
      words={words}
      list={list}
      Create={isAdmin.value ? UploadDialog : undefined}
    >
      <PlatformChoice platform={platform} />
      {current.value && <DownloadStatus current={current.value} onCancel={cancel} />}
    </ListPage>
  );
}

const packages = {
  keyOf: ({ versionId }: ListedPackage) => versionId,
  nameOf: ({ fileName }: ListedPackage) => fileName,
  columns: {
    version: (app: ListedPackage) => <Version app={app} />,
    platform: ({ platform }: ListedPackage) => platformLabels[platform],
    file: ({ fileName }: ListedPackage) => fileName,
    size: ({ fileSize }: ListedPackage) => sizeOf(fileSize),
    digest: ({ sha256 }: ListedPackage) => <Digest value={sha256} />,
    uploaded: ({ createdAt, uploadedBy }: ListedPackage) => (
      <>
        <Moment at={createdAt} />{' '}
        <small>
          {text.who.by('')}
          <ActorLink name={uploadedBy} />
        </small>
      </>
    ),
  },
  rowHead: 'version',
  classes: { version: 'free', size: 'number keep', digest: 'keep whole', uploaded: 'whole minor' },
} as const;

function Version({ app }: { readonly app: ListedPackage }) {
  const { version, versionName, isNewest, forceUpdate, minSupportVersion, changelog } = app;
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

function PlatformChoice({ platform }: { readonly platform: Platform | '' }) {
  const { all, column } = words;
  return (
    <div class="tools">
      <Choice
        isInline
        label={column.platform}
        value={platform}
        values={['', ...platformNames]}
        words={{ '': all, ...platformLabels }}
        onChange={chosen => go(linkTo('packages', { platform: chosen }), true)}
      />
    </div>
  );
}

const platformIn = (query: URLSearchParams): Platform | '' =>
  platformNames.find(name => name === query.get('platform')) ?? '';

/** A page of the list, the last upload first. One more request for each platform on the page finds its newest version. */
async function listPackages(query: URLSearchParams, signal: AbortSignal): Promise<Page<ListedPackage>> {
  const filter = { ...pageIn(query), platform: platformIn(query) };
  const { list, pagination } = await call('listAppVersions', { query: filter }, { signal });
  const shown = [...new Set(list.map(app => app.platform))];
  const newest = new Set(await Promise.all(shown.map(platform => newestOf(platform, signal))));
  return { list: list.map(app => ({ ...app, isNewest: newest.has(app.versionId) })), pagination };
}

async function newestOf(platform: Platform, signal: AbortSignal): Promise<string | null> {
  try {
    return (await call('getLatestAppVersion', { query: { platform } }, { signal })).latest.versionId;
  } catch (error) {
    if (error instanceof Problem && error.code === Code.versionNotFound) return null;
    throw error;
  }
}
