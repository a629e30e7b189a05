/** The erasure of a person: what goes, and then what it does not reach. */

import type { ComponentChildren } from 'preact';
import type { Person } from '../../../src/contract/people.ts';
import { call, type Data } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { CloseButton, Dialog } from '../../parts/dialog.tsx';
import { Field, useEntries } from '../../parts/field.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Confirmation } from '../../parts/operations.tsx';
import type { RecordDialogProps } from '../../parts/records.tsx';
import { moment } from '../../text/numbers.ts';
import { people as words } from '../../text/words.ts';
import { readCase } from './cases.tsx';

const mostNamed = 50;
const erasure = words.erasure;

/** Asks for the user name and for a password, and cannot be undone. */
export function Erase({ record: person, onClose, onDone }: RecordDialogProps<Person>) {
  const { personId, userName, name, email, externalId } = person;
  const { confirm, password } = useEntries({ confirm: '', password: '' });
  const plan = useResource(async signal => {
    const [devices, known] = await Promise.all([
      call('listDevices', { query: { userId: userName, size: mostNamed } }, { signal }),
      readCase(personId, signal),
    ]);
    return { devices, isClosed: known !== null && known.closed !== null };
  });
  const submit = async (key: string, follow: (next: ComponentChildren) => void) => {
    // A sign-in at a provider confirms with any text.
    const body = { confirmPassword: password.value || 'none' };
    const { remains } = await call('erasePerson', { params: { personId }, body }, { key });
    onDone(words.done.erase(personId));
    follow(<Remains title={words.done.erase(personId)} remains={remains} onClose={onClose} />);
  };
  return (
    <ActionDialog
      title={words.of.erase(userName)}
      submit={words.action.erase}
      isDangerous
      isReady={plan.data.value?.isClosed === true && confirm.value.trim() === userName}
      onSubmit={submit}
      onClose={onClose}
    >
      <p>{erasure.goes}</p>
      <ul>{[userName, name, email, externalId].map(value => value && <li key={value}>{value}</li>)}</ul>
      <Loaded from={plan}>
        {({ devices: { list, pagination }, isClosed }) => (
          <>
            <p>{erasure.devices(pagination.total, personId)}</p>
            {list.length > 0 && (
              <p class="code">
                {list.map(({ deviceId }) => deviceId).join(', ')}
                {pagination.total > list.length && ` +${pagination.total - list.length}`}
              </p>
            )}
            {!isClosed && <p role="alert">{erasure.open}</p>}
          </>
        )}
      </Loaded>
      <p class="fault">{erasure.final}</p>
      <Field label={erasure.confirm(userName)} entry={confirm} />
      <Confirmation password={password} />
    </ActionDialog>
  );
}

type RemainsProps = Readonly<{ title: string; remains: Data<'erasePerson'>['remains']; onClose: () => void }>;

/** What someone has to remove, or what is gone by a date. */
const Remains = ({ title, remains, onClose }: RemainsProps) => (
  <Dialog title={title} onClose={onClose}>
    <p>{erasure.unreached}</p>
    <ul>
      {remains.map(({ where, what, until }) => (
        <li key={what}>
          {erasure.remains[where]} {where === 'accounts' && /USR-\d+/u.exec(what)?.[0]}{' '}
          {until !== null && erasure.until(moment(until))}
        </li>
      ))}
    </ul>
    <CloseButton onClose={onClose} />
  </Dialog>
);
