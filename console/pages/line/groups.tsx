/** The lots and the stations: the devices by the value of a tag. */
import { type DeviceStatus, deviceStatuses, statisticsRange } from '../../../src/contract/values.ts';
import { settled, useRefresh } from '../../api/live.ts';
import { call, type Data } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { isAdmin } from '../../api/session.ts';
import { RecordLink } from '../../parts/item.tsx';
import { lazy } from '../../parts/lazy.tsx';
import { ListPage } from '../../parts/list-page.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { onePage } from '../../parts/pager.tsx';
import type { RecordKind } from '../../parts/records.tsx';
import { Moment } from '../../parts/time.tsx';
import { grouped } from '../../text/numbers.ts';
import { text, line as words } from '../../text/words.ts';
import { KeyRow } from '../station/keys.tsx';
import type { LineTag } from './report.tsx';

type LastUses = ReadonlyMap<string, string | null>;
/** With the last use of a token of the same name, if it has one. */
type Group = Data<'getStatistics'>['byTag'][LineTag][number] &
  Readonly<{ tag: LineTag; used: string | null | undefined }>;
type GroupColumn = 'value' | 'count' | 'used' | DeviceStatus;

const Story = lazy(async () => (await import('./report.tsx')).LineStory);

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

const eachState = <T,>(of: (status: DeviceStatus) => T) =>
  Object.fromEntries(deviceStatuses.map(status => [status, of(status)])) as Record<DeviceStatus, T>;

const { sorts, ...kind }: RecordKind<Group, GroupColumn, never> = {
  keyOf: ({ value }) => value,
  nameOf: ({ value }) => value,
  columns: {
    value: ({ tag, value }) => <RecordLink page={`${tag}s`} id={value} />,
    count: ({ count }) => grouped(count),
    ...eachState(status => (group: Group) => grouped(group.byStatus[status])),
    used: ({ used }) => used !== undefined && <Moment at={used} />,
  },
  rowHead: 'value',
  classes: { count: 'number', ...eachState(() => 'number') },
  sorts: {
    value: ({ value }) => value,
    count: ({ count }) => count,
    ...eachState(status => (group: Group) => group.byStatus[status]),
  },
  usualSort: 'count',
  Story,
  actions: {},
};

function Groups({ tag }: { readonly tag: LineTag }) {
  const { name: value, empty, ...rest } = words[tag];
  const list = useResource(async signal => {
    const [{ byTag }, uses] = await Promise.all([
      call('getStatistics', {}, { signal }),
      tag === 'station' ? tokenUses(signal) : new Map<string, string | null>(),
    ]);
    return onePage<Group>(byTag[tag].map(group => ({ ...group, tag, used: uses.get(group.value) })));
  });
  useRefresh(list.reload, events => events.some(({ type }) => type.startsWith('DEVICE_')), settled);
  const groups = list.data.value?.list ?? [];
  const { used, ...others } = kind.columns;
  // If there may be more groups than the daemon lists, the table has its order: the largest first.
  const isWhole = groups.length < statisticsRange.values;
  const isUsed = groups.some(group => group.used !== undefined);
  return (
    <ListPage<Group, string, never>
      path={`${tag}s`}
      kind={{ ...kind, ...(isWhole && sorts && { sorts }), columns: { ...others, ...(isUsed && { used }) } }}
      words={{ ...rest, column: { value, count: text.common.deviceCount, ...text.status, used: words.tokenUsed } }}
      list={list}
      empty={
        <>
          {empty} <code>devmgr enroll --tag {tag}=7</code>
        </>
      }
    />
  );
}
