/** The lines of a file by what would happen to them, or what has happened. */
import { Code, type ErrorCode } from '../../../src/contract/codes.ts';
import { columnsOf, type LineResult } from '../../../src/enrollment/import/result.ts';
import { differencesOf } from '../../../src/enrollment/same-device.ts';
import { Button } from '../../parts/button.tsx';
import { DeviceLink } from '../../parts/item.tsx';
import { saveCsv } from '../../parts/save.ts';
import { Table } from '../../parts/table.tsx';
import { grouped } from '../../text/numbers.ts';
import { bulk as bulkWords, device as deviceWords, text, importing as words } from '../../text/words.ts';
import type { CheckedFile } from './plan.ts';

/** Lines that the page shows; the file has all of them. */
const SHOWN = 100;

const kinds = ['new', 'added', 'exists', 'repeated', 'differs', 'refused'] as const;
type LineKind = (typeof kinds)[number];
const colors: Readonly<Record<LineKind, string>> = {
  new: 'good',
  added: 'good',
  exists: '',
  repeated: '',
  differs: 'warn',
  refused: 'bad',
};

function kindOf({ status, deviceId }: LineResult): LineKind {
  if (status === 'new') return 'new';
  if (status === 'success') return 'added';
  if (status === 'registered') return 'exists';
  if (status === 'repeated') return 'repeated';
  return deviceId ? 'differs' : 'refused';
}

interface LinesProps {
  readonly checked: CheckedFile;
  /** One for each row that was judged. */
  readonly lines: readonly LineResult[];
  /** Name of the file that has all of them. */
  readonly fileName: string;
}

/** How many lines of each kind there are, those that a person should look at, and all of them as a file. */
export function Lines({ checked, lines, fileName }: LinesProps) {
  const indexes = lines.map((_, i) => i);
  const counts = Object.groupBy(lines, kindOf);
  const noted = indexes.filter(i => !['new', 'added'].includes(kindOf(lines[i]!)));
  return (
    <>
      <ul class="bar counts">
        {kinds
          .filter(kind => counts[kind])
          .map(kind => (
            <li key={kind}>
              {grouped(counts[kind]?.length ?? 0)} <span class={`badge ${colors[kind]}`}>{words.kind[kind]}</span>
            </li>
          ))}
      </ul>
      {noted.length > 0 && (
        <section>
          <h3>{words.noted}</h3>
          <Table
            title={words.noted}
            heads={{ line: words.line }}
            columns={{
              line: i => grouped(lines[i]!.item ?? lines[i]!.line),
              serial: i => lines[i]!.serialNumber,
              result: i => words.kind[kindOf(lines[i]!)],
              device: i => lines[i]!.deviceId && <DeviceLink id={lines[i]!.deviceId} />,
              reason: i => whyOf(checked, i, lines[i]!),
            }}
            classes={{ line: 'number', serial: 'code' }}
            rows={noted.slice(0, SHOWN)}
            keyOf={i => i}
            isOneLine
          />
          {noted.length > SHOWN && <p class="hint">{bulkWords.more(noted.length - SHOWN)}</p>}
        </section>
      )}
      {lines.length > 0 && <Button words={bulkWords.download} onClick={() => void saveLines(fileName, lines)} />}
    </>
  );
}

/** Differences from the registry, or the reason why a line is refused. */
function whyOf({ rows, existing }: CheckedFile, i: number, line: LineResult): string {
  const row = rows[i];
  const device = existing.get(line.serialNumber ?? '');
  if (kindOf(line) === 'differs' && row && 'device' in row && device)
    return differencesOf(row.device, device)
      .map(([field]) => `${deviceWords.facts[field]}: ${device[field]} ≠ ${row.device[field]}`)
      .join('; ');
  if (kindOf(line) === 'exists') return '';
  if (kindOf(line) === 'repeated') return line.message;
  if (row && 'problem' in row && row.field) {
    const names: Readonly<Record<string, string>> = deviceWords.facts;
    const [name, problem] = [names[row.field] ?? row.field, row.problem.replace(`${row.field} `, '')];
    return `${name}: ${problem === 'is required' ? words.missing : problem}`;
  }
  return text.problem.refusal((line.code ?? Code.parameterError) as ErrorCode, line.message);
}

/** As `register --out` writes them. */
function saveLines(fileName: string, lines: readonly LineResult[]): Promise<void> {
  const fields = columnsOf(false)(lines);
  return saveCsv(fileName, fields, lines, line => fields.map(field => line[field] ?? null));
}
