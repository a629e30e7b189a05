/** What a commit demands of a draft before it changes anything. */
import { type CallerGuard, lostByToken, lostByUser } from '../../domain/caller.ts';
import { brokenBy, type DeviceRecord } from '../../domain/device.ts';
import { guardHolds, type PasskeysGuard } from '../../domain/passkey.ts';
import { changedSince } from '../../domain/user.ts';
import { CallerRefused, Conflict, type Guard } from '../commit.ts';
import type { Draft } from './draft.ts';

/** Throws `CallerRefused` if the caller has lost the rights of the request. */
export function checkCaller(draft: Draft, caller: CallerGuard): void {
  const lost =
    caller.kind === 'user'
      ? lostByUser(caller, draft.users.get(caller.user))
      : lostByToken(draft.serviceTokens.get(caller.token));
  if (lost) throw new CallerRefused(lost);
}

/** Throws `Conflict` if a record is not as the commit expects it. */
export function checkGuard(draft: Draft, guard: Guard): void {
  if (guard.kind === 'document') {
    draft.documents.check(guard.name, guard.version);
    return;
  }
  if (guard.kind === 'unanswered') {
    draft.proofs.checkUnanswered(guard);
    return;
  }
  if (guard.kind === 'passkeys') {
    checkPasskeys(draft, guard);
    return;
  }
  if (guard.kind === 'another-admin') {
    const isOther = (number: number) => number !== guard.beside;
    for (const { number, role, disabled } of draft.users.all())
      if (role === 'ADMIN' && !disabled && isOther(number)) return;
    throw new Conflict(`no enabled ADMIN other than user ${guard.beside}`);
  }
  const broken =
    guard.kind === 'user'
      ? changedSince(guard, draft.users.get(guard.user))
      : brokenBy(guard, draft.devices.get(guard.device));
  if (broken) throw new Conflict(broken);
}

function checkPasskeys(draft: Draft, guard: PasskeysGuard): void {
  const present = [...draft.passkeys.all()]
    .filter(({ owner, removedAt }) => owner === guard.owner && removedAt === null)
    .map(({ number }) => number)
    .sort((a, b) => a - b);
  if (!guardHolds(guard, present)) throw new Conflict(`the keys of user ${guard.owner} were changed meanwhile`);
}

/** Throws `Conflict` if the device does not exist. */
export function requireDevice(draft: Draft, number: number): DeviceRecord {
  const device = draft.devices.get(number);
  if (!device) throw new Conflict(`device ${number} does not exist`);
  return device;
}
