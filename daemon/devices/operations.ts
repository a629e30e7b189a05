/** The operations that change a device, and that a batch has: what they decide, and what they return. */

import { Code } from '../../src/contract/codes.ts';
import { deviceIds } from '../../src/contract/ids.ts';
import { activationCodeDays } from '../../src/contract/limits.ts';
import type { Body, Data, Routes } from '../../src/contract/routes.ts';
import type { BatchOperation } from '../../src/contract/values.ts';
import type { Guessing } from '../accounts/guessing.ts';
import { type Decision, Refusal } from '../base/decision.ts';
import { iso } from '../base/time.ts';
import { type AccessJournal, accessOf } from '../requests/access-journal.ts';
import type { Context } from '../requests/context.ts';
import type { Guard } from '../store/commit.ts';
import { expiry, newActivationCode } from './activation-code.ts';
import * as domain from './decisions.ts';
import { type OwnerJudge, type OwnerVerdict, refusedOwner } from './judges.ts';
import type { DeviceRecord, DeviceSet } from './records.ts';

/** Decision of an operation; the guards can hold more than the device. */
export type OperationDecision = Decision<domain.DeviceDecision['change'], Guard> | Refusal;

/** An operation on a device with the fields `B`; it returns `D`. `at`: milliseconds since 1970. */
export interface DeviceAction<B, D> {
  /** Rejects with `GuessingBlocked` if no more attempts are answered. `judgeOwner`: if owners were read before. */
  decide(
    device: DeviceRecord,
    fields: B,
    at: number,
    context: Context,
    judgeOwner?: (userId: string) => OwnerVerdict,
  ): OperationDecision | Promise<OperationDecision>;
  /** The data of the response after the commit. `device`: the record before the change; `set`: the changed fields. */
  data(device: DeviceRecord, fields: B, at: number, set: DeviceSet): D;
}

/** Keeps the types of the fields and of the result together. */
const operation = <B, D>(parts: DeviceAction<B, D>): DeviceAction<B, D> => parts;

/** The response without the version, which is known after the commit. */
type Shown<N extends keyof Routes> = Omit<Data<N>, 'version'>;
type Fields<N extends keyof Routes> = Omit<Body<N>, 'deviceId' | 'confirmPassword'>;

/** Dependencies of the operations. */
interface DeviceOperationParts {
  readonly guessing: Guessing;
  /** Absent: devices are bound to anyone. */
  readonly owners?: OwnerJudge | undefined;
  readonly access?: AccessJournal | undefined;
}

/** The operations by the name that a batch has for them. */
export function deviceOperations({ guessing, owners, access }: DeviceOperationParts) {
  return {
    ACTIVATE: operation<Fields<'activateDevice'>, Shown<'activateDevice'>>({
      async decide(device, { activationCode, userId }, at, context, judgeOwner) {
        const refusal = domain.refusalOf('activate', device);
        if (refusal) return refusal;
        const decided = domain.activate(device, activationCode, userId, at);
        const isWrong = decided instanceof Refusal && decided.code === Code.activationCodeInvalid;
        await guessing.code(device.number, !isWrong);
        if (isWrong) access?.record({ type: 'ACTIVATION_CODE_WRONG', ...accessOf(context), device: device.number });
        if (decided instanceof Refusal || !owners) return decided;
        const judge = judgeOwner ?? (await owners.judgeOwners([userId]));
        const { fault, guards } = judge(userId);
        return fault ? refusedOwner(fault) : { ...decided, guards: [...decided.guards, ...guards] };
      },
      data: (device, { userId }, at) => ({
        deviceId: deviceIds.format(device.number),
        status: 'ACTIVE',
        userId,
        activatedAt: iso(at),
      }),
    }),
    LOCK: operation<Fields<'lockDevice'>, Shown<'lockDevice'>>({
      decide: (device, { reason, note }, at) => domain.lock(device, reason, note ?? null, at),
      data: (device, { reason }, at) => ({
        deviceId: deviceIds.format(device.number),
        status: 'LOCKED',
        lockedAt: iso(at),
        lockReason: reason,
      }),
    }),
    UNLOCK: operation<Fields<'unlockDevice'>, Shown<'unlockDevice'>>({
      async decide(device, { note }, _at, { caller }) {
        const decided = domain.unlock(device, note ?? null);
        if (decided instanceof Refusal || caller.role === 'ADMIN' || !owners) return decided;
        const { fault, guards } = await owners.judgeUnlock(device);
        if (fault) return new Refusal(Code.noPermission, fault);
        return { ...decided, guards: [...decided.guards, ...guards] };
      },
      data: (device, _, at) => ({ deviceId: deviceIds.format(device.number), status: 'ACTIVE', unlockedAt: iso(at) }),
    }),
    DEACTIVATE: operation<Fields<'deactivateDevice'>, Shown<'deactivateDevice'>>({
      decide: (device, { reason, note }, at) => domain.deactivate(device, reason, note ?? null, at),
      data: (device, _, at) => ({
        deviceId: deviceIds.format(device.number),
        status: 'DEACTIVATED',
        deactivatedAt: iso(at),
      }),
    }),
    GENERATE_CODE: operation<Fields<'generateActivationCode'>, Shown<'generateActivationCode'>>({
      decide: (device, { validityDays = activationCodeDays.default, reason }, at) =>
        domain.replaceCode(device, newActivationCode(), expiry(at, validityDays), reason),
      data: (device, _, at, set) => ({
        deviceId: deviceIds.format(device.number),
        activationCode: set.activationCode!,
        expiresAt: iso(set.activationCodeExpiresAt!),
        oldActivationCode: device.activationCode,
        generatedAt: iso(at),
      }),
    }),
    UPDATE: operation<Omit<Body<'updateDevice'>, 'userId'>, Shown<'updateDevice'>>({
      decide: (device, fields, at) => domain.emptyEdit(fields, {}) ?? domain.edit(device, fields, {}, at),
      data: (device, { firmwareVersion, note }, at, { tags }) => ({
        deviceId: deviceIds.format(device.number),
        firmwareVersion: firmwareVersion === undefined ? device.firmwareVersion : firmwareVersion,
        note: note === undefined ? device.note : note,
        tags: tags ?? device.tags,
        updatedAt: iso(at),
      }),
    }),
  } as const satisfies Record<BatchOperation, unknown>;
}
