/** Changes based on the page's values: if somebody has changed the field since, the person chooses between both values. */
import { useSignal } from '@preact/signals';
import type { DeviceDetail } from '../../../src/contract/device-shapes.ts';
import { useAction } from '../../api/action.ts';
import { Problem } from '../../api/problem.ts';
import { call, type Input, newKey } from '../../api/request.ts';
import { Button } from '../../parts/button.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import { device as deviceWords } from '../../text/words.ts';

/** A field of a device that people maintain. Null: it has no value. */
export interface MaintainedField {
  readonly valueOf: (device: DeviceDetail) => string | null;
  readonly bodyOf: (value: string | null) => Input<'updateDevice'>['body'];
}

interface ChangeConflict {
  readonly field: MaintainedField;
  readonly mine: string | null;
  /** The device as it is stored: the next attempt is based on it. */
  readonly latest: DeviceDetail;
  /** Called when the person has chosen. */
  readonly onSettled: () => void;
}

/** Changes of one device. `onChanged` is called after each. */
export function useBasedChanges(onChanged: () => void) {
  const action = useAction();
  const conflict = useSignal<ChangeConflict | null>(null);
  const settle = (onSettled: () => void) => {
    conflict.value = null;
    onChanged();
    onSettled();
  };
  /** Sends `mine` as the value of a field of `basis`, the device as the person saw it. */
  const change = async (field: MaintainedField, mine: string | null, basis: DeviceDetail, onSettled: () => void) => {
    const latest = await send(field, mine, basis);
    if (latest) conflict.value = { field, mine, latest, onSettled };
    else settle(onSettled);
  };
  const keepMine = ({ field, mine, latest, onSettled }: ChangeConflict) =>
    void action.run(() => change(field, mine, latest, onSettled));
  const keepStored = ({ onSettled }: ChangeConflict) => settle(onSettled);
  return { ...action, conflict, change, keepMine, keepStored };
}

/** Resolves with the device as it is stored if another person has changed the field, else with null: it has the value. */
async function send(field: MaintainedField, mine: string | null, basis: DeviceDetail): Promise<DeviceDetail | null> {
  const params = { deviceId: basis.deviceId };
  for (let { version } = basis; ; ) {
    try {
      await call('updateDevice', { params, body: field.bodyOf(mine) }, { key: newKey(), version });
      return null;
    } catch (error) {
      if (!(error instanceof Problem && error.code === 412)) throw error;
    }
    const latest = await call('getDevice', { params });
    const stored = field.valueOf(latest);
    // An earlier attempt was carried out, and its response lost.
    if (stored === mine) return null;
    if (stored !== field.valueOf(basis)) return latest;
    // Another field was changed, which does not concern this one.
    version = latest.version;
  }
}

/** Both values, and the choice between them; or why the last change failed. */
export function ChangeNotice({ changes }: { readonly changes: ReturnType<typeof useBasedChanges> }) {
  const words = deviceWords.conflict;
  const conflict = changes.conflict.value;
  return (
    <>
      <ProblemNotice problem={changes.problem.value} />
      {conflict && (
        <div class="problem" role="alert">
          <strong>{words.title}</strong>
          <dl>
            <dt>{words.stored}</dt>
            <dd class="note">{conflict.field.valueOf(conflict.latest) ?? words.none}</dd>
            <dt>{words.mine}</dt>
            <dd class="note">{conflict.mine ?? words.none}</dd>
          </dl>
          <p class="bar">
            <Button
              words={words.keepStored}
              disabled={changes.busy.value}
              onClick={() => changes.keepStored(conflict)}
            />
            <Button words={words.keepMine} disabled={changes.busy.value} onClick={() => changes.keepMine(conflict)} />
          </p>
        </div>
      )}
    </>
  );
}
