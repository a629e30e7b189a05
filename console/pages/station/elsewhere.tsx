/** What to do where the daemon finds no keys. */
import type { DriverStatus } from '../../../src/contract/hardware.ts';
import { Button } from '../../parts/button.tsx';
import { FactList } from '../../parts/facts.tsx';
import { bench as benchWords } from '../../text/words.ts';

type ElsewhereProps = Readonly<{ drivers: readonly DriverStatus[]; again: () => void }>;

/** Why there are no keys, and the command for the station. */
export function Elsewhere({ drivers, again }: ElsewhereProps) {
  const words = benchWords.elsewhere;
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
