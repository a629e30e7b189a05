/** What to do where the daemon finds no keys. */
import type { DriverStatus } from '../../../src/contract/hardware.ts';
import { dictionary } from '../../text/text.ts';

const benchWords = dictionary('bench');

interface ElsewhereProps {
  readonly drivers: readonly DriverStatus[];
  /** Looks for keys again. */
  readonly again: () => void;
}

/** Why there are no keys, and the command for the station. */
export function Elsewhere({ drivers, again }: ElsewhereProps) {
  const words = benchWords.value.elsewhere;
  return (
    <>
      <p>{drivers.length ? words.unavailable : words.none}</p>
      {drivers.length > 0 && (
        <dl class="facts">
          {drivers.map(({ name, detail }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{detail}</dd>
            </div>
          ))}
        </dl>
      )}
      <p>{words.command}</p>
      <p>
        <code>devmgr enroll --server {location.origin} --roster people.csv</code>
      </p>
      <button type="button" onClick={again}>
        {words.again}
      </button>
    </>
  );
}
