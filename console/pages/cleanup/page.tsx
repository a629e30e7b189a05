/** Devices that are not needed any more: which they are, and locking or retiring them. */

import { useComputed, useSignal } from '@preact/signals';
import { Code } from '../../../src/contract/codes.ts';
import { operationStates } from '../../../src/contract/operation-states.ts';
import { type DeviceStatus, deviceStatuses, statisticsRange } from '../../../src/contract/values.ts';
import * as cleanup from '../../../src/fleet/cleanup.ts';
import { useAction } from '../../api/action.ts';
import { type ExportFilter, exportedDevices } from '../../api/export.ts';
import { Problem } from '../../api/problem.ts';
import { serverNow } from '../../api/request.ts';
import { Button } from '../../parts/button.tsx';
import { deviceColumns } from '../../parts/device-columns.tsx';
import { lazyDialog } from '../../parts/lazy.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import { Table } from '../../parts/table.tsx';
import { linkTo, place } from '../../router.ts';
import { grouped } from '../../text/numbers.ts';
import { cleanup as cleanupWords, text } from '../../text/words.ts';
import { Applied, Filters } from '../devices/filters.tsx';
import { filterOf } from '../devices/query.ts';
import type { BulkName } from '../devices/selection.ts';

const BulkDialog = lazyDialog(async () => (await import('../devices/bulk/dialog.tsx')).BulkDialog);

const EXAMPLES = 5;

/** The criteria of a plan from the filters of an address: of the states those that the action accepts. */
function criteriaOf(query: URLSearchParams, action: cleanup.PlanAction): ExportFilter {
  const allowed: readonly string[] = operationStates[cleanup.operationOf[action]];
  const states = (query.get('status') ?? '').split(',').filter(state => allowed.includes(state));
  return { ...filterOf(query), status: (states.length > 0 ? states : allowed) as DeviceStatus[] };
}

/** Which devices, what is to be done with them, and its run. */
export function CleanupPage() {
  const query = useComputed(() => place.value.query);
  const made = useSignal<{ readonly plan: cleanup.PlanTargets; readonly of: URLSearchParams } | null>(null);
  const isAsked = useSignal(false);
  const { busy, problem, run } = useAction();
  const isReady = cleanup.isSelective(filterOf(query.value));
  // Another filter is another plan.
  const plan = made.value?.of === query.value ? made.value.plan : null;
  const make = async (action: cleanup.PlanAction) => {
    const of = query.peek();
    const criteria = criteriaOf(of, action);
    const devices = await cleanup.planDevices(exportedDevices(criteria), () => {
      throw new Problem(Code.parameterError, cleanupWords.tooMany(cleanup.maxPlanned));
    });
    made.value = { plan: { action, criteria, devices }, of };
  };
  return (
    <>
      <h1>{text.nav.cleanup}</h1>
      <p class="hint">{cleanupWords.hint}</p>
      <div class="tools">
        <Filters query={query} />
      </div>
      <Applied query={query} />
      {!isReady && <FilterNeeded />}
      <p class="bar">
        {cleanup.planActions.map(action => (
          <Button
            key={action}
            words={cleanupWords.plan[action]}
            disabled={busy.value || !isReady}
            onClick={() => void run(() => make(action))}
          />
        ))}
      </p>
      <ProblemNotice problem={problem.value} />
      <p role="status" class="updating">
        {busy.value && text.common.loading}
      </p>
      {plan && <DryRun plan={plan} onCarryOut={() => (isAsked.value = true)} />}
      {plan && isAsked.value && (
        <BulkDialog
          name={cleanup.operationOf[plan.action]}
          find={findUnchanged(plan)}
          onClose={hasRun => {
            isAsked.value = false;
            if (hasRun) made.value = null;
          }}
        />
      )}
    </>
  );
}

const { device, serial, state, user, used } = deviceColumns;

type DryRunProps = Readonly<{ plan: cleanup.PlanTargets; onCarryOut: () => void }>;

function FilterNeeded() {
  const { unusedDays } = statisticsRange;
  const lastUsedBefore = new Date(serverNow() - unusedDays * 86_400_000).toISOString().slice(0, 10);
  return (
    <p>
      {cleanupWords.filterNeeded}{' '}
      <a href={linkTo('cleanup', { status: 'ACTIVE', lastUsedBefore })}>{cleanupWords.unused(unusedDays)}</a>
    </p>
  );
}

/** Effect of a plan: how many devices of which state, and the first of them. */
function DryRun({ plan: { action, devices }, onCarryOut }: DryRunProps) {
  const counts = deviceStatuses.map(status => [status, devices.filter(each => each.status === status).length] as const);
  return (
    <section aria-label={cleanupWords.dryRun}>
      <h2>{cleanupWords.would[action](devices.length)}</h2>
      <p role="status">
        {counts
          .filter(([, count]) => count > 0)
          .map(([status, count]) => `${grouped(count)} ${text.status[status]}`)
          .join(', ')}
      </p>
      {devices.length > 0 && (
        <>
          <Table<cleanup.PlannedDevice>
            title={cleanupWords.examples}
            columns={{ device, serial, state, user, used }}
            rowHead="device"
            rows={devices.slice(0, EXAMPLES)}
            keyOf={({ deviceId }) => deviceId}
            isOneLine
          />
          {devices.length > EXAMPLES && <p class="hint">{cleanupWords.more(devices.length - EXAMPLES)}</p>}
          <p class="actions">
            <Button
              words={`${cleanupWords.carryOut} …`}
              class={action === 'deactivate' ? 'danger' : 'main'}
              onClick={onCarryOut}
            />
          </p>
        </>
      )}
    </section>
  );
}

function reasonFor({ device, now, fields }: cleanup.ChangedDevice): string {
  const words = cleanupWords.changed;
  const { status } = text;
  if (!now) return words.unmatched;
  if (fields.includes('status')) return words.status(status[device.status], status[now.status]);
  if (fields.includes('userId')) return words.user(now.userId ?? text.common.none);
  return fields.includes('lastUsedAt') ? words.used : words.other;
}

/** Compares a plan with the registry before the question, and again after it: a person takes time to read. */
const findUnchanged = (plan: cleanup.PlanTargets) => async (name: BulkName, signal: AbortSignal) => {
  const compare = (abort?: AbortSignal) =>
    cleanup.comparePlan(plan, exportedDevices(cleanup.criteriaToCompare(plan) as ExportFilter, abort));
  const { targetsAmong } = await import('../devices/bulk/targets.ts');
  const before = await compare(signal);
  const note = before.changed.length > 0 && (
    <>
      <p>{cleanupWords.changed.title(before.changed.length)}</p>
      <ul>
        {before.changed.slice(0, EXAMPLES).map(change => (
          <li key={change.device.deviceId}>
            {change.device.deviceId} {reasonFor(change)}
          </li>
        ))}
      </ul>
    </>
  );
  const findKept = async () => {
    const { changed, done } = await compare();
    const state = text.status[cleanup.goalOf[plan.action]];
    return new Map([
      ...changed.map(each => [each.device.deviceId, reasonFor(each)] as const),
      ...done.map(({ deviceId }) => [deviceId, cleanupWords.changed.done(state)] as const),
    ]);
  };
  return { ...targetsAmong(name, before.unchanged), note, findKept };
};
