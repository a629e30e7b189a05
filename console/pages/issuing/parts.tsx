/** The dialogs about what a provider gives: a test of each step, and its removal. */
import { partNames } from '../../../src/fleet/provider-parts.ts';
import { useResource } from '../../api/resource.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { CopyField } from '../../parts/copy.tsx';
import { CloseButton, Dialog } from '../../parts/dialog.tsx';
import { type Fact, FactList } from '../../parts/facts.tsx';
import { useEntries } from '../../parts/field.tsx';
import { CheckBoxes } from '../../parts/inputs.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import type { RecordDialogProps } from '../../parts/records.tsx';
import { linkTo } from '../../router.ts';
import { text, providers as words } from '../../text/words.ts';
import { type ProviderCheck, type ProviderRow, type ProviderTest, removePart, testsOf } from './rows.ts';

type PartsProps = RecordDialogProps<Pick<ProviderRow, 'name' | 'parts'>>;

/** Asks the provider, and shows what each step has found. */
export function TestProvider({ record: { name, parts }, onClose, onDone }: PartsProps) {
  const found = useResource(async signal => {
    const tests = await testsOf(parts, signal);
    onDone();
    return tests;
  });
  return (
    <Dialog title={text.common.of(text.record.action.test, name)} onClose={onClose}>
      <p class="hint">{words.askTest}</p>
      <Loaded from={found}>
        {tests => tests.map(test => <Result key={test.part} name={name} isOnly={tests.length === 1} {...test} />)}
      </Loaded>
      <CloseButton onClose={onClose} />
    </Dialog>
  );
}

/** What a step has found. */
const factOf = ({ check, ok, detail }: ProviderCheck): Fact => [
  (words.check as Readonly<Record<string, string>>)[check] ?? check,
  <>
    <span class={`badge ${ok ? 'good' : 'bad'}`}>{ok ? words.state.works : words.refused}</span>{' '}
    <span lang="en">{detail}</span>
  </>,
];

function Result({ name, isOnly, part, problem, checks, register }: ProviderTest & { name: string; isOnly: boolean }) {
  const report = problem === null ? words.accepts(name) : words.fails(name, problem);
  return (
    <>
      <p role="status">{isOnly ? report : `${words.column[part.gives]}: ${report}`}</p>
      <FactList class="facts long" facts={checks.map(factOf)} />
      {part.type === 'ldap' && problem === null && (
        <p>
          <a href={linkTo('policies')}>{words.previewRun}</a>
        </p>
      )}
      {register && (
        <>
          <p class="hint">{words.register}</p>
          <CopyField label={words.redirect} value={register.redirectUri} />
          <CopyField label={words.logout} value={register.backchannelLogoutUri} />
        </>
      )}
    </>
  );
}

/** Asks what to remove, if the provider gives several things, and names what ends with it. */
export function RemoveProvider({ record: { name, parts }, onClose, onDone }: PartsProps) {
  const given = partNames.filter(gives => parts.some(part => part.gives === gives));
  const { gives } = useEntries({ gives: given });
  const chosen = parts.filter(part => gives.value.includes(part.gives));
  const submit = async (key: string) => {
    for (const [at, part] of chosen.entries()) {
      await removePart(part, `${key}.${at}`);
      onDone(chosen.length - at === 1 ? text.record.done.remove(name) : undefined);
    }
  };
  return (
    <ActionDialog
      title={text.common.of(text.record.action.remove, name)}
      submit={text.record.action.remove}
      isDangerous
      isReady={chosen.length > 0}
      onSubmit={submit}
      onClose={onClose}
    >
      {given.length > 1 && <CheckBoxes label={words.removed} entry={gives} values={given} words={words.column} />}
      {chosen.map(part => (
        <p key={part}>
          {words.ends[part.type === 'oidc' || part.type === 'ldap' || part.type === 'scim' ? part.type : 'keys']}
        </p>
      ))}
    </ActionDialog>
  );
}
