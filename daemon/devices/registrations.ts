import { Code } from '../../src/contract/codes.ts';
import { type BatchItem, type BatchRegistration, batchRegistration } from '../../src/contract/devices.ts';
import { deviceIds } from '../../src/contract/ids.ts';
import type { Data } from '../../src/contract/routes.ts';
import { compileReader } from '../../src/contract/validate.ts';
import { inputRefusal, Refusal } from '../base/decision.ts';
import { batchResults } from '../requests/batch.ts';
import { type Context, commitLast, type ServiceParts } from '../requests/context.ts';
import type { ChangeResult } from '../store/commit.ts';
import { newActivationCode } from './activation-code.ts';
import * as domain from './decisions.ts';
import { type Admission, type OwnerJudge, type ProofJudge, refusedOwner } from './judges.ts';
import type { DeviceAdd } from './records.ts';

/** Dependencies of registrations. */
interface RegistrationParts extends ServiceParts {
  readonly policies: ProofJudge;
  readonly owners?: OwnerJudge;
}

const readItem = compileReader(batchRegistration);

/** An item of a batch: what is added for it, or why nothing is. */
type JudgedItem = DeviceAdd | BatchItem;
const isAdd = (one: JudgedItem): one is DeviceAdd => 'device' in one;

/** Each item is validated separately; the accepted ones are committed together. */
export async function registerMany(
  parts: RegistrationParts,
  context: Context,
  items: readonly unknown[],
): Promise<Data<'batchRegisterDevices'>> {
  const { store, policies, owners, now } = parts;
  const read = items.map(item => readItem(item));
  const valid = read.flatMap(item => (item.ok ? [item.value] : []));
  return policies.admitting(valid, async ({ judge, guards }) => {
    const at = now();
    const binding = await judgeNames(valid, owners);
    const admitted = new Map(valid.map(item => [item, admit(item, judge(item), binding.faultOf, at)]));
    const refusedSerials = valid.flatMap(item => (admitted.get(item) instanceof Refusal ? [item.serialNumber] : []));
    const existing = await store.devicesBySerial(refusedSerials);
    const judged = read.map((item, i): JudgedItem => {
      if (!item.ok) return failedItem(serialAsGiven(items[i]), Code.parameterError, item.message);
      const { serialNumber } = item.value;
      const one = admitted.get(item.value)!;
      if (!(one instanceof Refusal)) return one;
      const { code, message } = domain.duplicateOr(one, serialNumber, existing.get(serialNumber));
      return failedItem(serialNumber, code, message);
    });
    const changes = judged.filter(isAdd);
    const data = (committed: readonly ChangeResult[]) => {
      let next = 0;
      return batchResults(judged.map(one => (isAdd(one) ? resultOf(one, committed[next++]!) : one)));
    };
    const all = [...guards, ...binding.guards];
    return changes.length ? commitLast(store, context, { at, changes, guards: all }, data) : data([]);
  });
}

/** Judges the user names of a batch, each once. The guards of those that devices may be bound to are checked once, too. */
async function judgeNames(items: readonly BatchRegistration[], owners: OwnerJudge | undefined) {
  const names = new Set(items.flatMap(({ userId }) => userId ?? []));
  const judge = names.size > 0 ? await owners?.judgeOwners([...names]) : undefined;
  const verdicts = new Map([...names].map(name => [name, judge?.(name) ?? { fault: null, guards: [] }]));
  const accepted = [...verdicts.values()].filter(({ fault }) => fault === null);
  return {
    faultOf: (name: string) => verdicts.get(name)!.fault,
    guards: new Set(accepted.flatMap(({ guards }) => guards)),
  };
}

/** Each credential has a challenge of its own, which is valid for minutes. */
const aloneOnly = inputRefusal('identity', ': a key with a credential is registered alone');

function admit(
  item: BatchRegistration,
  admitted: ReturnType<Admission['judge']>,
  faultOf: (name: string) => string | null,
  at: number,
): DeviceAdd | Refusal {
  if (admitted instanceof Refusal) return admitted;
  if (item.identity) return aloneOnly;
  const add = domain.register(item, newActivationCode(), at, admitted.proof);
  if (!item.userId) return add;
  const fault = faultOf(item.userId);
  return fault === null ? domain.registerBound(add, item.userId) : refusedOwner(fault);
}

const failedItem = (serialNumber: string | null, code: number, message: string): BatchItem => ({
  serialNumber,
  status: 'failed',
  message,
  code,
});

function resultOf({ device, owner }: DeviceAdd, result: ChangeResult): BatchItem {
  const { serialNumber, activationCode } = device;
  if (result.kind === 'added') {
    const registered = {
      serialNumber,
      deviceId: deviceIds.format(result.number),
      activationCode,
      status: 'success',
    } as const;
    return owner
      ? { ...registered, message: 'registered and activated', deviceStatus: 'ACTIVE' }
      : { ...registered, message: 'registered' };
  }
  const { message, code } = domain.duplicateSerial(
    serialNumber,
    result as Extract<ChangeResult, { kind: 'duplicate' }>,
  );
  return { serialNumber, status: 'failed', message, code };
}

/** The name of a failed item in the results: its serial number, if it has one, cut to the longest valid length. */
function serialAsGiven(item: unknown): string | null {
  const serial = typeof item === 'object' && item !== null ? (item as Record<string, unknown>).serialNumber : null;
  return typeof serial === 'string' ? serial.slice(0, 200) : null;
}
