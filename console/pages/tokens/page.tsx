/** The service tokens of the registry, and what an administrator does with them. */
import type { ServiceToken } from '../../../src/contract/tokens.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { lazy } from '../../parts/lazy.tsx';
import { ListPage } from '../../parts/list-page.tsx';
import { pageIn } from '../../parts/pager.tsx';
import type { RecordKind } from '../../parts/records.tsx';
import { Day, Moment } from '../../parts/time.tsx';
import { place } from '../../router.ts';
import { dictionary, text } from '../../text/text.ts';

const roleWords = dictionary('roles');
const tokenWords = dictionary('tokens');

const CreateToken = lazy(async () => (await import('./create.tsx')).CreateToken);
const Revoke = lazy(async () => (await import('./revoke.tsx')).Revoke);

const colors = { valid: 'good', expired: 'warn', revoked: 'bad' } as const;

function stateOf({ revokedAt, expiresAt }: ServiceToken): keyof typeof colors {
  if (revokedAt !== null) return 'revoked';
  return Date.parse(expiresAt) <= Date.now() ? 'expired' : 'valid';
}

type TokenColumn = 'name' | 'role' | 'may' | 'state' | 'expires' | 'used' | 'networks' | 'by';

const tokens: RecordKind<ServiceToken, TokenColumn, 'revoke'> = {
  keyOf: ({ tokenId }) => tokenId,
  nameOf: ({ name }) => name,
  columns: {
    name: ({ name }) => name,
    role: ({ role }) => roleWords.value.name[role],
    may: ({ may }) => {
      const { permission, nothing } = tokenWords.value;
      return may.length > 0 ? may.map(each => permission[each]).join(', ') : <small>{nothing}</small>;
    },
    state: token => <span class={`badge ${colors[stateOf(token)]}`}>{tokenWords.value.state[stateOf(token)]}</span>,
    expires: ({ expiresAt }) => <Day at={expiresAt} />,
    used: ({ lastUsedAt }) => (lastUsedAt ? <Moment at={lastUsedAt} /> : <small>{text.value.common.never}</small>),
    networks: ({ allowedFrom }) =>
      allowedFrom ? <span class="code">{allowedFrom.join(', ')}</span> : <small>{tokenWords.value.anywhere}</small>,
    by: ({ createdBy }) => createdBy,
  },
  rowHead: 'name',
  classes: { by: 'minor' },
  actions: { revoke: { Dialog: Revoke, isFor: ({ revokedAt }) => revokedAt === null } },
};

/** The list of tokens, the newest first. */
export function TokensPage() {
  const list = useResource(signal => call('listTokens', { query: pageIn(place.value.query) }, { signal }));
  return <ListPage path="tokens" kind={tokens} words={tokenWords.value} list={list} Create={CreateToken} />;
}
