/** A person: what is known, the keys and what happened to them, and leaving. */

import type { LeaverCase } from '../../../src/contract/cases.ts';
import type { DeviceListItem } from '../../../src/contract/device-shapes.ts';
import type { Notification } from '../../../src/contract/events.ts';
import type { Person } from '../../../src/contract/people.ts';
import { useRefresh } from '../../api/live.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { isAdmin } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { deviceColumns, modelOf } from '../../parts/device-columns.tsx';
import { EventList, merged } from '../../parts/events.tsx';
import { FactList } from '../../parts/facts.tsx';
import { Back, DeviceLink, useItem } from '../../parts/item.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { useRecordActions } from '../../parts/records.tsx';
import { Table } from '../../parts/table.tsx';
import { reporting } from '../../parts/toast.ts';
import { text, people as words } from '../../text/words.ts';
import { PersonCase, readCase } from './cases.tsx';
import { Held } from './held.tsx';
import { PersonLog } from './log.tsx';
import { people } from './page.tsx';
import { devicesOf } from './states.ts';

/** Keys that the page lists; the list of devices has all of them. */
const mostKeys = 50;
/** Keys whose events the page shows: each takes a request. */
const withHistory = 5;
const eventsOfKey = 20;

type PersonView = Readonly<{
  person: Person;
  leaverCase: LeaverCase | null;
  keys: readonly DeviceListItem[];
  events: readonly Notification[];
}>;

async function read(personId: string, signal: AbortSignal): Promise<PersonView> {
  const person = await call('getPerson', { params: { personId } }, { signal });
  const { list: keys } = await call('listDevices', { query: { userId: person.userName, size: mostKeys } }, { signal });
  const before = Number.MAX_SAFE_INTEGER;
  const histories = keys.slice(0, withHistory).map(async ({ deviceId }) => {
    const { list } = await call('listEvents', { query: { deviceId, before, limit: eventsOfKey } }, { signal });
    return list as readonly Notification[];
  });
  const leaverCase = person.active || !isAdmin.peek() ? null : await readCase(personId, signal);
  return { person, leaverCase, keys, events: (await Promise.all(histories)).reduce(merged, []) };
}

/** The person that the address names. The page follows changes of the person and of the keys. */
export function PersonPage() {
  const personId = useItem('people');
  const resource = useResource(signal => read(personId.value, signal));
  useRefresh(resource.reload, events =>
    events.some(({ data }) => {
      const { person, keys = [] } = resource.data.peek() ?? {};
      const isOfKey = data.deviceId !== undefined && keys.some(({ deviceId }) => deviceId === data.deviceId);
      return data.personId === personId.peek() || isOfKey || (person && data.userId === person.userName);
    }),
  );
  const person = resource.data.value?.person;
  const { itemsOf, dialog } = useRecordActions(people, words, reporting(resource.reload));
  return (
    <>
      <Back to="people" words={words.back} />
      <div class="bar">
        <h1>{person ? (person.name ?? person.userName) : text.nav.people}</h1>
        {person &&
          itemsOf(person).map(({ words: each, isDangerous, onChoose }) => (
            <Button key={each} words={`${each} …`} class={isDangerous ? 'danger' : 'main'} onClick={onChoose} />
          ))}
      </div>
      {dialog}
      <Held key={personId.value} personId={personId.value} onReleased={resource.reload} />
      <Loaded from={resource}>{known => <Sections {...known} onChanged={resource.reload} />}</Loaded>
    </>
  );
}

const facts = ['name', 'email', 'left', 'groups', 'source'] as const;

function Sections({ person, leaverCase, keys, events, onChanged }: PersonView & { readonly onChanged: () => void }) {
  const { personId, userName, externalId, active } = person;
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
            ]}
          />
        </section>
      </div>
      {leaverCase && <PersonCase personId={personId} known={leaverCase} onDone={reporting(onChanged)} />}
      {active && <Locked keys={keys} events={events} />}
      <section>
        <h2>
          {words.keys} {person.devices > 0 && <a href={devicesOf(person)}>{text.common.devices(person.devices)}</a>}
        </h2>
        {keys.length === 0 ? <p class="hint">{words.noKeys}</p> : <Keys keys={keys} />}
      </section>
      <section>
        <h2>{words.history}</h2>
        {keys.length > withHistory && <p class="hint">{words.newestKeys(withHistory)}</p>}
        <EventList events={events} />
      </section>
      {isAdmin.value && <PersonLog key={personId} personId={personId} />}
    </>
  );
}

/** Devices that could be unlocked for an active person: nothing is unlocked automatically. */
function Locked({ keys, events }: Pick<PersonView, 'keys' | 'events'>) {
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

const Keys = ({ keys }: Pick<PersonView, 'keys'>) => (
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
