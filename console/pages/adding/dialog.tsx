/** The dialog that registers one device. */
import { type Signal, useSignal } from '@preact/signals';
import { Code } from '../../../src/contract/codes.ts';
import { describedNames, describedTexts } from '../../../src/contract/device-description.ts';
import type { Key } from '../../../src/contract/hardware.ts';
import { textLengths } from '../../../src/contract/limits.ts';
import { type DeviceType, deviceTypes } from '../../../src/contract/values.ts';
import { useRefresh } from '../../api/live.ts';
import { Problem, problemOf } from '../../api/problem.ts';
import { call, type Data } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { Button } from '../../parts/button.tsx';
import { CodeSection } from '../../parts/code.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, useEntries } from '../../parts/field.tsx';
import { CheckBox, Choice } from '../../parts/inputs.tsx';
import { addDevice } from '../../parts/open.ts';
import { PersonField } from '../../parts/person-field.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import { linkTo } from '../../router.ts';
import {
  device as deviceWords,
  entries as entryWords,
  importing as importWords,
  text,
  adding as words,
} from '../../text/words.ts';

const none = Object.fromEntries(describedNames.map(name => [name, ''])) as Record<
  (typeof describedNames)[number],
  string
>;
const first = { deviceType: 'UKEY' as DeviceType, serialNumber: '', ...none, tags: '' };
type DeviceEntries = ReturnType<typeof useEntries<typeof first>>;
const lines = ['serialNumber', ...describedNames] as const;

/** Asks for the device, or takes a key at the daemon's machine; then activates it for its user, or shows its activation code. */
export function AddDevice({ onClose }: { readonly onClose: () => void }) {
  const names = deviceWords.facts;
  const entries = useEntries(first);
  const user = useSignal('');
  const wrong = useSignal<string | null>(null);
  const asIs = useSignal(false);
  const isOptional = (name: (typeof lines)[number]) => name !== 'serialNumber' && !describedTexts[name].isRequired;
  return (
    <ActionDialog
      title={words.title}
      submit={words.submit}
      onClose={onClose}
      onSubmit={async (key, follow) => {
        const read = await readEntries(entries, asIs.value);
        wrong.value = read.ok ? null : read.field;
        if (!read.ok) throw new Problem(Code.parameterError, read.message);
        const added = await call('registerDevice', { body: read.value }, { key });
        const userId = user.value.trim();
        const problem = userId ? await activate(added, userId, `${key}.user`) : null;
        follow(<Added added={added} userId={userId} problem={problem} onClose={onClose} />);
      }}
    >
      <AttachedKeys entries={entries} asIs={asIs} />
      <Choice label={names.deviceType} entry={entries.deviceType} values={deviceTypes} words={text.type} />
      {lines.map(name => (
        <Field
          key={name}
          label={isOptional(name) ? text.common.optional(names[name]) : names[name]}
          entry={entries[name]}
          required={!isOptional(name)}
          maxLength={name === 'serialNumber' ? textLengths.serialNumber : describedTexts[name].max}
          fault={wrong.value === name ? '' : null}
        />
      ))}
      <CheckBox words={importWords.asIs} entry={asIs} />
      <Field label={words.tags} entry={entries.tags} rows={2} />
      <PersonField label={text.common.optional(entryWords.userId)} entry={user} />
    </ActionDialog>
  );
}

/** Binds the new device to its user. Resolves with why it is not active: it stays registered, and its code activates it later. */
async function activate({ deviceId, activationCode }: Data<'registerDevice'>, userId: string, key: string) {
  try {
    await call('activateDevice', { body: { deviceId, userId, activationCode } }, { key });
    return null;
  } catch (error) {
    return problemOf(error);
  }
}

/** Entered values, read by the rules of the contract. */
async function readEntries({ tags, ...fields }: DeviceEntries, asIs: boolean) {
  const [{ readObject }, { parseTag }, { judgedSerial }] = await Promise.all([
    import('../../../src/contract/readers.ts'),
    import('../../../src/contract/tags.ts'),
    import('../../../src/tables/serial-values.ts'),
  ]);
  const deviceType = fields.deviceType.value;
  const source = { deviceType, column: '', hasSecrets: false, asIs };
  const judged = judgedSerial(fields.serialNumber.value.trim(), source);
  if ('problem' in judged)
    return { ok: false, field: 'serialNumber', message: `serialNumber ${judged.problem}` } as const;
  const given = Object.entries(fields).filter(([, { value }]) => value.trim());
  const tagLines = tags.value.split('\n').filter(line => line.trim());
  const named = tagLines.map(line => parseTag(line) ?? { name: line, value: '' });
  return readObject({
    ...Object.fromEntries(given.map(([name, { value }]) => [name, value])),
    ...(judged.serial && { serialNumber: judged.serial }),
    ...(named.length > 0 && { tags: Object.fromEntries(named.map(({ name, value }) => [name, value])) }),
  });
}

/** The keys that are plugged into the machine of the daemon and not registered. A choice fills in the form. */
function AttachedKeys({ entries, asIs }: { readonly entries: DeviceEntries; readonly asIs: Signal<boolean> }) {
  const chosen = useSignal('');
  const keys = useResource(signal => call('listKeys', {}, { signal }));
  const isOfKey = ({ type }: { readonly type: string }) => type === 'KEY_ATTACHED' || type === 'KEY_DETACHED';
  useRefresh(keys.reload, events => events.some(isOfKey), { quiet: 100, most: 500, apart: 0 });
  const { list = [], drivers = [] } = keys.data.value ?? {};
  if (!drivers.some(({ state }) => state === 'ready')) return null;
  const free = list.filter(({ serialNumber, device }) => serialNumber !== null && device === null);
  if (!free.length) return <p class="hint">{words.plugIn}</p>;
  const fill = (key: Key | undefined) => {
    chosen.value = key?.keyId ?? '';
    // The number that a card reports is valid, also without a valid check digit.
    asIs.value = key !== undefined;
    if (key) entries.deviceType.value = key.deviceType;
    for (const name of lines) entries[name].value = key?.[name] ?? '';
  };
  return (
    <Choice<string>
      label={words.plugged}
      value={chosen.value}
      values={['', ...free.map(({ keyId }) => keyId)]}
      words={Object.fromEntries([
        ['', words.byHand],
        ...free.map(({ keyId, serialNumber, model }) => [keyId, [serialNumber, model].filter(Boolean).join(' · ')]),
      ])}
      onChange={id => fill(free.find(({ keyId }) => keyId === id))}
    />
  );
}

interface AddedProps {
  readonly added: Data<'registerDevice'>;
  /** Empty: none was named. */
  readonly userId: string;
  /** Why it is not active for the user. */
  readonly problem: Problem | null;
  readonly onClose: () => void;
}

function Added({ added, userId, problem, onClose }: AddedProps) {
  const { deviceId, serialNumber, activationCode } = added;
  return (
    <Dialog title={words.added(deviceId)} onClose={onClose}>
      <p class="code">{serialNumber}</p>
      <ProblemNotice problem={problem} />
      {userId && !problem ? (
        <p>{words.activated(userId)}</p>
      ) : (
        <CodeSection device={{ activationCode, activationCodeExpiresAt: null }} />
      )}
      <p class="actions">
        <Button words={text.common.close} onClick={onClose} />
        <Button words={words.another} onClick={addDevice} />
        <a class="button" href={linkTo(`devices/${encodeURIComponent(deviceId)}`)} onClick={onClose}>
          {words.open}
        </a>
      </p>
    </Dialog>
  );
}
