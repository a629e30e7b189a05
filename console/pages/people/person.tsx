/** A person: what is known, the keys and what happened to them, and leaving. */

import type { ComponentChildren } from 'preact';
import type { DeviceListItem } from '../../../src/contract/device-shapes.ts';
import type { Notification } from '../../../src/contract/events.ts';
import type { Person } from '../../../src/contract/people.ts';
import { useRefresh } from '../../api/live.ts';
import { call } from '../../api/request.ts';
import { type Resource, useResource } from '../../api/resource.ts';
import { isAdmin } from '../../api/session.ts';
import { deviceColumns, modelOf } from '../../parts/device-columns.tsx';
import { EventList, merged } from '../../parts/events.tsx';
import { FactList } from '../../parts/facts.tsx';
import { Back, DeviceLink, RecordLink, useItem } from '../../parts/item.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { RecordActions } from '../../parts/record-sheet.tsx';
import { Table } from '../../parts/table.tsx';
import { reporting } from '../../parts/toast.ts';
import { useTitle } from '../../router.ts';
import { text, people as words } from '../../text/words.ts';
import { PersonCase, readCase } from './cases.tsx';
import { Held } from './held.tsx';
import { people } from './kind.tsx';
import { PersonLog } from './log.tsx';
import { devicesOf } from './states.ts';

/** Keys that the page lists; the list of devices has all of them. */
const mostKeys = 50;
/** Keys whose events the page shows: each takes a request. */
const withHistory = 5;
const eventsOfKey = 20;

/** The keys of a person, and the events of the first of them: each stands as soon as it is there. */
function useKeys({ userName, personId }: Person) {
  const keys = useResource(
    async signal => (await call('listDevices', { query: { userId: userName, size: mostKeys } }, { signal })).list,
  );
  const events = useResource(async signal => {
    const known = keys.data.value;
    if (!known) return undefined;
    const before = Number.MAX_SAFE_INTEGER;
    const histories = known.slice(0, withHistory).map(async ({ deviceId }) => {
      const { list } = await call('listEvents', { query: { deviceId, before, limit: eventsOfKey } }, { signal });
      return list as readonly Notification[];
    });
    return (await Promise.all(histories)).reduce(merged, []);
  });
  useRefresh(keys.reload, some =>
    some.some(
      ({ data }) =>
        data.personId === personId ||
        data.userId === userName ||
        (data.deviceId !== undefined && keys.data.peek()?.some(({ deviceId }) => deviceId === data.deviceId)),
    ),
  );
  return { keys, events };
}

/** A person with the ids of the accounts; none for other roles than ADMIN. */
type ShownPerson = Person & Readonly<{ accounts: readonly string[] }>;

async function readPerson(personId: string, signal: AbortSignal): Promise<ShownPerson> {
  const params = { personId };
  const [person, { accounts }] = await Promise.all([
    call('getPerson', { params }, { signal }),
    isAdmin.peek() ? call('getPersonAccess', { params }, { signal }) : { accounts: [] },
  ]);
  return { ...person, accounts };
}

/** The person that the address names. The page follows changes of the person and of the keys. */
export function PersonPage() {
  const personId = useItem('people');
  const resource = useResource(signal => readPerson(personId.value, signal));
  useRefresh(resource.reload, events =>
    events.some(({ data }) => {
      const userName = resource.data.peek()?.userName;
      return data.personId === personId.peek() || (userName !== undefined && data.userId === userName);
    }),
  );
  const person = resource.data.value;
  useTitle(person && (person.name ?? person.userName));
  return (
    <>
      <Back to="people" words={words.back} />
      <div class="bar">
        <h1>{person ? (person.name ?? person.userName) : text.nav.people}</h1>
        <RecordActions record={person} kind={people} words={words} onDone={reporting(resource.reload)} />
      </div>
      <Held key={personId.value} personId={personId.value} onReleased={resource.reload} />
      <Loaded from={resource}>
        {known => <Sections key={`${known.personId} ${known.userName}`} person={known} onChanged={resource.reload} />}
      </Loaded>
    </>
  );
}

/** What the page of a person shows, beside a list. */
export function PersonStory({ record, onChanged }: { readonly record: Person; readonly onChanged: () => void }) {
  const resource = useResource(signal => readPerson(record.personId, signal));
  return <Loaded from={resource}>{person => <Sections person={person} onChanged={onChanged} />}</Loaded>;
}

const facts = ['name', 'email', 'left', 'groups', 'source'] as const;

function Sections({ person, onChanged }: { readonly person: ShownPerson; readonly onChanged: () => void }) {
  const { personId, userName, externalId, active, accounts } = person;
  const { keys, events } = useKeys(person);
  const leaverCase = useResource(signal =>
    active || !isAdmin.peek() ? Promise.resolve(null) : readCase(personId, signal),
  );
  useRefresh(leaverCase.reload, some => some.some(({ data }) => data.personId === personId));
  const onCaseDone = reporting(() => {
    leaverCase.reload();
    onChanged();
  });
  const heads = { ...text.column, ...words.column };
  return (
    <>
      <div class="cards">
        <section>
          <FactList
            facts={[
              [text.column.userName, userName],
              [text.column.state, active ? words.state.active : words.state.left],
              ...facts.map(name => [heads[name], people.columns[name](person)] as const),
              [words.externalId, externalId],
              [words.personId, personId],
              [text.nav.users, accounts.length > 0 && accounts.map(accountOf)],
            ]}
          />
        </section>
      </div>
      <Loaded from={leaverCase}>
        {known => known && <PersonCase personId={personId} known={known} onDone={onCaseDone} />}
      </Loaded>
      <Below isKnown={isKnown(leaverCase)}>
        {active && <Locked keys={keys.data.value ?? []} events={events.data.value ?? []} />}
        <section>
          <h2>
            {words.keys} {person.devices > 0 && <a href={devicesOf(person)}>{text.common.devices(person.devices)}</a>}
          </h2>
          <Loaded from={keys}>
            {list => (list.length === 0 ? <p class="hint">{words.noKeys}</p> : <Keys keys={list} />)}
          </Loaded>
        </section>
        <Below isKnown={isKnown(keys)}>
          <section>
            <h2>{words.history}</h2>
            {(keys.data.value?.length ?? 0) > withHistory && <p class="hint">{words.newestKeys(withHistory)}</p>}
            {keys.data.value && <Loaded from={events}>{list => <EventList events={list ?? []} />}</Loaded>}
          </section>
          <Below isKnown={isKnown(events)}>{isAdmin.value && <PersonLog key={personId} personId={personId} />}</Below>
        </Below>
      </Below>
    </>
  );
}

const accountOf = (id: string) => (
  <div key={id}>
    <RecordLink page="users" id={id} />
  </div>
);

/** What is below a part that is not there yet is loaded, and seen when it no longer moves. */
const Below = ({ isKnown, children }: { readonly isKnown: boolean; readonly children: ComponentChildren }) => (
  <div class={isKnown ? undefined : 'unseen'}>{children}</div>
);

const isKnown = ({ data, problem }: Resource<unknown>): boolean => data.value !== undefined || problem.value !== null;

type KeysProps = Readonly<{ keys: readonly DeviceListItem[]; events: readonly Notification[] }>;

/** Devices that could be unlocked for an active person: nothing is unlocked automatically. */
function Locked({ keys, events }: KeysProps) {
  const locked = keys.filter(({ status }) => status === 'LOCKED');
  if (!locked.length) return null;
  const reasonOf = (id: string) => events.find(({ type, data }) => type === 'DEVICE_LOCKED' && data.deviceId === id);
  return (
    <section>
      <h2>{words.locked.title}</h2>
      <p class="hint">{words.locked.hint}</p>
      <ul>
        {locked.map(({ deviceId }) => (
          <li key={deviceId}>
            <DeviceLink id={deviceId} /> {reasonOf(deviceId)?.data.lockReason as string | undefined}
          </li>
        ))}
      </ul>
    </section>
  );
}

const { device, serial, state, used } = deviceColumns;

const Keys = ({ keys }: Pick<KeysProps, 'keys'>) => (
  <Table
    title={words.keys}
    columns={{
      device,
      serial,
      model: ({ manufacturer, model }) => modelOf(manufacturer ?? '', model ?? ''),
      state,
      used,
    }}
    classes={{ serial: 'code' }}
    rowHead="device"
    rows={keys}
    keyOf={({ deviceId }) => deviceId}
    isOneLine
  />
);
