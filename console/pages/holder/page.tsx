/** Own keys of a person with the role HOLDER: what to do next with each, what has happened to it, and the report that it is lost. */
import { useSignal } from '@preact/signals';
import { KeyRound } from 'lucide';
import type { OwnDevice } from '../../../src/contract/holders.ts';
import { textLengths } from '../../../src/contract/limits.ts';
import { useAction } from '../../api/action.ts';
import { answerOf } from '../../api/keys.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { StatusBadge } from '../../parts/badge.tsx';
import { Button, DialogButton } from '../../parts/button.tsx';
import { Details } from '../../parts/details.tsx';
import { FactList } from '../../parts/facts.tsx';
import { Field, useEntries } from '../../parts/field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import { Moment } from '../../parts/time.tsx';
import { reporting } from '../../parts/toast.ts';
import { text, holder as words } from '../../text/words.ts';

/** Called after a change, with what was done. */
type Done = ReturnType<typeof reporting>;

interface KeyProps {
  readonly device: OwnDevice;
  readonly onDone: Done;
}

/** The page. */
export function OwnKeysPage() {
  const resource = useResource(signal => call('listOwnDevices', {}, { signal }));
  const onDone = reporting(resource.reload);
  return (
    <>
      <h1>{text.nav.me}</h1>
      <Loaded from={resource}>
        {({ list }) => (
          <>
            {list.length === 0 && <p class="hint">{words.none}</p>}
            <div class="cards">
              {list.map(device => (
                <OwnKey key={device.deviceId} device={device} onDone={onDone} />
              ))}
            </div>
          </>
        )}
      </Loaded>
    </>
  );
}

function OwnKey({ device, onDone }: KeyProps) {
  const { deviceId, manufacturer, model, serialNumber, status, next, signsInAt, shippedAt, receivedAt } = device;
  const { fact } = words;
  return (
    <section aria-label={`${manufacturer} ${model}, ${serialNumber}`}>
      <h2>
        <Icon of={KeyRound} /> {manufacturer} {model} <StatusBadge status={status} />
      </h2>
      <p>{words.next[next]}</p>
      <FactList
        facts={[
          [fact.serialNumber, serialNumber],
          [fact.signsInAt, signsInAt.join(', ')],
          [fact.shippedAt, shippedAt && <Moment at={shippedAt} />],
          [fact.receivedAt, receivedAt && <Moment at={receivedAt} />],
        ]}
      />
      {next === 'receive' && <Arrival device={device} onDone={onDone} />}
      {status === 'ACTIVE' && (
        <p class="actions">
          <DialogButton
            words={words.lost}
            class="danger"
            dialog={onClose => <LostDialog device={device} onClose={onClose} onDone={onDone} />}
          />
        </p>
      )}
      <Details summary={words.history}>{() => <History deviceId={deviceId} />}</Details>
    </section>
  );
}

/** The touch that confirms that a key has arrived. */
function Arrival({ device: { deviceId }, onDone }: KeyProps) {
  const isElsewhere = useSignal(false);
  const { busy, problem, run } = useAction();
  const confirm = async () => {
    const {
      receiptId,
      text: signed,
      challenge,
      browser,
    } = await call('confirmReceived', {
      params: { deviceId },
      body: {},
    });
    isElsewhere.value = browser === null;
    if (!browser) return;
    const allowCredentials = browser.credentials.map(id => ({ id, type: 'public-key' }));
    const { id, response } = await answerOf({ challenge, rpId: browser.relyingParty, allowCredentials });
    const { authenticatorData, signature, clientDataJSON: clientData } = response;
    const body = { receiptId, text: signed, credentialId: id, authenticatorData, signature, clientData };
    await call('confirmReceived', { params: { deviceId }, body });
    onDone(words.confirmed(deviceId));
  };
  return (
    <>
      <ProblemNotice problem={problem.value} />
      <p role="status">{isElsewhere.value && words.elsewhere}</p>
      <p class="actions">
        <Button words={words.received} class="main" disabled={busy.value} onClick={() => void run(confirm)} />
      </p>
    </>
  );
}

/** Locks a key that its holder has lost. */
function LostDialog({ device: { deviceId }, onClose, onDone }: KeyProps & { readonly onClose: () => void }) {
  const { reason } = useEntries({ reason: '' });
  const submit = async (key: string) => {
    await call('reportLost', { params: { deviceId }, body: { reason: reason.value.trim() } }, { key });
    onDone(words.reported(deviceId));
  };
  return (
    <ActionDialog
      title={words.lostTitle(deviceId)}
      submit={words.lost}
      isDangerous
      isReady={reason.value.trim() !== ''}
      onSubmit={submit}
      onClose={onClose}
    >
      <p>{words.lostEffect}</p>
      <Field label={words.reason} entry={reason} required autofocus maxLength={textLengths.reason} />
    </ActionDialog>
  );
}

const History = ({ deviceId }: Pick<OwnDevice, 'deviceId'>) => (
  <Loaded from={useResource(signal => call('listOwnDeviceEvents', { params: { deviceId } }, { signal }))}>
    {({ list }) => (
      <ul>
        {list.map(({ id, type, timestamp }) => (
          <li key={id}>
            {text.event[type]}, <Moment at={timestamp} />
          </li>
        ))}
      </ul>
    )}
  </Loaded>
);
