/** What a bulk operation will do, and what it needs to know before it does. */

import { useSignal } from '@preact/signals';
import { activationCodeDays, textLengths } from '../../../../src/contract/limits.ts';
import { deviceStatuses } from '../../../../src/contract/values.ts';
import { ApprovalNote, ApproveButton, useApproval } from '../../../parts/approval/approval.tsx';
import { Field } from '../../../parts/field.tsx';
import { grouped } from '../../../text/numbers.ts';
import { dictionary, text } from '../../../text/text.ts';
import { type BulkName, bulkOperations, type EntryName } from './operations.ts';
import type { Entries } from './run.ts';
import type { Targets } from './targets.ts';

const entryWords = dictionary('entries');
const listWords = dictionary('devices');
const bulkWords = dictionary('bulk');

interface BulkFormProps {
  readonly name: BulkName;
  readonly targets: Targets;
  readonly onStart: (entries: Entries) => void;
  readonly onCancel: () => void;
}

/** The preview with its form. Retiring devices cannot be undone: it needs their number and a password. */
export function BulkForm({ name, targets, onStart, onCancel }: BulkFormProps) {
  const words = bulkWords.value;
  const entered = useSignal<Readonly<Record<EntryName, string>>>({ reason: '', note: '', validityDays: '' });
  const confirm = useSignal({ count: '', password: '' });
  const approval = useApproval();
  const isFinal = name === 'DEACTIVATE';
  const count = targets.ids.length;
  const isConfirmed = !isFinal || confirm.value.count.trim() === `${count}`;
  const submit = (event: Event) => {
    event.preventDefault();
    if (!isConfirmed) return;
    onStart({ ...entriesOf(name, entered.value), ...(isFinal && { confirmPassword: confirm.value.password }) });
  };
  return (
    <form onSubmit={submit}>
      <Preview name={name} targets={targets} />
      {count > 0 &&
        bulkOperations[name].entries.map(entry => (
          <Field
            key={entry}
            label={entryWords.value[entry]}
            value={entered.value[entry]}
            onText={typed => {
              entered.value = { ...entered.value, [entry]: typed };
            }}
            {...limits[entry]}
          />
        ))}
      {isFinal && count > 0 && (
        <>
          <p class="fault">{words.final}</p>
          <Field
            label={words.typeCount(count)}
            value={confirm.value.count}
            autocomplete="off"
            onText={typed => {
              confirm.value = { ...confirm.value, count: typed };
            }}
          />
          <Field
            label={entryWords.value.password}
            type="password"
            autocomplete="current-password"
            required
            value={confirm.value.password}
            onText={typed => {
              confirm.value = { ...confirm.value, password: typed };
            }}
          />
        </>
      )}
      <ApprovalNote approval={approval} />
      <p class="actions">
        <button type="button" onClick={onCancel}>
          {text.value.common.cancel}
        </button>
        <ApproveButton
          approval={approval}
          type="submit"
          class={isFinal ? 'danger' : 'main'}
          disabled={count === 0 || !isConfirmed}
        >
          {words.start[name](count)}
        </ApproveButton>
      </p>
    </form>
  );
}

const limits = {
  reason: { required: true, maxLength: textLengths.reason },
  note: { maxLength: textLengths.note },
  validityDays: { type: 'number', placeholder: `${activationCodeDays.default}` },
} as const;

function entriesOf(name: BulkName, entered: Readonly<Record<EntryName, string>>): Entries {
  const entries = bulkOperations[name].entries as readonly EntryName[];
  const given = entries.filter(entry => entered[entry].trim());
  return Object.fromEntries(
    given.map(entry => [entry, entry === 'validityDays' ? Number(entered[entry]) : entered[entry].trim()]),
  );
}

/** How many devices of which state are changed, and how many are left out. */
function Preview({ name, targets }: Pick<BulkFormProps, 'name' | 'targets'>) {
  const words = bulkWords.value;
  const fits: readonly string[] = bulkOperations[name].fits;
  const { ids, byStatus } = targets;
  return (
    <>
      <p>{words.preview[name](ids.length)}</p>
      <table class="dense">
        <thead>
          <tr>
            <th scope="col">{listWords.value.column.state}</th>
            <th scope="col" class="number">
              {words.count}
            </th>
            <th scope="col">{words.what}</th>
          </tr>
        </thead>
        <tbody>
          {deviceStatuses
            .filter(status => byStatus[status] > 0)
            .map(status => (
              <tr key={status}>
                <th scope="row">{text.value.status[status]}</th>
                <td class="number">{grouped(byStatus[status])}</td>
                <td>{fits.includes(status) ? words.changed : words.skipped}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </>
  );
}
