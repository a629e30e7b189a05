/** How each kind of change is applied to a draft. */
import type { DeviceRecord } from '../../domain/device.ts';
import { registeredLater } from '../../domain/device-decisions.ts';
import { type Change, type ChangeResult, type Commit, Conflict } from '../commit.ts';
import type { EntryContext } from '../journal-end.ts';
import { appKey, type Draft } from './draft.ts';
import { checkCaller, checkGuard, requireDevice } from './guards.ts';
import { registered } from './tables.ts';

type Kind = Change['kind'];
type ChangeOf<K extends Kind> = Extract<Change, { kind: K }>;

/** `check` throws `Conflict` if the record to change does not exist; `apply` changes the draft and makes the entry. */
interface Write<C> {
  readonly check?: (draft: Draft, change: C) => void;
  readonly apply: (draft: Draft, change: C, context: EntryContext) => ChangeResult;
}

const done: ChangeResult = { kind: 'done' };

/**
 * Applies one commit, change by change. Throws a `CommitRefusal`; then the draft is as it was. After another error it must not be
 * used.
 */
export function* applyCommit(draft: Draft, commit: Commit): Generator<void, ChangeResult[]> {
  if (commit.caller) checkCaller(draft, commit.caller);
  draft.responses.check(commit);
  for (const guard of commit.guards ?? []) checkGuard(draft, guard);
  for (const change of commit.changes) writeOf(change).check?.(draft, change);
  const context = { ...commit, at: draft.timeOf(commit.at) };
  const isRaised = context.at !== commit.at;
  const results: ChangeResult[] = [];
  for (const change of commit.changes) {
    const result = writeOf(change).apply(draft, later(change, context.at - commit.at), context);
    const hasTime = result.kind === 'added' || result.kind === 'used';
    results.push(isRaised && hasTime ? { ...result, at: context.at } : result);
    yield;
  }
  draft.responses.store(commit, results);
  return results;
}

/** The change of a commit whose time was raised. */
const later = (change: Change, by: number): Change =>
  change.kind === 'device.add' && by > 0 ? registeredLater(change, by) : change;

/** Only the fields that are given: undefined must not replace a value. */
const given = <T extends object>(set: T): Partial<T> =>
  Object.fromEntries(Object.entries(set).filter(([, value]) => value !== undefined)) as Partial<T>;

const deviceExists = (draft: Draft, { device }: { readonly device: number }) => void requireDevice(draft, device);

const writes: { readonly [K in Kind]: Write<ChangeOf<K>> } = {
  'device.add': {
    apply(draft, { device, entry }, context) {
      const existing = draft.devices.withKey(device.serialNumber);
      if (existing) return { kind: 'duplicate', number: existing.number, status: existing.status };
      const number = draft.next('device');
      const record: DeviceRecord = { ...registered, ...device, number, createdAt: context.at };
      draft.devices.add(record);
      draft.count(record, 1);
      draft.countRegistration(context.at);
      draft.enter(context, entry, number, null);
      return { kind: 'added', number };
    },
  },
  'device.set': {
    check: deviceExists,
    apply(draft, { device, set, entry }, context) {
      const before = draft.devices.get(device)!;
      const after = { ...before, ...given(set) };
      if (after.status !== before.status) {
        draft.count(before, -1);
        draft.count(after, 1);
      }
      draft.devices.change(after);
      draft.enter(context, entry, device, null);
      return done;
    },
  },
  'device.use': {
    check: deviceExists,
    apply(draft, { device, seconds, entry }, context) {
      const before = draft.devices.get(device)!;
      const usageCount = before.usageCount + 1;
      const usageSeconds = before.usageSeconds + seconds;
      draft.devices.change({ ...before, usageCount, usageSeconds, lastUsedAt: context.at });
      draft.enter(context, entry, device, null);
      return { kind: 'used', usageCount, usageSeconds };
    },
  },
  'user.add': {
    apply(draft, { user, entry }, context) {
      const existing = draft.users.withKey(user.username);
      if (existing) return { kind: 'duplicate', number: existing.number, status: null };
      const number = draft.next('user');
      draft.users.add({ ...user, number, createdAt: context.at, tokenEpoch: 0 });
      draft.changedUsers.add(number);
      draft.enter(context, entry, null, number);
      return { kind: 'added', number };
    },
  },
  'user.set': {
    check(draft, { user }) {
      if (!draft.users.get(user)) throw new Conflict(`user ${user} does not exist`);
    },
    apply(draft, { user, set, revoke, entry }, context) {
      const before = draft.users.get(user)!;
      draft.users.change({ ...before, ...given(set), tokenEpoch: before.tokenEpoch + Number(revoke) });
      draft.changedUsers.add(user);
      draft.enter(context, entry, null, user);
      return done;
    },
  },
  'app.add': {
    apply(draft, { app, entry }, context) {
      const existing = draft.apps.withKey(appKey(app));
      if (existing) return { kind: 'duplicate', number: existing.number, status: null };
      const number = draft.next('app');
      draft.apps.add({ ...app, number, createdAt: context.at });
      draft.enter(context, entry, null, number);
      return { kind: 'added', number };
    },
  },
  'backup.add': {
    check: (draft, { backup }) => deviceExists(draft, backup),
    apply(draft, { backup, entry }, context) {
      const device = draft.devices.get(backup.device)!;
      const number = draft.next('backup');
      draft.backups.add({ ...backup, number, createdAt: context.at });
      draft.devices.change({ ...device, backupCount: device.backupCount + 1, lastBackupAt: context.at });
      draft.enter(context, entry, backup.device, number);
      return { kind: 'added', number };
    },
  },
  'backup.restore': {
    check(draft, { device, backup }) {
      if (draft.backups.get(backup)?.device !== device) throw new Conflict(`device ${device} has no backup ${backup}`);
    },
    apply(draft, { device, backup, entry }, context) {
      draft.enter(context, entry, device, backup);
      return done;
    },
  },
  'token.add': {
    apply(draft, { token, entry }, context) {
      const existing = draft.serviceTokens.withKey(token.name);
      if (existing) return { kind: 'duplicate', number: existing.number, status: null };
      const number = draft.next('service_token');
      draft.serviceTokens.add({ ...token, number, createdAt: context.at, lastUsedAt: null, revokedAt: null });
      draft.changedTokens.add(number);
      draft.enter(context, entry, null, number);
      return { kind: 'added', number };
    },
  },
  'token.revoke': {
    check(draft, { token }) {
      if (draft.serviceTokens.get(token)?.revokedAt !== null)
        throw new Conflict(`service token ${token} does not exist or is revoked`);
    },
    apply(draft, { token, entry }, context) {
      draft.serviceTokens.change({ ...draft.serviceTokens.get(token)!, revokedAt: context.at });
      draft.changedTokens.add(token);
      draft.enter(context, entry, null, token);
      return done;
    },
  },
  'token.use': {
    apply(draft, { token, usedAt }) {
      const before = draft.serviceTokens.get(token);
      if (before) draft.serviceTokens.change({ ...before, lastUsedAt: Math.max(before.lastUsedAt ?? 0, usedAt) });
      return done;
    },
  },
  'passkey.add': {
    apply(draft, { passkey, entry }, context) {
      const existing = draft.passkeys.withKey(passkey.credentialId);
      if (existing) return { kind: 'duplicate', number: existing.number, status: null };
      const number = draft.next('passkey');
      const fresh = { lastUsedAt: null, removedAt: null, version: 0, used: [] };
      draft.passkeys.add({ ...passkey, number, createdAt: context.at, ...fresh });
      draft.enter(context, entry, null, number);
      return { kind: 'added', number };
    },
  },
  'passkey.remove': {
    check(draft, { passkey }) {
      if (draft.passkeys.get(passkey)?.removedAt !== null)
        throw new Conflict(`passkey ${passkey} does not exist or is removed`);
    },
    apply(draft, { passkey, entry }, context) {
      draft.passkeys.change({ ...draft.passkeys.get(passkey)!, removedAt: context.at });
      draft.enter(context, entry, null, passkey);
      return done;
    },
  },
  'passkey.use': {
    check(draft, { passkey, before }) {
      const present = draft.passkeys.get(passkey);
      if (present?.removedAt !== null || present.version !== before)
        throw new Conflict(`passkey ${passkey} was used or removed meanwhile`);
    },
    apply(draft, { passkey, before, signCount, usedAt, used }) {
      const present = draft.passkeys.get(passkey)!;
      draft.passkeys.change({ ...present, version: before + 1, signCount, lastUsedAt: usedAt, used });
      return done;
    },
  },
  'journal.add': {
    apply(draft, { entry, device, subject }, context) {
      draft.enter(context, entry, device, subject);
      return done;
    },
  },
  'journal.rotate': {
    apply(draft, { key, entry }, context) {
      draft.rotate(context, entry, key);
      return done;
    },
  },
  'proof.add': {
    check(draft, change) {
      draft.proofs.check(change);
      if (!change.isRegistered && draft.devices.withKey(change.proof.serialNumber))
        throw new Conflict('the serial number was registered meanwhile');
    },
    apply(draft, change, context) {
      draft.proofs.add(change);
      if (change.entry) draft.enter(context, change.entry, null, null);
      return done;
    },
  },
  'proof.expire': {
    apply(draft, change) {
      draft.proofs.expire(change);
      return { kind: 'removed', count: 0 };
    },
  },
  'document.set': {
    check: (draft, { name, before }) => draft.documents.check(name, before),
    apply(draft, change, context) {
      draft.documents.set(change);
      draft.enter(context, change.entry, null, null);
      return done;
    },
  },
  'webhook.progress': {
    check: (draft, change) => draft.webhooks.check(change),
    apply(draft, change) {
      draft.webhooks.set(change);
      return done;
    },
  },
  'webhook.forget': {
    apply(draft, { webhook }) {
      draft.webhooks.forget(webhook);
      return done;
    },
  },
  'response.expire': {
    apply: (draft, change) => ({ kind: 'removed', count: draft.responses.expire(change) }),
  },
};

/** How the change is applied. The compiler cannot see that an entry of the table takes exactly the changes of its kind. */
const writeOf = (change: Change) => writes[change.kind] as Write<Change>;
