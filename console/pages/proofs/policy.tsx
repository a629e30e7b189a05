/** Policy of proofs of a registration: the policy, and its change after a preview. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { aaguidForm, firmwareRuleOf, firmwareRuleText } from '../../../src/contract/firmware-rules.ts';
import {
  type IdentityPolicy,
  identityPolicies,
  type RequiredGrade,
  requiredGrades,
} from '../../../src/contract/key-values.ts';
import type { ProofPolicy } from '../../../src/contract/proof.ts';
import { demandUnchanged } from '../../api/problem.ts';
import { call, serverNow } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { DialogButton } from '../../parts/button.tsx';
import { FactList } from '../../parts/facts.tsx';
import { Field, useEntries } from '../../parts/field.tsx';
import { Choice } from '../../parts/inputs.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Table } from '../../parts/table.tsx';
import { linkTo } from '../../router.ts';
import { grouped } from '../../text/numbers.ts';
import { policies as policyWords, text } from '../../text/words.ts';
import { type ProofPreview, previewOf, recentDays } from '../policies/preview.ts';

/** The policy of proofs. */
export function ProofPolicySection() {
  const words = policyWords.proof;
  const resource = useResource(signal => call('showProofPolicy', {}, { signal }));
  return (
    <section>
      <h2>{words.title}</h2>
      <p class="hint">{words.hint}</p>
      <Loaded from={resource}>
        {policy => (
          <>
            <Rules policy={policy} />
            <p>
              <DialogButton
                words={text.common.change}
                dialog={onClose => <ChangePolicy policy={policy} onClose={onClose} onDone={resource.reload} />}
              />
            </p>
          </>
        )}
      </Loaded>
    </section>
  );
}

/** The rules. An AAGUID leads to the devices that have it. */
function Rules({
  policy: { requiredGrade, allowedAaguids, leastFirmware, identity },
}: {
  readonly policy: ProofPolicy;
}) {
  const words = policyWords.proof;
  const lines = (values: readonly string[], shown: (value: string) => ComponentChildren) =>
    values.length > 0 ? values.map(value => <div key={value}>{shown(value)}</div>) : words.any;
  const linkOf = (aaguid: string) => (
    <a class="code" href={linkTo('devices', { aaguid })}>
      {aaguid}
    </a>
  );
  return (
    <FactList
      class="facts long"
      facts={[
        [words.requiredGrade, words.grade[requiredGrade]],
        [words.allowedAaguids, lines(allowedAaguids, linkOf)],
        [words.leastFirmware, lines(leastFirmware.map(firmwareRuleText), rule => rule)],
        [words.identity, words.identities[identity ?? 'where-needed']],
      ]}
    />
  );
}

type ChangePolicyProps = Readonly<{ policy: ProofPolicy; onClose: () => void; onDone: () => void }>;

const linesOf = (text: string): string[] =>
  text
    .split(/[\n,;]/)
    .map(line => line.trim())
    .filter(Boolean);

/** The form, then the preview; Cancel there leads back to the form as it was filled in. */
function ChangePolicy({ policy, onClose, onDone }: ChangePolicyProps) {
  const words = policyWords.proof;
  const entries = useEntries({
    grade: policy.requiredGrade as RequiredGrade,
    aaguids: policy.allowedAaguids.join('\n'),
    firmware: policy.leastFirmware.map(firmwareRuleText).join('\n'),
    identity: (policy.identity ?? 'where-needed') as IdentityPolicy,
  });
  const { grade, aaguids, firmware, identity } = entries;
  const wanted = useSignal<ProofPolicy | null>(null);
  const names = linesOf(aaguids.value.toLowerCase());
  const rules = linesOf(firmware.value).map(line => ({ line, rule: firmwareRuleOf(line) }));
  const fault =
    names.find(name => !aaguidForm.test(name)) ?? rules.find(({ line, rule }) => !rule || !isFirmware.test(line))?.line;
  if (wanted.value)
    return (
      <PreviewPolicy
        before={policy}
        policy={wanted.value}
        onBack={() => (wanted.value = null)}
        onClose={onClose}
        onDone={onDone}
      />
    );
  return (
    <ActionDialog
      title={words.title}
      submit={words.preview}
      isReady={fault === undefined}
      onSubmit={async () => {
        const leastFirmware = rules.flatMap(({ rule }) => rule ?? []);
        const rest = { allowedAaguids: names, leastFirmware, identity: identity.value };
        wanted.value = { requiredGrade: grade.value, ...rest };
      }}
      // After the form, too: the preview follows it.
      onClose={() => wanted.peek() ?? onClose()}
    >
      <Choice label={words.requiredGrade} entry={grade} values={requiredGrades} words={words.grade} />
      <Field label={words.allowedAaguids} hint={words.aaguidsHint} entry={aaguids} rows={3} class="code" />
      <Field label={words.leastFirmware} hint={words.firmwareHint} entry={firmware} rows={3} class="code" />
      <Choice label={words.identity} entry={identity} values={identityPolicies} words={words.identities} />
      {fault !== undefined && (
        <p role="status" class="fault">
          {words.wrongLine(fault)}
        </p>
      )}
    </ActionDialog>
  );
}

/** The version of a rule, as the contract has it. */
const isFirmware = /(^|=)\s*\d+(\.\d+){0,3}$/;

type PreviewPolicyProps = ChangePolicyProps & Readonly<{ before: ProofPolicy; onBack: () => void }>;

function PreviewPolicy({ before, policy, onBack, onClose, onDone }: PreviewPolicyProps) {
  const words = policyWords.proof;
  const now = useMemo(() => serverNow(), []);
  const preview = useResource(signal => previewOf(policy, now, signal));
  return (
    <ActionDialog
      title={words.previewTitle}
      submit={words.set}
      isDangerous
      isReady={preview.data.value !== undefined}
      onSubmit={async key => {
        demandUnchanged(await call('showProofPolicy', {}), before, policy);
        await call('setProofPolicy', { body: policy }, { key });
        onDone();
        onClose();
      }}
      onClose={onBack}
    >
      <Loaded from={preview}>{data => <Refused {...data} />}</Loaded>
    </ActionDialog>
  );
}

function Refused({ rules, refused, recentFrom, notCounted }: ProofPreview) {
  const words = policyWords.proof;
  const cell = (count: number, isGrade: boolean, createdFrom?: string) =>
    isGrade && count > 0 ? (
      <a href={linkTo('devices', { proof: refused.join(','), createdFrom })}>{grouped(count)}</a>
    ) : (
      grouped(count)
    );
  return (
    <>
      <p>{words.previewHint(recentDays)}</p>
      <Table
        heads={{ rule: words.rule, all: words.all, recent: words.recent(recentDays) }}
        columns={{
          rule: ({ rule }) => words.rules[rule],
          all: ({ rule, all }) => cell(all, rule === 'grade'),
          recent: ({ rule, recent }) => cell(recent, rule === 'grade', recentFrom),
        }}
        rowHead="rule"
        classes={{ all: 'number', recent: 'number' }}
        rows={rules}
        keyOf={({ rule }) => rule}
      />
      {notCounted.map(rule => (
        <p key={rule} class="hint">
          {words.notCounted[rule]}
        </p>
      ))}
    </>
  );
}
