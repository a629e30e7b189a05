/** The dialog that compares credentials with a provider, and repairs what differs. */
import type { ProviderItem } from '../../../src/contract/providers.ts';
import { allDifferences, type Differences, repairable } from '../../../src/fleet/reconcile.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import type { RecordDialogProps } from '../../parts/records.tsx';
import { Table } from '../../parts/table.tsx';
import { linkTo } from '../../router.ts';
import { providers as words } from '../../text/words.ts';

interface DifferenceLine {
  readonly difference: keyof (typeof words)['difference'];
  readonly id: string;
  readonly deviceId?: string;
  readonly account?: string;
}

const columns = {
  credential: ({ id }: DifferenceLine) => <span class="code">{id}</span>,
  of: ({ deviceId, account }: DifferenceLine) =>
    deviceId ? <a href={linkTo(`devices/${deviceId}`)}>{deviceId}</a> : account,
  difference: ({ difference }: DifferenceLine) => words.difference[difference],
};

const linesOf = ({ onlyHere, onlyThere, otherPerson }: Differences): DifferenceLine[] => [
  ...onlyHere.map(({ credentialId, deviceId }) => ({ difference: 'onlyHere' as const, id: credentialId, deviceId })),
  ...otherPerson.map(({ credentialId, deviceId }) => ({ difference: 'other' as const, id: credentialId, deviceId })),
  ...onlyThere.map(({ remoteId, account, removable }) => ({
    difference: removable ? ('onlyThere' as const) : ('stays' as const),
    id: remoteId,
    account,
  })),
];

/** A preview first; what was seen is then repaired, if anything can be. */
export function Reconcile({ record: { providerId, name }, onClose, onDone }: RecordDialogProps<ProviderItem>) {
  const compare = (apply: boolean, signal?: AbortSignal) =>
    allDifferences(
      body => call('reconcileProvider', { params: { providerId }, body }, { ...(signal && { signal }) }),
      apply,
    );
  const found = useResource(signal => compare(false, signal));
  const count = found.data.value ? repairable(found.data.value) : 0;
  const submit = async () => onDone(words.repaired(repairable(await compare(true)), name));
  return (
    <ActionDialog
      title={words.of.reconcile(name)}
      submit={words.repair}
      isDangerous
      isReady={count > 0}
      onSubmit={submit}
      onClose={onClose}
    >
      <Loaded from={found}>
        {differences => {
          const rows = linesOf(differences);
          return rows.length === 0 ? (
            <p role="status">{words.agree}</p>
          ) : (
            <>
              <Table
                title={words.action.reconcile}
                heads={words.differing}
                columns={columns}
                classes={{ difference: 'free' }}
                rows={rows}
                keyOf={({ id, difference }) => `${difference} ${id}`}
                isOneLine
              />
              <p class="hint">{words.repairs(count)}</p>
            </>
          );
        }}
      </Loaded>
    </ActionDialog>
  );
}
