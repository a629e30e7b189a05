/** Tags and note of a device, which people maintain. */
import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import type { DeviceDetail } from '../../../src/contract/device-shapes.ts';
import { textLengths } from '../../../src/contract/limits.ts';
import { parseTag, type TagChanges } from '../../../src/contract/tags.ts';
import { useAction } from '../../api/action.ts';
import { call, newKey } from '../../api/request.ts';
import { mayChange } from '../../api/session.ts';
import { Field } from '../../parts/field.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import { dictionary, text } from '../../text/text.ts';

const deviceWords = dictionary('device');

interface EditProps {
  readonly device: DeviceDetail;
  /** Called after a change. */
  readonly onChanged: () => void;
}

/** Tags and note side by side; read-only in states in which the registry refuses changes. */
export function EditSection({ device, onChanged }: EditProps) {
  const words = deviceWords.value;
  const isEditable = mayChange.value && (device.status === 'INACTIVE' || device.status === 'ACTIVE');
  const change = async (body: { readonly tags: TagChanges } | { readonly note: string | null }) => {
    await call('updateDevice', { params: { deviceId: device.deviceId }, body }, { key: newKey() });
    onChanged();
  };
  return (
    <div class="halves">
      <section>
        <h2>{words.tags.title}</h2>
        <Tags tags={device.tags} isEditable={isEditable} change={tags => change({ tags })} />
      </section>
      <section>
        <h2 id="note">{words.note.title}</h2>
        {isEditable ? (
          <Note note={device.note} change={note => change({ note })} />
        ) : (
          <p class="note">{device.note ?? words.note.none}</p>
        )}
        {mayChange.value && !isEditable && <p class="hint">{words.readOnly}</p>}
      </section>
    </div>
  );
}

interface TagsProps {
  readonly tags: DeviceDetail['tags'];
  readonly isEditable: boolean;
  readonly change: (tags: TagChanges) => Promise<void>;
}

function Tags({ tags, isEditable, change }: TagsProps) {
  const words = deviceWords.value.tags;
  const { problem, busy, run } = useAction();
  const typed = useSignal('');
  const isWrong = useSignal(false);
  const add = async (event: Event) => {
    event.preventDefault();
    const tag = parseTag(typed.value);
    isWrong.value = tag === null;
    if (tag && (await run(() => change({ [tag.name]: tag.value })))) typed.value = '';
  };
  const entries = Object.entries(tags);
  return (
    <>
      {entries.length === 0 && <p class="hint">{text.value.common.none}</p>}
      <ul class="chips" aria-label={words.title}>
        {entries.map(([name, value]) => (
          <li key={name}>
            {name}:{value}
            {isEditable && (
              <button
                type="button"
                aria-label={words.remove(name)}
                disabled={busy.value}
                onClick={() => void run(() => change({ [name]: null }))}
              >
                ×
              </button>
            )}
          </li>
        ))}
      </ul>
      {isEditable && (
        <form class="inline" onSubmit={add}>
          <Field
            label={words.add}
            placeholder="lot:7"
            autocomplete="off"
            value={typed.value}
            fault={isWrong.value ? words.fault : null}
            onText={value => {
              typed.value = value;
            }}
          />
          <button type="submit" disabled={busy.value || !typed.value.trim()}>
            {words.submit}
          </button>
        </form>
      )}
      <ProblemNotice problem={problem.value} />
    </>
  );
}

/** The note as it is stored until a person types: a change of somebody else does not take what was typed. */
function Note({
  note,
  change,
}: {
  readonly note: string | null;
  readonly change: (note: string | null) => Promise<void>;
}) {
  const id = useId();
  const { problem, busy, run } = useAction();
  const typed = useSignal<string | null>(null);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (await run(() => change(typed.peek()?.trim() || null))) typed.value = null;
  };
  return (
    <form onSubmit={submit}>
      <textarea
        id={id}
        rows={4}
        aria-labelledby="note"
        maxLength={textLengths.note}
        value={typed.value ?? note ?? ''}
        onInput={event => {
          typed.value = event.currentTarget.value;
        }}
      />
      <ProblemNotice problem={problem.value} />
      <p class="actions">
        <button type="submit" disabled={busy.value || typed.value === null}>
          {text.value.common.save}
        </button>
      </p>
    </form>
  );
}
