/** What a bulk operation has done. */

import { useSignal } from '@preact/signals';
import { csvFile } from '../../../parts/csv.ts';
import { save } from '../../../parts/save.ts';
import { linkTo } from '../../../router.ts';
import { dictionary } from '../../../text/text.ts';
import type { BulkRun, ItemResult } from './run.ts';

const listWords = dictionary('devices');
const bulkWords = dictionary('bulk');

/** Lines of a table in the dialog; the file has all of them. */
const SHOWN = 100;

/** Counts, failed devices with the reason, new codes on demand, and both as files. */
export function Results({ run }: { readonly run: BulkRun }) {
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
      {failed.length > 0 && <Failed results={failed} />}
      {codes.length > 0 && <Codes results={codes} />}
      {results.length > 0 && (
        <button type="button" onClick={() => save('results.csv', resultFile(results))}>
          {words.download}
        </button>
      )}
    </>
  );
}

function Failed({ results }: { readonly results: readonly ItemResult[] }) {
  const words = bulkWords.value;
  return (
    <Listing
      title={words.failedTitle}
      columns={[listWords.value.column.serial, words.why]}
      rows={results.map(({ deviceId, serialNumber, message }) => [deviceId, serialNumber, message])}
    />
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
          columns={[listWords.value.column.serial, words.code]}
          rows={results.map(({ deviceId, serialNumber, data }) => [
            deviceId,
            serialNumber,
            textOf(data, 'activationCode'),
          ])}
        />
      )}
    </>
  );
}

interface ListingProps {
  readonly title: string;
  /** Heads of the columns after the device. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly [id: string | null, ...(string | null)[]])[];
}

function Listing({ title, columns, rows }: ListingProps) {
  return (
    <section class="scroll listing" aria-label={title}>
      <table class="dense">
        <caption>{title}</caption>
        <thead>
          <tr>
            {[listWords.value.column.device, ...columns].map(head => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, SHOWN).map(([id, ...cells]) => (
            <tr key={id}>
              <th scope="row">
                <a href={linkTo(`devices/${encodeURIComponent(id ?? '')}`)}>{id}</a>
              </th>
              {cells.map((cell, index) => (
                <td key={columns[index]}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > SHOWN && <p class="hint">{bulkWords.value.more(rows.length - SHOWN)}</p>}
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
