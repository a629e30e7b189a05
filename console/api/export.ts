/** Devices from an export: as of one moment, read line by line. */
import type { DeviceListItem } from '../../src/contract/device-shapes.ts';
import { type Input, open } from './request.ts';

/** Filters, as a request takes them. */
export type ExportFilter = NonNullable<Input<'exportDevices'>['query']>;

/** The devices that match, in ascending order of their ids. Throws `Problem`, and an error if the export breaks off. */
export async function* exportedDevices(filter: ExportFilter, signal?: AbortSignal): AsyncGenerator<DeviceListItem> {
  const { body } = await open('exportDevices', { query: { ...filter, format: 'ndjson' } }, signal ? { signal } : {});
  let isWhole = false;
  for await (const lines of linesOf(body))
    for (const line of lines) {
      const device = JSON.parse(line) as DeviceListItem & { readonly end?: true };
      if (device.end) isWhole = true;
      else yield device;
    }
  if (!isWhole) throw new Error('the list of devices broke off');
}

async function* linesOf(body: ReadableStream<Uint8Array<ArrayBuffer>> | null): AsyncGenerator<string[]> {
  if (!body) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const lines = (rest + part.value).split('\n');
    rest = lines.pop() ?? '';
    yield lines.filter(Boolean);
  }
  if (rest) yield [rest];
}
