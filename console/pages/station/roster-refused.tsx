/** Why a roster is refused. A file in another encoding can be read again, in one that the person names. */
import { useSignal } from '@preact/signals';
import type { FileFault } from '../../../src/enrollment/line/roster.ts';
import { dictionary } from '../../text/text.ts';
import { type Encoding, encodings } from './roster-file.ts';

const faultWords = dictionary('rosterFaults');

/** A file that is not a roster. */
export interface RefusedFile {
  readonly file: File;
  /** The encoding in which it was read, if the person named one; else null. */
  readonly encoding: Encoding | null;
  readonly fault: FileFault;
}

interface RosterRefusedProps {
  readonly refused: RefusedFile;
  readonly read: (file: File, encoding: Encoding) => void;
}

/** What is wrong with the file. */
export function RosterRefused({ refused, read }: RosterRefusedProps) {
  const words = faultWords.value;
  const chosen = useSignal<Encoding>(refused.encoding ?? encodings[0]);
  const { file, fault } = refused;
  const problem = words.of(fault);
  return (
    <>
      <span class="fault" role="alert">
        {fault.line === null ? problem : words.line(fault.line, problem)}
      </span>
      {fault.fault.what === 'encoding' && (
        <>
          <label>
            {words.encoding}{' '}
            <select
              value={chosen.value}
              onChange={event => {
                chosen.value = event.currentTarget.value as Encoding;
              }}
            >
              {encodings.map(encoding => (
                <option key={encoding} value={encoding}>
                  {encoding}
                </option>
              ))}
            </select>
          </label>
          <button type="button" onClick={() => read(file, chosen.value)}>
            {words.readAgain}
          </button>
        </>
      )}
    </>
  );
}
