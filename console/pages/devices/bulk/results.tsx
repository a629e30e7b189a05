/** What a bulk operation has done. */

import { useSignal } from '@preact/signals';
import { csvFile } from '../../../parts/csv.ts';
import { save } from '../../../parts/save.ts';
import { Table } from '../../../parts/table.tsx';
import { linkTo } from '../../../router.ts';
import { dictionary } from '../../../text/text.ts';
import type { BatchRun, ItemResult } from './run.ts';

const listWords = dictionary('devices');
const bulkWords = dictionary('bulk');

/** Lines of a table in the dialog; the file has all of them. */
const SHOWN = 100;

/** Counts, failed devices with the reason, new codes on demand, and both as files. */
export function Results({ run }: { readonly run: BatchRun }) {
  const words = bulkWords.value;
  const results = run.results.value;
  const failed = results.filter(({ status }) => status === 'failed');
  const codes = run.name === 'GENERATE_CODE' ? results.filter(({ data }) => data !== null) : [];
  const left = run.ids.length - results.length;
  return (
    <>
      <p role="status">
        <strong>{words.done[run.name](results.length - failed.length)}</strong>{' '}
        {failed.length > 0 && words.failed(failed.length)} {left > 0 && words.left(left)}
      </p>
      {failed.length > 0 && (
        <Listing title={words.failedTitle} results={failed} last={words.why} cell={({ message }) => message} />
      )}
      {codes.length > 0 && <Codes results={codes} />}
      {results.length > 0 && (
        <button type="button" onClick={() => save('results.csv', resultFile(results))}>
          {words.download}
        </button>
      )}
    </>
  );
}

function Codes({ results }: { readonly results: readonly ItemResult[] }) {
  const words = bulkWords.value;
  const isShown = useSignal(false);
  return (
    <>
      <p class="actions">
        <button type="button" aria-expanded={isShown.value} onClick={() => (isShown.value = !isShown.value)}>
          {isShown.value ? words.hideCodes : words.showCodes}
        </button>
        <button type="button" onClick={() => save('codes.csv', codeFile(results))}>
          {words.downloadCodes}
        </button>
      </p>
      {isShown.value && (
        <Listing
          title={words.codes}
          results={results}
          last={words.code}
          cell={({ data }) => textOf(data, 'activationCode')}
        />
      )}
    </>
  );
}

interface ListingProps {
  readonly title: string;
  readonly results: readonly ItemResult[];
  /** Head of the last column, and what it shows. */
  readonly last: string;
  readonly cell: (result: ItemResult) => string;
}

function Listing({ title, results, last, cell }: ListingProps) {
  const { device, serial } = listWords.value.column;
  return (
    <section class="scroll listing" aria-label={title}>
      <Table
        title={title}
        heads={{ device, serial, last }}
        columns={{
          device: ({ deviceId }) => <a href={linkTo(`devices/${encodeURIComponent(deviceId ?? '')}`)}>{deviceId}</a>,
          serial: ({ serialNumber }) => serialNumber,
          last: cell,
        }}
        rowHead="device"
        rows={results.slice(0, SHOWN)}
        keyOf={({ deviceId }) => deviceId ?? ''}
      />
      {results.length > SHOWN && <p class="hint">{bulkWords.value.more(results.length - SHOWN)}</p>}
    </section>
  );
}

const resultFile = (results: readonly ItemResult[]) =>
  csvFile(
    ['deviceId', 'serialNumber', 'status', 'code', 'message'],
    results.map(({ deviceId, serialNumber, status, code, message }) => [deviceId, serialNumber, status, code, message]),
  );

const codeFile = (results: readonly ItemResult[]) =>
  csvFile(
    ['deviceId', 'serialNumber', 'activationCode', 'expiresAt'],
    results.map(({ deviceId, serialNumber, data }) => [
      deviceId,
      serialNumber,
      textOf(data, 'activationCode'),
      textOf(data, 'expiresAt'),
    ]),
  );

function textOf(data: object | null, name: string): string {
  const value = (data as Readonly<Record<string, unknown>> | null)?.[name];
  return typeof value === 'string' ? value : '';
}
