/** Who can read the PINs that stations create. */
import type { PinPolicy } from '../../../src/contract/pins.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { DialogButton } from '../../parts/button.tsx';
import { FactList } from '../../parts/facts.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { type FieldsOf, SettingsFields, useSettingsForm } from '../../parts/settings-form.tsx';
import { policies } from '../../text/words.ts';

const fields: FieldsOf<'setPinPolicy'> = { recipients: { kind: 'lines' } };

const codeOf = (recipient: string) => (
  <div key={recipient} class="code">
    {recipient}
  </div>
);

/** The recipients, and their change. */
export function PinPolicySection() {
  const words = policies.pin;
  const resource = useResource(signal => call('showPinPolicy', {}, { signal }));
  return (
    <section>
      <h2>{words.title}</h2>
      <p class="hint">{words.hint}</p>
      <Loaded from={resource}>
        {policy => (
          <>
            {policy.recipients.length === 0 && <p>{words.none}</p>}
            <FactList
              class="facts long"
              facts={[[words.recipient, policy.recipients.length > 0 && policy.recipients.map(codeOf)]]}
            />
            <p>
              <DialogButton
                words={words.change}
                dialog={onClose => <ChangeRecipients policy={policy} onClose={onClose} onDone={resource.reload} />}
              />
            </p>
          </>
        )}
      </Loaded>
    </section>
  );
}

type ChangeRecipientsProps = Readonly<{ policy: PinPolicy; onClose: () => void; onDone: () => void }>;

function ChangeRecipients({ policy, onClose, onDone }: ChangeRecipientsProps) {
  const form = useSettingsForm(fields, policy);
  const submit = async () => {
    const stored = () => call('showPinPolicy', {});
    await form.send(body => call('setPinPolicy', { body: body as PinPolicy }), stored);
    onDone();
  };
  return (
    <ActionDialog title={policies.pin.change} onSubmit={submit} onClose={onClose}>
      <SettingsFields form={form} labels={policies.pin.field} />
    </ActionDialog>
  );
}
