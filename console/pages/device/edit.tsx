/** Tags, note and firmware version of a device, which people maintain. */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { DeviceDetail } from '../../../src/contract/device-shapes.ts';
import { textLengths } from '../../../src/contract/limits.ts';
import { mayChange } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { Field } from '../../parts/field.tsx';
import { TagLink } from '../../parts/item.tsx';
import { device as deviceWords, text } from '../../text/words.ts';
import type { OfDeviceProps } from './actions.tsx';
import { ChangeNotice, type MaintainedField, useBasedChanges } from './based-change.tsx';

const noteField: MaintainedField = { valueOf: ({ note }) => note, bodyOf: note => ({ note }) };
const firmwareField: MaintainedField = {
  valueOf: ({ firmwareVersion }) => firmwareVersion,
  bodyOf: firmwareVersion => ({ firmwareVersion }),
};
const tagField = (name: string): MaintainedField => ({
  valueOf: ({ tags }) => tags[name] ?? null,
  bodyOf: value => ({ tags: { [name]: value } }),
});

/** Tags and note side by side; read-only in states in which the registry refuses changes. */
export function EditSection(props: OfDeviceProps) {
  const { device } = props;
  const isEditable = mayChange.value && (device.status === 'INACTIVE' || device.status === 'ACTIVE');
  return (
    <>
      <section>
        <h2>{text.column.tags}</h2>
        <Tags {...props} isEditable={isEditable} />
        {isEditable && <Firmware {...props} />}
      </section>
      <section>
        <h2 id="note">{text.column.note}</h2>
        {isEditable ? <Note {...props} /> : <p class="note">{device.note ?? deviceWords.noNote}</p>}
        {mayChange.value && !isEditable && <p class="hint">{deviceWords.readOnly}</p>}
      </section>
    </>
  );
}

function Tags({ device, isEditable, onChanged }: OfDeviceProps & { readonly isEditable: boolean }) {
  const words = deviceWords.tags;
  const changes = useBasedChanges(onChanged);
  const entries = Object.entries(device.tags);
  return (
    <>
      {entries.length === 0 && <p class="hint">{text.common.none}</p>}
      <ul class="chips" aria-label={text.column.tags}>
        {entries.map(([name, value]) => (
          <li key={name}>
            <TagLink name={name} value={value} />
            {isEditable && (
              <Button
                words="×"
                aria-label={words.remove(name)}
                disabled={changes.busy.value}
                onClick={() => void changes.run(() => changes.change(tagField(name), null, device, () => {}))}
              />
            )}
          </li>
        ))}
      </ul>
      {isEditable && <AddTag device={device} changes={changes} />}
      <ChangeNotice changes={changes} />
    </>
  );
}

type AddTagProps = Readonly<{ device: DeviceDetail; changes: ReturnType<typeof useBasedChanges> }>;

function AddTag({ device, changes: { busy, submit, change } }: AddTagProps) {
  const words = deviceWords.tags;
  const typed = useSignal('');
  const isWrong = useSignal(false);
  const { begin, end } = useBasis(device);
  const add = async () => {
    const { parseTag } = await import('../../../src/contract/tags.ts');
    const tag = parseTag(typed.peek());
    isWrong.value = tag === null;
    if (!tag) return;
    await change(tagField(tag.name), tag.value, begin(), () => {
      typed.value = '';
      end();
    });
  };
  return (
    <form class="line" onSubmit={submit(add)}>
      <Field
        label={words.add}
        placeholder="lot:7"
        value={typed.value}
        onChange={text => {
          typed.value = text;
          begin();
        }}
        fault={isWrong.value ? words.fault : null}
      />
      <Button words={words.submit} type="submit" disabled={busy.value || !typed.value.trim()} />
    </form>
  );
}

/** The device as it was when the person began to type: what they saw is what their change is based on. */
function useBasis(device: DeviceDetail) {
  const basis = useRef<DeviceDetail | null>(null);
  return {
    begin: (): DeviceDetail => {
      basis.current ??= device;
      return basis.current;
    },
    end: () => {
      basis.current = null;
    },
  };
}

/** A field as it is stored until the person types: a change of another person does not take what was typed. */
function useTextEdit(field: MaintainedField, { device, onChanged }: OfDeviceProps) {
  const changes = useBasedChanges(onChanged);
  const typed = useSignal<string | null>(null);
  const { begin, end } = useBasis(device);
  const save = () =>
    changes.change(field, typed.peek()?.trim() || null, begin(), () => {
      typed.value = null;
      end();
    });
  return {
    changes,
    isUnchanged: changes.busy.value || typed.value === null,
    onSubmit: changes.submit(save),
    value: typed.value ?? field.valueOf(device) ?? '',
    onChange(text: string) {
      begin();
      typed.value = text;
    },
  };
}

function Note(props: OfDeviceProps) {
  const { changes, isUnchanged, onSubmit, value, onChange } = useTextEdit(noteField, props);
  return (
    <form onSubmit={onSubmit}>
      <textarea
        rows={4}
        aria-labelledby="note"
        maxLength={textLengths.note}
        value={value}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
      />
      <ChangeNotice changes={changes} />
      <p class="actions">
        <Button words={text.common.save} type="submit" disabled={isUnchanged} />
      </p>
    </form>
  );
}

function Firmware(props: OfDeviceProps) {
  const { changes, isUnchanged, onSubmit, ...bound } = useTextEdit(firmwareField, props);
  return (
    <form onSubmit={onSubmit}>
      <div class="line">
        <Field {...bound} label={deviceWords.facts.firmwareVersion} maxLength={textLengths.version} />
        <Button words={text.common.change} type="submit" disabled={isUnchanged} />
      </div>
      <ChangeNotice changes={changes} />
    </form>
  );
}
