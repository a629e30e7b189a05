/** The directory that persons are read from: its last run, and a run now, after a look at what it would change. */
import type { DirectoryReport, DirectoryStep } from '../../../src/contract/directory.ts';
import { directorySteps } from '../../../src/contract/person-values.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { DialogButton } from '../../parts/button.tsx';
import { FactList } from '../../parts/facts.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import type { DialogProps } from '../../parts/records.tsx';
import { Table } from '../../parts/table.tsx';
import { Moment } from '../../parts/time.tsx';
import { reporting } from '../../parts/toast.ts';
import { linkTo } from '../../router.ts';
import { grouped } from '../../text/numbers.ts';
import { policies, text } from '../../text/words.ts';

const foundIn = (counts: DirectoryReport['counts']): string =>
  [
    policies.directory.read(counts.read),
    ...directorySteps
      .filter(step => counts[step])
      .map(step => `${grouped(counts[step])} ${policies.directory.steps[step]}`),
  ].join(', ');

/** The directory, and what to do with it if one is set up. */
export function DirectorySection() {
  const resource = useResource(signal => call('showDirectory', {}, { signal }));
  const onDone = reporting(resource.reload);
  return (
    <section>
      <h2>{policies.directory.title}</h2>
      <p class="hint">{policies.directory.hint}</p>
      <Loaded from={resource}>
        {({ enabled, url, everyMinutes, fullEveryMinutes, lastRun }) =>
          enabled ? (
            <>
              <FactList
                class="facts long"
                facts={[
                  [policies.directory.address, url],
                  [policies.directory.times, policies.directory.every(everyMinutes, fullEveryMinutes)],
                  [policies.directory.last, lastRun ? <Moment at={lastRun.at} /> : policies.directory.none],
                  [text.column.result, lastRun && !lastRun.problem && foundIn(lastRun.counts)],
                ]}
              />
              {lastRun?.problem && <p role="alert">{lastRun.problem}</p>}
              <p>
                <DialogButton
                  words={policies.directory.preview}
                  dialog={onClose => <Preview onClose={onClose} onDone={onDone} />}
                />
              </p>
            </>
          ) : (
            <p>
              {policies.directory.off} <a href={linkTo('providers')}>{policies.directory.setUp}</a>
            </p>
          )
        }
      </Loaded>
    </section>
  );
}

const columns = {
  step: ({ step }: DirectoryStep) => policies.directory.steps[step],
  person: ({ personId, userName }: DirectoryStep) =>
    personId ? <a href={linkTo(`people/${personId}`)}>{userName}</a> : userName,
  detail: ({ detail }: DirectoryStep) => detail,
};

function Preview({ onClose, onDone }: DialogProps) {
  const report = useResource(signal => call('syncDirectory', { body: { dryRun: true } }, { signal }));
  const submit = async () => {
    const { counts, problem } = await call('syncDirectory', { body: {} });
    onDone(problem ?? foundIn(counts));
  };
  return (
    <ActionDialog
      title={policies.directory.preview}
      submit={policies.directory.submit}
      isDangerous={(report.data.value?.counts.left ?? 0) > 0}
      isReady={report.data.value !== undefined}
      onSubmit={submit}
      onClose={onClose}
    >
      <Loaded from={report}>
        {({ counts, problem, list }) => (
          <>
            {problem ? <p role="alert">{problem}</p> : <p>{foundIn(counts)}</p>}
            {list.length > 0 && (
              <Table
                title={policies.directory.preview}
                heads={policies.directory.column}
                columns={columns}
                rowHead="person"
                rows={list}
                keyOf={({ step, personId, userName }) => `${step} ${personId} ${userName}`}
              />
            )}
          </>
        )}
      </Loaded>
    </ActionDialog>
  );
}
