/** Tags and note of a device, which people maintain. */
import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import type { DeviceDetail } from '../../../src/contract/device-shapes.ts';
import { textLengths } from '../../../src/contract/limits.ts';
import type { TagChanges } from '../../../src/contract/tags.ts';
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
  const action = useAction();
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
                disabled={action.busy.value}
                onClick={() => void action.run(() => change({ [name]: null }))}
              >
                ×
              </button>
            )}
          </li>
        ))}
      </ul>
      {isEditable && <AddTag action={action} change={change} />}
      <ProblemNotice problem={action.problem.value} />
    </>
  );
}

interface AddTagProps extends Pick<TagsProps, 'change'> {
  readonly action: ReturnType<typeof useAction>;
}

function AddTag({ action: { busy, submit }, change }: AddTagProps) {
  const words = deviceWords.value.tags;
  const typed = useSignal('');
  const isWrong = useSignal(false);
  const add = async () => {
    const { parseTag } = await import('../../../src/contract/tags.ts');
    const tag = parseTag(typed.peek());
    isWrong.value = tag === null;
    if (!tag) return;
    await change({ [tag.name]: tag.value });
    typed.value = '';
  };
  return (
    <form class="inline" onSubmit={submit(add)}>
      <Field
        label={words.add}
        placeholder="lot:7"
        autocomplete="off"
        entry={typed}
        fault={isWrong.value ? words.fault : null}
      />
      <button type="submit" disabled={busy.value || !typed.value.trim()}>
        {words.submit}
      </button>
    </form>
  );
}

interface NoteProps {
  readonly note: string | null;
  readonly change: (note: string | null) => Promise<void>;
}

/** The note as it is stored until a person types: a change of somebody else does not take what was typed. */
function Note({ note, change }: NoteProps) {
  const id = useId();
  const { problem, busy, submit } = useAction();
  const typed = useSignal<string | null>(null);
  const save = async () => {
    await change(typed.peek()?.trim() || null);
    typed.value = null;
  };
  return (
    <form onSubmit={submit(save)}>
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
