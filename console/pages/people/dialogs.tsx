/** The dialogs that add a person and end one. */

import type { ComponentChildren } from 'preact';
import { personBounds, textLengths } from '../../../src/contract/limits.ts';
import type { Person } from '../../../src/contract/people.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { CloseButton, Dialog } from '../../parts/dialog.tsx';
import { Field, useEntries } from '../../parts/field.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import type { DialogProps, RecordDialogProps } from '../../parts/records.tsx';
import { moment } from '../../text/numbers.ts';
import { text, people as words } from '../../text/words.ts';
import { devicesOf } from './states.ts';

const mostNamed = 50;

/** Adds a person of this registry. */
export function AddPerson({ onClose, onDone }: DialogProps) {
  const { userName, name, email } = useEntries({ userName: '', name: '', email: '' });
  const submit = async (key: string) => {
    const body = {
      userName: userName.value.trim(),
      name: name.value.trim() || null,
      email: email.value.trim() || null,
    };
    await call('createPerson', { body }, { key });
    onDone(words.done.create(body.userName));
  };
  return (
    <ActionDialog
      title={words.action.create}
      isReady={userName.value.trim() !== ''}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field label={text.column.userName} entry={userName} required maxLength={textLengths.userId} />
      <Field label={words.optional.name} entry={name} maxLength={personBounds.name} />
      <Field label={words.optional.email} entry={email} maxLength={textLengths.email} />
    </ActionDialog>
  );
}

/** Names the devices that are locked, asks for the reason, and shows what the registry held back. */
export function Leave({ record: person, onClose, onDone }: RecordDialogProps<Person>) {
  const { personId, userName } = person;
  const { reason } = useEntries({ reason: '' });
  const plan = useResource(async signal => {
    const query = { userId: userName, status: ['ACTIVE' as const], size: mostNamed };
    const [devices, policy] = await Promise.all([
      call('listDevices', { query }, { signal }),
      call('showPeoplePolicy', {}, { signal }),
    ]);
    return { ids: devices.list.map(({ deviceId }) => deviceId), total: devices.pagination.total, policy };
  });
  const submit = async (key: string, follow: (next: ComponentChildren) => void) => {
    const body = { reason: reason.value.trim() };
    const { locked, held, dueAt } = await call('personLeaves', { params: { personId }, body }, { key });
    const isHeld = held.length > 0;
    onDone(isHeld ? undefined : dueAt ? words.due(userName, moment(dueAt)) : words.gone(userName, locked.length));
    if (isHeld)
      follow(
        <Dialog title={words.of.leave(userName)} onClose={onClose}>
          <p role="alert">{words.heldBack(held.length)}</p>
          <CloseButton onClose={onClose} />
        </Dialog>,
      );
  };
  return (
    <ActionDialog
      title={words.of.leave(userName)}
      submit={words.action.leave}
      isDangerous
      isReady={reason.value.trim() !== '' && plan.data.value !== undefined}
      onSubmit={submit}
      onClose={onClose}
    >
      <Loaded from={plan}>
        {({ ids, total, policy }) => (
          <>
            <p>{words.will(total, words.leavers[policy.leavers], policy.leaverDelayHours)}</p>
            {total > 0 && (
              <p class="code">
                {ids.join(', ')}
                {total > ids.length && <a href={devicesOf(person)}> +{total - ids.length}</a>}
              </p>
            )}
          </>
        )}
      </Loaded>
      <p class="hint">{words.account}</p>
      <Field label={text.column.reason} entry={reason} required maxLength={textLengths.reason} />
    </ActionDialog>
  );
}
