/** Devices for the commands that change many, and the files that these read and write. */
import { readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Daemon, temporaryFolder } from './program.ts';

interface Registered {
  readonly deviceId: string;
  readonly serialNumber: string;
  readonly activationCode: string;
}

/** Registers devices at a daemon, changes them and reads their state. */
export function bulkDevices(daemon: () => Daemon) {
  let groups = 0;

  /** Devices of a manufacturer of their own. */
  async function registered(count: number, active = false) {
    const name = `BULK${++groups}`;
    const devices = Array.from({ length: count }, (_, n) => ({
      deviceType: 'UKEY',
      serialNumber: `${name}-${n}`,
      manufacturer: name,
      model: 'One',
    }));
    const { results } = (await daemon().call('POST', '/api/devices/batch-register', { devices })) as {
      results: Registered[];
    };
    if (active)
      await update(
        'ACTIVATE',
        results.map(({ deviceId, activationCode }) => ({ deviceId, activationCode, userId: 'alice' })),
      );
    return { name, devices: results, ids: results.map(({ deviceId }) => deviceId) };
  }

  async function update(operation: string, items: readonly object[]): Promise<void> {
    for (let from = 0; from < items.length; from += 1000) {
      const data = await daemon().call('POST', '/api/devices/batch-update', {
        operation,
        items: items.slice(from, from + 1000),
      });
      expect(data.failed).toBe(0);
    }
  }

  const stateOf = async (id: string) => (await daemon().call('GET', `/api/devices/${id}`)).status as string;
  const codeOf = async (id: string) => (await daemon().call('GET', `/api/devices/${id}`)).activationCode as string;
  const countOf = async (manufacturer: string, status: string) =>
    (await daemon().call('GET', `/api/devices/list?size=1&manufacturer=${manufacturer}&status=${status}`)).pagination
      .total as number;

  return { registered, update, stateOf, codeOf, countOf };
}

/** A file with this content, and the path of results beside it. */
export function fileOf(content: string, name = 'devices.txt') {
  const folder = temporaryFolder();
  const file = join(folder, name);
  writeFileSync(file, content);
  return { file, out: join(folder, 'results.csv') };
}

/** The lines of a text file that ends with a line feed. */
export const linesOf = (file: string) => readFileSync(file, 'utf8').trimEnd().split('\n');

/** The request is executed and its response does not arrive. */
export function loseResponse(forward: () => Promise<void>, answer: ServerResponse): Promise<void> {
  Object.defineProperty(answer, 'write', { value: () => true });
  Object.defineProperty(answer, 'writeHead', { value: () => answer });
  Object.defineProperty(answer, 'end', { value: () => answer.destroy() });
  return forward();
}
