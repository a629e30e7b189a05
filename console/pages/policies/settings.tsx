/** The policies that are a form of settings: what is required of persons and of those who leave, and who can read PINs. */
import type { ComponentChildren } from 'preact';
import type { BodyOf } from '../../../src/contract/define.ts';
import { arrivalDays } from '../../../src/contract/limits.ts';
import type { Routes } from '../../../src/contract/routes.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { DialogButton } from '../../parts/button.tsx';
import { FactList } from '../../parts/facts.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { type FieldsOf, type SettingField, SettingsFields, useSettingsForm } from '../../parts/settings-form.tsx';
import { policies, text } from '../../text/words.ts';

type Texts = Readonly<Record<string, string>>;

interface SettingsPolicy {
  readonly fields: Readonly<Record<string, SettingField>>;
  readonly words: () => Readonly<{ title: string; hint: string; change: string; none?: string; field: Texts }> & {
    readonly choice?: Readonly<Record<string, Texts>>;
  };
  readonly show: (signal?: AbortSignal) => Promise<object>;
  readonly set: (body: object) => Promise<unknown>;
}

const pins: SettingsPolicy = {
  fields: { recipients: { kind: 'lines' } } satisfies FieldsOf<'setPinPolicy'>,
  words: () => policies.pin,
  show: signal => call('showPinPolicy', {}, { ...(signal && { signal }) }),
  set: body => call('setPinPolicy', { body: body as BodyOf<Routes['setPinPolicy']> }),
};

const days = { kind: 'number' } as const;
const people: SettingsPolicy = {
  fields: {
    personsRequired: { kind: 'flag' },
    leavers: { kind: 'choice' },
    leaverDelayHours: { kind: 'number', isNeeded: true },
    arrivalDays: days,
    retentionDays: days,
    copiesDays: days,
  } satisfies FieldsOf<'setPeoplePolicy'>,
  words: () => policies.people,
  // Days that were never set are absent: an empty field would set them to null.
  show: async signal => ({ arrivalDays, ...(await call('showPeoplePolicy', {}, { ...(signal && { signal }) })) }),
  set: body => call('setPeoplePolicy', { body: body as BodyOf<Routes['setPeoplePolicy']> }),
};

/** The rules for persons, leavers and keys that are sent. */
export const PeoplePolicySection = () => <Section policy={people} />;
/** Who can read the PINs that stations create. */
export const PinPolicySection = () => <Section policy={pins} />;

/** The settings, and their change. */
function Section({ policy }: { readonly policy: SettingsPolicy }) {
  const { fields, show } = policy;
  const words = policy.words();
  const resource = useResource(show);
  return (
    <section>
      <h2>{words.title}</h2>
      <p class="hint">{words.hint}</p>
      <Loaded from={resource}>
        {settings => (
          <>
            <FactList
              class="facts long"
              facts={Object.keys(fields).map(name => [
                words.field[name]!,
                shown((settings as Record<string, unknown>)[name], words.choice?.[name]) ??
                  words.none ??
                  text.common.none,
              ])}
            />
            <p>
              <DialogButton
                words={words.change}
                dialog={onClose => <Change {...{ policy, settings, onClose }} onDone={resource.reload} />}
              />
            </p>
          </>
        )}
      </Loaded>
    </section>
  );
}

/** A value as it is read; null for none. */
function shown(value: unknown, choice: Texts = text.who.value): ComponentChildren {
  if (!Array.isArray(value)) return value === null || value === undefined ? null : (choice[`${value}`] ?? `${value}`);
  const lines = value.map(line => (
    <div key={line} class="code">
      {line}
    </div>
  ));
  return lines.length > 0 ? lines : null;
}

type ChangeProps = Readonly<{ policy: SettingsPolicy; settings: object; onClose: () => void; onDone: () => void }>;

function Change({ policy, settings, onClose, onDone }: ChangeProps) {
  const { fields, show, set } = policy;
  const words = policy.words();
  const form = useSettingsForm(fields, settings);
  const submit = async () => {
    await form.send(set, show);
    onDone();
  };
  return (
    <ActionDialog title={words.change} onSubmit={submit} onClose={onClose}>
      <SettingsFields form={form} labels={words.field} {...(words.choice && { choices: words.choice })} />
    </ActionDialog>
  );
}
