/** Leavers whose devices the brake has not locked, and their release. */
import { type ComponentChildren, Fragment } from 'preact';
import { useMemo } from 'preact/hooks';
import type { HeldPerson } from '../../../src/contract/people.ts';
import { call } from '../../api/request.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { DialogButton } from '../../parts/button.tsx';
import { FactList } from '../../parts/facts.tsx';
import { DeviceLink } from '../../parts/item.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { type DialogProps, type RecordDialogProps, type RecordKind, RecordTable } from '../../parts/records.tsx';
import { Moment } from '../../parts/time.tsx';
import { reporting } from '../../parts/toast.ts';
import { linkTo } from '../../router.ts';
import { people, text } from '../../text/words.ts';
import { useHeld } from './states.ts';

const mostNamed = 20;

const kind: RecordKind<HeldPerson, 'userName' | 'name' | 'since' | 'devices', 'release'> = {
  keyOf: ({ personId }) => personId,
  nameOf: ({ userName }) => userName,
  columns: {
    userName: ({ personId, userName }) => <a href={linkTo(`people/${personId}`)}>{userName}</a>,
    name: ({ name }) => name,
    since: ({ heldAt }) => <Moment at={heldAt} />,
    devices: effectOf,
  },
  rowHead: 'userName',
  classes: { devices: 'whole' },
  actions: { release: { Dialog: ReleaseOne } },
};

/** Effect of a release: a new user name, or locks of devices. */
function effectOf({ newUserName, deviceIds, userName }: HeldPerson): ComponentChildren {
  if (newUserName !== null) return people.held.renamed(newUserName);
  const more = deviceIds.length - mostNamed;
  if (!deviceIds.length) return null;
  return (
    <>
      {deviceIds.slice(0, mostNamed).map((id, i) => (
        <Fragment key={id}>
          {i > 0 && ', '}
          <DeviceLink id={id} />
        </Fragment>
      ))}
      {more > 0 && (
        <>
          {', '}
          <a href={linkTo('devices', { userId: userName })}>+{more}</a>
        </>
      )}
    </>
  );
}

interface HeldProps {
  /** The one person who is shown. Absent: all. */
  readonly personId?: string;
  readonly onReleased?: () => void;
}

/** Leavers who are held, each with the devices that a release locks. Draws nothing if there is none. */
export function Held({ personId, onReleased = () => {} }: HeldProps) {
  const held = useHeld();
  const records = held.data.value?.filter(person => personId === undefined || person.personId === personId) ?? [];
  if (!records.length && !held.problem.value) return null;
  const onDone = reporting(() => {
    held.reload();
    onReleased();
  });
  const releaseAll = (onClose: () => void) => (
    <Release ids={records.map(each => each.personId)} onClose={onClose} onDone={onDone} />
  );
  return (
    <section>
      <h2>{people.held.title}</h2>
      <p class="hint">{people.held.hint}</p>
      <Loaded from={held}>
        {() => (
          <>
            <RecordTable title={people.held.title} kind={kind} words={people.held} records={records} onDone={onDone} />
            {records.length > 1 && (
              <p class="actions">
                <DialogButton words={people.held.all} class="danger" dialog={releaseAll} />
              </p>
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}

function ReleaseOne({ record, ...rest }: RecordDialogProps<HeldPerson>) {
  return <Release ids={[record.personId]} {...rest} />;
}

/** Asks with the devices as they are now: they can change while a person reads. */
function Release({ ids, onClose, onDone }: DialogProps & { readonly ids: readonly string[] }) {
  const held = useHeld();
  // A person who is held from now on is not released unseen.
  const asked = useMemo(() => ids, []);
  const persons = held.data.value?.filter(({ personId }) => asked.includes(personId)) ?? [];
  const count = persons.reduce((sum, { active, deviceIds }) => sum + (active ? 0 : deviceIds.length), 0);
  const submit = async (key: string) => {
    const personIds = persons.map(({ personId }) => personId);
    const { locked } = await call('releasePeople', { body: { personIds } }, { key });
    onDone(people.held.locked(locked.length));
  };
  return (
    <ActionDialog
      title={people.held.title}
      submit={persons.some(({ active }) => active) ? people.held.action.release : people.held.submit(count)}
      isDangerous
      isReady={persons.length > 0}
      onSubmit={submit}
      onClose={onClose}
    >
      <p>{people.held.question}</p>
      <Loaded from={held}>
        {() =>
          persons.length === 0 ? (
            <p>{people.held.none}</p>
          ) : (
            <FactList
              class="listing"
              valueClass="code"
              facts={persons.map(each => [each.name ?? each.userName, effectOf(each) || text.common.none])}
            />
          )
        }
      </Loaded>
    </ActionDialog>
  );
}
