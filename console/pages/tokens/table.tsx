/** The tokens of one page of the list. */
import type { ServiceToken } from '../../../src/contract/tokens.ts';
import { ListTable } from '../../parts/list-table.tsx';
import { day, moment } from '../../text/numbers.ts';
import { dictionary, text } from '../../text/text.ts';
import { stateOf } from './requests.ts';

const roleWords = dictionary('roles');
const tokenWords = dictionary('tokens');

interface TokensTableProps {
  readonly tokens: readonly ServiceToken[];
  readonly onRevoke: (token: ServiceToken) => void;
}

const colors = { valid: 'good', expired: 'warn', revoked: 'bad' } as const;

/** The table. Names are shown as text, never as markup. */
export function TokenTable({ tokens, onRevoke }: TokensTableProps) {
  const { title, column } = tokenWords.value;
  return (
    <ListTable title={title} columns={column} minor={['by']}>
      {tokens.map(token => (
        <Row key={token.tokenId} token={token} onRevoke={onRevoke} />
      ))}
    </ListTable>
  );
}

function Row({ token, onRevoke }: { readonly token: ServiceToken } & Pick<TokensTableProps, 'onRevoke'>) {
  const words = tokenWords.value;
  const { name, role, may, expiresAt, lastUsedAt, allowedFrom, createdBy } = token;
  const state = stateOf(token, Date.now());
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{roleWords.value.name[role]}</td>
      <td>{may.length > 0 ? may.map(each => words.permission[each]).join(', ') : <small>{words.nothing}</small>}</td>
      <td>
        <span class={`badge ${colors[state]}`}>{words.state[state]}</span>
      </td>
      <td>
        <time dateTime={expiresAt} title={moment(expiresAt)}>
          {day(expiresAt)}
        </time>
      </td>
      <td>
        {lastUsedAt ? (
          <time dateTime={lastUsedAt}>{moment(lastUsedAt)}</time>
        ) : (
          <small>{text.value.common.never}</small>
        )}
      </td>
      <td>{allowedFrom ? <span class="code">{allowedFrom.join(', ')}</span> : <small>{words.anywhere}</small>}</td>
      <td class="minor">{createdBy}</td>
      <td>
        {state !== 'revoked' && (
          <button type="button" class="small" aria-label={words.revokeOf(name)} onClick={() => onRevoke(token)}>
            {words.revoke}
          </button>
        )}
      </td>
    </tr>
  );
}
