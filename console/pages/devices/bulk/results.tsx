/** Results of a bulk operation. */
import { useSignal } from '@preact/signals';
import type { ErrorCode } from '../../../../src/contract/codes.ts';
import { Button } from '../../../parts/button.tsx';
import { DeviceLink } from '../../../parts/item.tsx';
import { saveCsv } from '../../../parts/save.ts';
import { Table } from '../../../parts/table.tsx';
import { text, bulk as words } from '../../../text/words.ts';
import type { BulkRun, ItemResult } from './targets.ts';

/** Lines of a table in the dialog; the file has all of them. */
const SHOWN = 100;

const reasonOf = ({ code, message }: ItemResult) => text.problem.refusal(code as ErrorCode, message);

/** Counts, failed devices with the reason, new codes on demand, and both as files. */
export function Results({ run }: { readonly run: BulkRun }) {
  const results = run.results.value;
  const failed = results.filter(({ status }) => status === 'failed');
  const codes = run.name === 'GENERATE_CODE' ? results.filter(({ data }) => data !== null) : [];
  const left = run.total - results.length;
  return (
    <>
      <p role="status">
        <strong>{words.done[run.name](results.length - failed.length)}</strong>{' '}
        {failed.length > 0 && words.failed(failed.length)} {left > 0 && words.left(left)}
      </p>
      {failed.length > 0 && (
        <Listing title={words.failedTitle} results={failed} last={text.column.reason} cell={reasonOf} />
      )}
      {codes.length > 0 && <Codes results={codes} />}
      {results.length > 0 && <Button words={words.download} onClick={() => void saveResults(results)} />}
    </>
  );
}

function Codes({ results }: { readonly results: readonly ItemResult[] }) {
  const isShown = useSignal(false);
  return (
    <>
      <p class="actions">
        <Button
          words={isShown.value ? words.hideCodes : words.showCodes}
          aria-expanded={isShown.value}
          onClick={() => (isShown.value = !isShown.value)}
        />
        <Button words={words.downloadCodes} onClick={() => void saveCodes(results)} />
      </p>
      {isShown.value && (
        <Listing
          title={words.codes}
          results={results}
          last={text.column.code}
          cell={({ data }) => textOf(data, 'activationCode')}
        />
      )}
    </>
  );
}

interface ListingProps {
  readonly title: string;
  readonly results: readonly ItemResult[];
  readonly last: string;
  readonly cell: (result: ItemResult) => string;
}

function Listing({ title, results, last, cell }: ListingProps) {
  return (
    <section class="scroll listing" aria-label={title}>
      <Table
        title={title}
        heads={{ last }}
        columns={{
          device: ({ deviceId }) => <DeviceLink id={deviceId ?? ''} />,
          serial: ({ serialNumber }) => serialNumber,
          last: cell,
        }}
        rowHead="device"
        rows={results.slice(0, SHOWN)}
        keyOf={({ deviceId }) => deviceId ?? ''}
      />
      {results.length > SHOWN && <p class="hint">{words.more(results.length - SHOWN)}</p>}
    </section>
  );
}

const resultFields = ['deviceId', 'serialNumber', 'status', 'code', 'message'] as const;

const saveResults = (results: readonly ItemResult[]) =>
  saveCsv('results.csv', resultFields, results, result => resultFields.map(field => result[field]));

const codeFields = ['deviceId', 'serialNumber', 'activationCode', 'expiresAt'];

const saveCodes = (results: readonly ItemResult[]) =>
  saveCsv('codes.csv', codeFields, results, ({ deviceId, serialNumber, data }) => [
    deviceId,
    serialNumber,
    textOf(data, 'activationCode'),
    textOf(data, 'expiresAt'),
  ]);

function textOf(data: object | null, name: string): string {
  const value = (data as Readonly<Record<string, unknown>> | null)?.[name];
  return typeof value === 'string' ? value : '';
}
