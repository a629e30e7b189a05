/** Live enrollment: a person, a key, unplug. */
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { mayChange, session } from '../../api/session.ts';
import { lazy } from '../../parts/lazy.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import { prefer, preferences } from '../../preferences.ts';
import { text, bench as words } from '../../text/words.ts';

const Elsewhere = lazy(async () => (await import('./elsewhere.tsx')).Elsewhere);
const Station = lazy(async () => (await import('./station.tsx')).Station);

/** Binds keys to people, where the daemon has hardware. */
export const BenchPage = () => (
  <>
    <div class="bar">
      <h1>{text.nav.bench}</h1>
      {mayChange.value && <Sound />}
    </div>
    {mayChange.value && session.value ? (
      <Hardware userId={session.value.user.id} />
    ) : (
      <p role="status">{words.notAllowed}</p>
    )}
  </>
);

const Sound = () => (
  <label class="sound">
    <input
      type="checkbox"
      checked={!preferences.value.isSilent}
      onChange={event => prefer({ isSilent: !event.currentTarget.checked })}
    />
    {words.sound}
  </label>
);

/** Most daemons of a registry have no hardware: the bench itself is loaded only if this one has. */
function Hardware({ userId }: { readonly userId: string }) {
  const { data, problem, reload } = useResource(signal => call('listKeys', {}, { signal }));
  const found = data.value;
  const finds = found && (found.list.length > 0 || found.drivers.some(({ state }) => state === 'ready'));
  return (
    <>
      <ProblemNotice problem={problem.value} retry={reload} />
      {!found && !problem.value && <p role="status">{text.common.loading}</p>}
      {finds && <Station userId={userId} />}
      {found && !finds && <Elsewhere drivers={found.drivers} again={reload} />}
    </>
  );
}
