/** Why a roster is refused. A file in another encoding can be read again, in one that the person names. */
import { useSignal } from '@preact/signals';
import type { FileFault } from '../../../src/enrollment/line/roster.ts';
import { Button } from '../../parts/button.tsx';
import { Choice } from '../../parts/inputs.tsx';
import { rosterFaults as words } from '../../text/words.ts';
import { type Encoding, encodings } from './roster-file.ts';

/** Encodings have no other names. */
export const encodingNames = Object.fromEntries(encodings.map(each => [each, each])) as Record<Encoding, string>;

/** A file that is not a roster. */
export interface RefusedFile {
  readonly file: File;
  /** The encoding in which it was read, if the person named one; else null. */
  readonly encoding: Encoding | null;
  readonly fault: FileFault;
}

type Props = Readonly<{ refused: RefusedFile; read: (file: File, encoding: Encoding) => void }>;

/** A fault in words. */
export function faultText(fault: FileFault['fault']): string {
  const said = words.of[fault.what];
  return typeof said === 'string' ? said : said(fault as never);
}

/** The faults of the file. */
export function RosterRefused({ refused, read }: Props) {
  const chosen = useSignal<Encoding>(refused.encoding ?? encodings[0]);
  const { file, fault } = refused;
  const problem = faultText(fault.fault);
  return (
    <>
      <span class="fault" role="alert">
        {fault.line === null ? problem : words.line(fault.line, problem)}
      </span>
      {fault.fault.what === 'encoding' && (
        <>
          <Choice label={words.encoding} entry={chosen} values={encodings} words={encodingNames} />
          <Button words={words.readAgain} onClick={() => read(file, chosen.value)} />
        </>
      )}
    </>
  );
}
