/** The service tokens of the registry, and what an administrator does with them. */
import type { ServiceToken } from '../../../src/contract/tokens.ts';
import { allTokens } from '../../api/every-page.ts';
import { call, serverNow } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { changesOf } from '../../parts/changes.ts';
import { ActorLink, RecordLink } from '../../parts/item.tsx';
import { lazyDialog } from '../../parts/lazy.tsx';
import { ListPage, RecordPage } from '../../parts/list-page.tsx';
import { onePage, pageIn } from '../../parts/pager.tsx';
import type { RecordKind } from '../../parts/records.tsx';
import { Moment } from '../../parts/time.tsx';
import { place } from '../../router.ts';
import { text, tokens as tokenWords } from '../../text/words.ts';

const CreateToken = lazyDialog(async () => (await import('./token-dialogs.tsx')).CreateToken);
const Revoke = lazyDialog(async () => (await import('./token-dialogs.tsx')).Revoke);

const colors = { valid: 'good', expired: 'warn', revoked: 'bad', ownerless: 'bad' } as const;

function stateOf({ revokedAt, expiresAt, ownerLost }: ServiceToken): keyof typeof colors {
  if (revokedAt !== null) return 'revoked';
  if (Date.parse(expiresAt) <= serverNow()) return 'expired';
  return ownerLost ? 'ownerless' : 'valid';
}

type TokenColumn = 'name' | 'role' | 'may' | 'state' | 'expires' | 'used' | 'networks' | 'by';

const tokens: RecordKind<ServiceToken, TokenColumn, 'adopt' | 'revoke'> = {
  keyOf: ({ tokenId }) => tokenId,
  nameOf: ({ name }) => name,
  columns: {
    name: ({ tokenId, name }) => <RecordLink page="tokens" id={tokenId} name={name} />,
    role: ({ role }) => text.role[role],
    may: ({ may }) => {
      const { permission, nothing } = tokenWords;
      return may.length > 0 ? may.map(each => permission[each]).join(', ') : <small>{nothing}</small>;
    },
    state: token => <span class={`badge ${colors[stateOf(token)]}`}>{tokenWords.state[stateOf(token)]}</span>,
    expires: ({ expiresAt }) => <Moment at={expiresAt} />,
    used: ({ lastUsedAt }) => <Moment at={lastUsedAt} />,
    networks: ({ allowedFrom }) =>
      allowedFrom ? <span class="code">{allowedFrom.join(', ')}</span> : <small>{tokenWords.anywhere}</small>,
    by: ({ owner, createdBy }) => <ActorLink name={owner ?? createdBy} />,
  },
  rowHead: 'name',
  classes: { networks: 'minor', by: 'minor' },
  aliases: ({ name }) => [name],
  history: tokenId => changesOf({ tokenId: [tokenId] }),
  actions: {
    adopt: {
      carryOut: ({ tokenId }) => call('adoptToken', { params: { tokenId } }),
      isFor: token => stateOf(token) === 'ownerless',
    },
    revoke: { Dialog: Revoke, isFor: ({ revokedAt }) => revokedAt === null },
  },
};

/** The list of tokens, the newest first. */
export function TokensPage() {
  const list = useResource(signal => call('listTokens', { query: pageIn(place.value.query) }, { signal }));
  return <ListPage path="tokens" kind={tokens} words={tokenWords} list={list} Create={CreateToken} />;
}

/** The token that the address names: it has its id or its name. */
export function TokenPage() {
  const all = useResource(async signal => onePage(await allTokens(signal)));
  return <RecordPage path="tokens" kind={tokens} words={tokenWords} all={all} />;
}
