/** The service tokens of the registry, and what an administrator does with them. */
import { useSignal } from '@preact/signals';
import type { ServiceToken } from '../../../src/contract/tokens.ts';
import { useResource } from '../../api/resource.ts';
import { Pager } from '../../parts/pager.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import { linkTo, place } from '../../router.ts';
import { dictionary, text } from '../../text/text.ts';
import { CreateToken } from './create.tsx';
import { changeToken, listTokens } from './requests.ts';
import { type Made, RemoveMade, Revoke } from './revoke.tsx';
import { TokenTable } from './table.tsx';

const tokenWords = dictionary('tokens');

/** The list of tokens. */
export function TokensPage() {
  const words = tokenWords.value;
  const { data, problem, reload } = useResource(signal => listTokens(pageNumber(), signal));
  const isCreating = useSignal(false);
  const toRevoke = useSignal<ServiceToken | null>(null);
  const left = useSignal<Made | null>(null);
  const done = useSignal('');
  const list = data.value;
  const revoke = async ({ tokenId, name }: ServiceToken) => {
    const { made } = await changeToken('revokeToken', { params: { tokenId } });
    done.value = words.revoked(name);
    if (made.webhooks.length > 0) left.value = { tokenId, name, webhooks: made.webhooks };
    reload();
  };
  return (
    <>
      <h1>{words.title}</h1>
      <p class="hint">{words.what}</p>
      <div class="bar">
        <p role="status">{done.value || (list && words.total(list.pagination.total))}</p>
        <button type="button" class="main" onClick={() => (isCreating.value = true)}>
          {words.create} …
        </button>
      </div>
      <ProblemNotice problem={problem.value} retry={reload} />
      {!list && !problem.value && <p>{text.value.common.loading}</p>}
      {list && (
        <>
          {list.pagination.total === 0 ? (
            <p class="hint">{words.empty}</p>
          ) : (
            <TokenTable tokens={list.list} onRevoke={token => (toRevoke.value = token)} />
          )}
          <Pager
            page={list.pagination.page}
            pages={list.pagination.totalPages}
            to={page => linkTo('tokens', page > 1 ? { page } : {})}
          />
        </>
      )}
      {isCreating.value && <CreateToken onClose={() => (isCreating.value = false)} onDone={reload} />}
      {toRevoke.value && <Revoke token={toRevoke.value} onClose={() => (toRevoke.value = null)} onSubmit={revoke} />}
      {left.value && (
        <RemoveMade
          made={left.value}
          onClose={() => (left.value = null)}
          onDone={() => (done.value = words.removed(left.value?.name ?? ''))}
        />
      )}
    </>
  );
}

/** The page in the address, counted from 1. */
const pageNumber = (): number => Math.max(1, Math.trunc(Number(place.value.query.get('page'))) || 1);
