/**
 * Runs in the guest as a separate process, so that a busy driver does not slow the emulated devices: plugs keys in, unplugs
 * them, inserts cards into readers and removes them. Reads commands and writes replies as lines of JSON.
 */
import { createInterface } from 'node:readline';
import { uicc } from '../support/vcard.ts';
import { createKey, type KeySpec } from './key-models.ts';
import { type CcidReader, ccidReader } from './usb/ccid-reader.ts';
import { type Plugged, plug } from './usb/port.ts';

export type BenchCommand =
  | { readonly do: 'plug'; readonly key: KeySpec }
  | { readonly do: 'unplug'; readonly id: number }
  | { readonly do: 'plug-reader'; readonly serial: string }
  | { readonly do: 'insert'; readonly id: number; readonly iccid: string }
  | { readonly do: 'remove'; readonly id: number }
  | { readonly do: 'powered-at'; readonly id: number };

export interface BenchReply {
  /** Identifies the device in later commands. */
  readonly id: number;
  /** Milliseconds since 1970 at which the command was carried out. */
  readonly at: number;
  readonly error?: string;
}

const plugged = new Map<number, Plugged>();
const readers = new Map<number, CcidReader>();
let lastId = 0;

function reader(id: number): CcidReader {
  const found = readers.get(id);
  if (found === undefined) throw new Error(`there is no reader ${id}`);
  return found;
}

async function carryOut(command: BenchCommand): Promise<BenchReply> {
  switch (command.do) {
    case 'plug': {
      const device = await plug(createKey(command.key));
      plugged.set(++lastId, device);
      return { id: lastId, at: device.at };
    }
    case 'plug-reader': {
      const created = ccidReader(command.serial);
      const device = await plug(created);
      plugged.set(++lastId, device);
      readers.set(lastId, created);
      return { id: lastId, at: device.at };
    }
    case 'unplug': {
      const at = Date.now();
      plugged.get(command.id)?.unplug();
      plugged.delete(command.id);
      readers.delete(command.id);
      return { id: command.id, at };
    }
    case 'insert':
      return { id: command.id, at: reader(command.id).insert(uicc({ iccid: command.iccid, t0: false })) };
    case 'remove':
      reader(command.id).remove();
      return { id: command.id, at: Date.now() };
    case 'powered-at':
      return { id: command.id, at: reader(command.id).poweredAt };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const reply = await carryOut(JSON.parse(line) as BenchCommand).catch(error => ({
    id: 0,
    at: 0,
    error: String(error),
  }));
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}
process.exit(0);
