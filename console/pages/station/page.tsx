/** Live enrollment: a person, a key, unplug. */
import type { DriverStatus } from '../../../src/contract/hardware.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { mayChange, session } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { FactList } from '../../parts/facts.tsx';
import { CheckBox } from '../../parts/inputs.tsx';
import { lazy } from '../../parts/lazy.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { prefer, preferences } from '../../preferences.ts';
import { station as stationWords, text } from '../../text/words.ts';

const Station = lazy(async () => (await import('./station.tsx')).Station);

/** Binds keys to people, where the daemon has hardware. */
export const ThisStationPage = () => (
  <>
    <div class="bar">
      <h1>{text.nav.station}</h1>
      {mayChange.value && (
        <CheckBox
          words={stationWords.sound}
          value={!preferences.value.isSilent}
          onChange={isHeard => prefer(() => ({ isSilent: !isHeard }))}
        />
      )}
    </div>
    {mayChange.value && session.value ? (
      <Hardware userId={session.value.user.id} />
    ) : (
      <p role="status">{stationWords.notAllowed}</p>
    )}
  </>
);

/** Most daemons of a registry have no hardware: the station itself is loaded only if this one has. */
function Hardware({ userId }: { readonly userId: string }) {
  const keys = useResource(signal => call('listKeys', {}, { signal }));
  return (
    <Loaded from={keys}>
      {({ list, drivers }) =>
        list.length > 0 || drivers.some(({ state }) => state === 'ready') ? (
          <Station userId={userId} />
        ) : (
          <Elsewhere drivers={drivers} again={keys.reload} />
        )
      }
    </Loaded>
  );
}

type ElsewhereProps = Readonly<{ drivers: readonly DriverStatus[]; again: () => void }>;

/** Why there are no keys, and the command for the station. */
function Elsewhere({ drivers, again }: ElsewhereProps) {
  const words = stationWords.elsewhere;
  return (
    <>
      <p>{drivers.length ? words.unavailable : words.none}</p>
      {drivers.length > 0 && <FactList facts={drivers.map(({ name, detail }) => [name, detail])} />}
      <p>{words.command}</p>
      <p>
        <code>devmgr enroll --server {location.origin} --roster people.csv</code>
      </p>
      <Button words={words.again} onClick={again} />
    </>
  );
}
