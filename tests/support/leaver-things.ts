/** Everything that a person can have beside a device, written into a store as the daemon decides it. */
import * as tokens from '../../daemon/accounts/service-token.ts';
import { newServiceTokenText, serviceTokenDigest } from '../../daemon/accounts/service-token-text.ts';
import { create as createUser } from '../../daemon/accounts/user.ts';
import { beginCredential, issued, noteStep } from '../../daemon/issuing/credential.ts';
import { setPin } from '../../daemon/issuing/pin.ts';
import { create as createPasskey } from '../../daemon/sign-in/passkey.ts';
import type { Change } from '../../daemon/store/commit.ts';
import type { Store } from '../../daemon/store/store.ts';
import { newPasskey } from '../contract/store/fixtures.ts';
import type { DaemonProcess } from './daemon-process.ts';
import type { ProviderState } from './issuing-providers.ts';

const HOUR = 3_600_000;
const BATCH = 1000;

/** What a person has. `device`: its number. `isMade`: whether the key has made the credential whose issue is pending. */
export interface Owner {
  readonly userName: string;
  readonly device: number;
  readonly isMade: boolean;
  readonly token: string;
}

export const ownerOf = (userName: string, device: number, isMade: boolean): Owner => ({
  ...{ userName, device, isMade },
  token: newServiceTokenText(),
});

/** The loan of a device. */
export const loanOf = (device: number): string => `RCT-LOAN-${device}`;

async function commit(store: Store, changes: readonly Change[]): Promise<number[]> {
  const numbers: number[] = [];
  for (let at = 0; at < changes.length; at += BATCH) {
    const by = { at: Date.now(), actor: 'admin', requestId: 'everything' };
    const results = await store.commit({ ...by, changes: changes.slice(at, at + BATCH) });
    numbers.push(...results.map(result => ('number' in result ? Number(result.number) : 0)));
  }
  return numbers;
}

const accountOf = (username: string) =>
  createUser({ username, passwordHash: 'none', role: 'VIEWER', email: null, disabled: false });

/**
 * Gives each owner an account, a service token, a sign-in key, a credential at the first provider, one whose issue is pending at the
 * second one, an open loan and an unread PIN. `accounts`: further accounts. The devices are there, and no daemon runs.
 */
export async function giveEverything(
  store: Store,
  owners: readonly Owner[],
  { providers, accounts }: { readonly providers: readonly ProviderState[]; readonly accounts: readonly string[] },
): Promise<void> {
  const names = owners.map(({ userName }) => userName.toUpperCase());
  const users = await commit(store, names.map(accountOf));
  await commit(store, accounts.map(accountOf));
  const at = Date.now() - HOUR;
  const ofAccounts = owners.flatMap(({ token }, i): Change[] => {
    const [owner, username] = [users[i]!, names[i]!];
    const given = { name: `of ${username}`, role: 'VIEWER', sha256: serviceTokenDigest(token), createdBy: 'admin' };
    const more = { owner, expiresAt: at + 1000 * HOUR, allowedFrom: null, may: [] } as const;
    return [
      tokens.create({ ...given, role: 'VIEWER', ...more }),
      createPasskey(newPasskey(owner, `passkey-${owner}`), { username }),
    ];
  });
  await commit(store, ofAccounts);
  const wanted = owners.flatMap(({ userName: account, device }) =>
    [1, 2].map(provider => ({ device, provider, account, label: `of ${device} at ${provider}`, begun: null })),
  );
  const numbers = await commit(
    store,
    wanted.map(fields => beginCredential(fields, null)),
  );
  const made: Change[] = [];
  const accepted: Change[] = [];
  for (const [i, { label, account, provider }] of wanted.entries()) {
    const isIssued = provider === 1;
    if (!isIssued && !owners[Math.floor(i / 2)]!.isMade) continue;
    const [credentialId, remoteId] = [`credential-${label}`, `remote-${label}`].map(text =>
      Buffer.from(text).toString('base64url'),
    ) as [string, string];
    providers[provider - 1]!.accepted.push({ remoteId, credentialId, person: account, label });
    const credential = (await store.credential(numbers[i]!))!;
    made.push(noteStep(credential, { credentialId }));
    if (isIssued) accepted.push(issued({ ...credential, credentialId, version: 2 }, remoteId, at));
  }
  await commit(store, made);
  await commit(store, accepted);
  const ofDevices = owners.flatMap(({ device }): Change[] => {
    const pin = { sealed: Buffer.from('age-encryption.org/v1\n').toString('base64url'), storedAt: at };
    const receiptId = loanOf(device);
    const proof = { proofId: 'one', grade: 'model', provedAt: new Date(at).toISOString(), attestation: '{}' } as const;
    const receipt = {
      ...({ receiptId, device, kind: 'loan', text: 'devmgr receipt 1\nterms:\nx', credentialId: 'aWQ' } as const),
      ...{ authenticatorData: 'ZGF0YQ', signature: 'c2ln', publicKey: '-----BEGIN PUBLIC KEY-----' },
      ...{ proof: { ...proof, challenge: 'Yw' }, openUntil: at + 1000 * HOUR },
    };
    return [
      setPin(device, 0, { ...pin, openedAt: null, earlier: [] }, { type: 'PIN_STORED' }),
      { kind: 'receipt.add', receipt, entry: { type: 'RECEIPT_SIGNED', data: { receiptId, kind: 'loan' } } },
    ];
  });
  await commit(store, ofDevices);
}

export type Registry = Pick<DaemonProcess, 'call' | 'url'>;

export async function post(registry: Registry, path: string, body: object): Promise<never> {
  const { code, message, data } = await registry.call('POST', path, body);
  if (code !== 200) throw new Error(`${path}: ${message}`);
  return data;
}

/** Registers devices and binds each to the user name beside it. */
export async function fill(registry: Registry, userNames: readonly string[]): Promise<void> {
  const devices = userNames.map((_, i) => ({
    deviceType: 'UKEY',
    serialNumber: `LEAVER-${i}`,
    manufacturer: 'Feitian',
    model: 'K9',
  }));
  const made: { readonly deviceId: string; readonly activationCode: string }[] = [];
  for (let at = 0; at < devices.length; at += 10_000) {
    const body = { devices: devices.slice(at, at + 10_000) };
    const { results } = (await post(registry, '/api/devices/batch-register', body)) as {
      readonly results: typeof made;
    };
    made.push(...results);
  }
  const items = made.map(({ deviceId, activationCode }, i) => ({ deviceId, activationCode, userId: userNames[i]! }));
  for (let at = 0; at < items.length; at += 1000)
    await post(registry, '/api/devices/batch-update', { operation: 'ACTIVATE', items: items.slice(at, at + 1000) });
}

/** The user names of the devices in this state. */
export async function ownersIn(registry: Registry, status: string): Promise<string[]> {
  const owners: string[] = [];
  for (let page = 1, pages = 1; page <= pages; page++) {
    const { data } = await registry.call('GET', `/api/devices/list?status=${status}&size=100&page=${page}`);
    const { list, pagination } = data as { list: { userId: string }[]; pagination: { totalPages: number } };
    owners.push(...list.map(({ userId }) => userId));
    pages = pagination.totalPages;
  }
  return owners.sort();
}

/** The persons whom the events of this type are about. */
export async function personsIn(registry: Registry, type: string): Promise<string[]> {
  const found: string[] = [];
  for (let after = 0; ; ) {
    const { data } = await registry.call('GET', `/api/events?types=${type}&after=${after}&limit=1000`);
    const { list } = data as { list: { id: number; data: { personId: string } }[] };
    found.push(...list.map(event => event.data.personId));
    if (list.length === 0) return found;
    after = list.at(-1)!.id;
  }
}

/** The code with which a request with this service token is answered. */
export async function codeWith({ url }: Registry, token: string): Promise<number> {
  const response = await fetch(`${url}/api/devices/list?size=1`, { headers: { authorization: `Bearer ${token}` } });
  return ((await response.json()) as { code: number }).code;
}

export function shuffled(all: Iterable<number>, random: () => number): number[] {
  return [...all]
    .map(one => ({ one, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one);
}
