/** The lots and the stations: the devices by the value of a tag. */
import { type DeviceStatus, deviceStatuses, statisticsRange } from '../../../src/contract/values.ts';
import { settled, useRefresh } from '../../api/live.ts';
import { call, type Data } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { isAdmin } from '../../api/session.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { OrderChoice, type SortValues, sorted } from '../../parts/sort.tsx';
import { Table } from '../../parts/table.tsx';
import { Moment } from '../../parts/time.tsx';
import { linkTo } from '../../router.ts';
import { grouped } from '../../text/numbers.ts';
import { text, line as words } from '../../text/words.ts';
import { KeyRow } from '../station/keys.tsx';

/** A tag that has a page. */
export type LineTag = 'lot' | 'station';
type TagGroup = Data<'getStatistics'>['byTag'][LineTag][number];
type LastUses = ReadonlyMap<string, string | null>;

const pageOf = (tag: LineTag, value: string): string => linkTo(`${tag}s/${encodeURIComponent(value)}`);

/** A service token has the name of its station: the last use of each. Only administrators see tokens. */
async function tokenUses(signal: AbortSignal): Promise<LastUses> {
  if (!isAdmin.peek()) return new Map();
  const { list } = await call('listTokens', { query: { size: 100 } }, { signal });
  return new Map(list.filter(({ revokedAt }) => revokedAt === null).map(({ name, lastUsedAt }) => [name, lastUsedAt]));
}

/** The lots, those with the most devices first. */
export const LotsPage = () => <Groups tag="lot" />;

/** The stations, and the keys at the machine of the daemon, as they are plugged in and unplugged. */
export function StationsPage() {
  const resource = useResource(signal => call('listKeys', {}, { signal }));
  useRefresh(resource.reload, events => events.some(({ type }) => type.startsWith('KEY_')));
  return (
    <>
      <Groups tag="station" />
      <section>
        <h2>{words.keys}</h2>
        <Loaded from={resource}>
          {({ list }) => (
            <ul class="events">
              {list.length === 0 && <li class="hint">{words.noKeys}</li>}
              {list.map(key => (
                <KeyRow key={key.keyId} attached={key} />
              ))}
            </ul>
          )}
        </Loaded>
      </section>
    </>
  );
}

function Groups({ tag }: { readonly tag: LineTag }) {
  const { hint, empty } = words[tag];
  const title = text.nav[`${tag}s`];
  const resource = useResource(async signal => {
    const [{ byTag }, uses] = await Promise.all([
      call('getStatistics', {}, { signal }),
      tag === 'station' ? tokenUses(signal) : new Map<string, string | null>(),
    ]);
    return { groups: byTag[tag], uses };
  });
  useRefresh(resource.reload, events => events.some(({ type }) => type.startsWith('DEVICE_')), settled);
  return (
    <>
      <h1>{title}</h1>
      <p class="hint">{hint}</p>
      <Loaded from={resource}>
        {({ groups, uses }) =>
          groups.length === 0 ? (
            <p class="empty">
              {empty} <code>devmgr enroll --tag {tag}=7</code>
            </p>
          ) : (
            <GroupTable tag={tag} groups={groups} uses={uses} />
          )
        }
      </Loaded>
    </>
  );
}

interface GroupTableProps {
  readonly tag: LineTag;
  readonly groups: readonly TagGroup[];
  readonly uses: LastUses;
}

/** If there may be more groups than the daemon lists, the table has its order: the largest first. */
function GroupTable({ tag, groups, uses }: GroupTableProps) {
  const title = text.nav[`${tag}s`];
  const heads = { value: words[tag].name, count: text.common.deviceCount, ...text.status, used: words.tokenUsed };
  const eachState = <T,>(of: (status: DeviceStatus) => T) =>
    Object.fromEntries(deviceStatuses.map(status => [status, of(status)]));
  const values: SortValues<TagGroup> = {
    value: ({ value }) => value,
    count: ({ count }) => count,
    ...eachState(status => (group: TagGroup) => group.byStatus[status]),
  };
  const isWhole = groups.length < statisticsRange.values;
  const { rows, sort } = sorted(groups, isWhole ? values : {}, order => linkTo(`${tag}s`, order), 'count');
  return (
    <>
      <OrderChoice sort={sort} heads={heads} />
      <Table<TagGroup>
        title={title}
        heads={heads}
        columns={{
          value: ({ value }) => <a href={pageOf(tag, value)}>{value}</a>,
          count: ({ count }) => grouped(count),
          ...eachState(status => (group: TagGroup) => grouped(group.byStatus[status])),
          ...(uses.size > 0 && {
            used: ({ value }: TagGroup) => (uses.has(value) ? <Moment at={uses.get(value) ?? null} /> : null),
          }),
        }}
        rowHead="value"
        classes={{ count: 'number', ...eachState(() => 'number') }}
        sort={sort}
        rows={rows}
        keyOf={({ value }) => value}
        isOneLine
      />
    </>
  );
}
