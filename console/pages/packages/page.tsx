/** The installer packages of the registry. */
import { useSignal } from '@preact/signals';
import { type Platform, platformNames } from '../../../src/contract/values.ts';
import { settled, useRefresh } from '../../api/live.ts';
import { useResource } from '../../api/resource.ts';
import { isAdmin } from '../../api/session.ts';
import { Choice } from '../../parts/choice.tsx';
import { lazy } from '../../parts/lazy.tsx';
import { Pager } from '../../parts/pager.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import { go, linkTo, place } from '../../router.ts';
import { dictionary, text } from '../../text/text.ts';
import { DownloadStatus, useDownload } from './download-status.tsx';
import { listPackages } from './requests.ts';
import { PackageTable } from './table.tsx';

const packageWords = dictionary('packages');

const UploadDialog = lazy(async () => (await import('./upload.tsx')).UploadDialog);

/** The list of packages. Platform and page are in the address. */
export function PackagesPage() {
  const words = packageWords.value;
  const { data, problem, reload } = useResource(signal => listPackages(pageNumber(), platformInPlace(), signal));
  useRefresh(reload, events => events.some(({ type }) => type === 'APP_VERSION_UPLOADED'), settled);
  const { current, start, cancel } = useDownload();
  const isUploading = useSignal(false);
  const list = data.value;
  const platform = platformInPlace();
  return (
    <>
      <h1>{words.title}</h1>
      <PlatformChoice platform={platform} />
      <div class="bar">
        <p role="status">{list && words.total(list.pagination.total)}</p>
        {isAdmin.value && (
          <button type="button" class="main" onClick={() => (isUploading.value = true)}>
            {words.upload} …
          </button>
        )}
      </div>
      <ProblemNotice problem={problem.value} retry={reload} />
      {current.value && <DownloadStatus current={current.value} onCancel={cancel} />}
      {!list && !problem.value && <p>{text.value.common.loading}</p>}
      {list && (
        <>
          {list.pagination.total === 0 ? (
            <p class="hint">{words.empty}</p>
          ) : (
            <PackageTable list={list} onDownload={start} />
          )}
          <Pager
            page={list.pagination.page}
            pages={list.pagination.totalPages}
            to={page => linkTo('packages', { platform, ...(page > 1 && { page }) })}
          />
        </>
      )}
      {isUploading.value && <UploadDialog onClose={() => (isUploading.value = false)} onDone={reload} />}
    </>
  );
}

function PlatformChoice({ platform }: { readonly platform: Platform | '' }) {
  const { all, platform: label } = packageWords.value;
  const names = Object.fromEntries(platformNames.map(name => [name, name])) as Record<Platform, string>;
  return (
    <div class="line">
      <Choice
        label={label}
        value={platform}
        values={['', ...platformNames]}
        words={{ '': all, ...names }}
        onChoose={chosen => go(linkTo('packages', { platform: chosen }), true)}
      />
    </div>
  );
}

function platformInPlace(): Platform | '' {
  const given = place.value.query.get('platform');
  return platformNames.find(name => name === given) ?? '';
}

/** The page in the address, counted from 1. */
const pageNumber = (): number => Math.max(1, Math.trunc(Number(place.value.query.get('page'))) || 1);
