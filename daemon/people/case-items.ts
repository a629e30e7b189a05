/** Items of a case, as the registry knows them now: nothing of them is stored a second time. */
import { credentialIds, deviceIds, passkeyIds, tokenIds, userIds } from '../../src/contract/ids.ts';
import { caseBounds } from '../../src/contract/limits.ts';
import type { CaseKind } from '../../src/contract/person-values.ts';
import { isSshKey } from '../../src/contract/ssh-key.ts';
import { hasLostOwner } from '../accounts/service-token.ts';
import { iso } from '../base/time.ts';
import type { UserRecord } from '../requests/callers.ts';
import type { Store } from '../store/store.ts';
import type { PersonDevice } from './bindings.ts';
import { type CaseItem, type CaseRecord, decided } from './case-records.ts';
import type { PersonRecord } from './records.ts';

/** A credential of a device at a provider. */
interface DeviceCredential {
  readonly number: number;
  readonly provider: number;
  readonly account: string;
  readonly label: string;
  readonly credentialId: string | null;
  readonly remoteId: string | null;
  readonly createdAt: number;
  readonly issuedAt: number | null;
  readonly removedAt: number | null;
}

/** Reads of subjects that a registry may lack. */
interface OptionalReads {
  readonly credentialsOf?: (device: number) => Promise<readonly DeviceCredential[]>;
  readonly loansOf?: (
    device: number,
  ) => Promise<
    readonly { readonly receiptId: string; readonly openUntil: number | null; readonly closedBy: number | null }[]
  >;
  readonly pinOf?: (device: number) => Promise<{ readonly openedAt: number | null } | null>;
}

/** Sources of the items. */
export type CaseStore = Pick<Store, 'devicesOf' | 'usersNamed' | 'personByName' | 'tokensOwnedBy' | 'passkeysOwnedBy'> &
  OptionalReads;

const item = (kind: CaseKind, id: string, isOpen: boolean, reason: string | null): CaseItem => ({
  kind,
  id,
  state: isOpen ? 'open' : 'closed',
  reason,
});

/** The items of a case, open ones first; at most `caseBounds.items`. A closed case has those of its closing. */
export async function itemsOf(
  store: CaseStore,
  { record, person, now }: { readonly record: CaseRecord; readonly person: PersonRecord; readonly now: number },
): Promise<readonly CaseItem[]> {
  if (record.closedAt !== null) return record.items ?? [];
  const [devices, accounts] = await Promise.all([store.devicesOf(person.number), accountsOf(store, person)]);
  const found = await Promise.all([
    ...accounts.map(account => itemsOfAccount(store, account, person, now)),
    ...devices.map(device => itemsOfDevice(store, device)),
  ]);
  const items = decided(found.flat(), record.kept);
  const ordered = ['open', 'kept', 'closed'].flatMap(state => items.filter(one => one.state === state));
  return ordered.slice(0, caseBounds.items);
}

/** The accounts with the name of a person, unless the name is another person's now. */
export async function accountsOf(
  store: Pick<CaseStore, 'personByName' | 'usersNamed'>,
  { number, userName }: PersonRecord,
): Promise<readonly UserRecord[]> {
  const holder = await store.personByName(userName);
  return holder?.number === number ? store.usersNamed(userName) : [];
}

async function itemsOfAccount(
  store: CaseStore,
  account: UserRecord,
  person: PersonRecord,
  now: number,
): Promise<CaseItem[]> {
  const [tokens, keys] = await Promise.all([
    store.tokensOwnedBy(account.number),
    store.passkeysOwnedBy(account.number),
  ]);
  const isEnabled = !account.disabled;
  const withAccount = isEnabled ? 'the account is enabled' : 'the account is disabled';
  const id = userIds.format(account.number);
  return [
    item('account', id, isEnabled, `${isEnabled ? 'enabled' : 'disabled'} (${account.username})`),
    item('session', id, isEnabled, withAccount),
    ...tokens.map(({ number, name, revokedAt, expiresAt }) => {
      const ended =
        revokedAt !== null
          ? 'revoked'
          : expiresAt <= now
            ? 'expired'
            : hasLostOwner(account, person)
              ? 'refused, because its owner has left'
              : null;
      return item('token', tokenIds.format(number), ended === null, `${ended ?? 'accepted'} (${name})`);
    }),
    ...keys.map(({ number, removedAt }) =>
      item(
        'passkey',
        passkeyIds.format(number),
        isEnabled && removedAt === null,
        removedAt === null ? withAccount : 'removed',
      ),
    ),
  ];
}

async function itemsOfDevice(store: CaseStore, { number, status }: PersonDevice): Promise<CaseItem[]> {
  const [credentials = [], loans = [], pin] = await Promise.all([
    store.credentialsOf?.(number),
    store.loansOf?.(number),
    store.pinOf?.(number),
  ]);
  const device = deviceIds.format(number);
  return [
    item('device', device, status === 'ACTIVE', status),
    ...credentials.map(credential => {
      const { credentialId, remoteId, issuedAt, removedAt } = credential;
      const kind = issuedAt === null ? 'issue' : 'credential';
      // A credential that the key has not made cannot be registered with a device that is not ACTIVE, and no host accepts its SSH key.
      const isOpen = removedAt === null && ((credentialId !== null && !isSshKey(remoteId)) || status === 'ACTIVE');
      const id = credentialIds.format(credential.number);
      return item(
        kind,
        id,
        isOpen,
        `${isOpen ? 'not removed' : removedAt === null ? 'cannot end' : 'removed'} (${device})`,
      );
    }),
    ...loans.map(({ receiptId, openUntil, closedBy }) => {
      const isOpen = closedBy === null && status !== 'DEACTIVATED';
      const due = openUntil === null ? '' : `, due on ${iso(openUntil).slice(0, 10)}`;
      return item('loan', receiptId, isOpen, `${isOpen ? `not returned${due}` : 'ended'} (${device})`);
    }),
    ...(pin ? [item('pin', device, pin.openedAt === null, pin.openedAt === null ? 'not read' : 'read')] : []),
  ];
}
