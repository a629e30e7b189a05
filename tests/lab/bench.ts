/**
 * Runs in the guest as a process of its own, so that a busy driver does not slow the devices it talks to: plugs and
 * pulls keys, puts cards into readers and takes them out, as lines of JSON on stdin ask.
 */
import { createInterface } from 'node:readline';
import { uicc } from '../support/vcard.ts';
import { type KeyOrder, make } from './recipes.ts';
import { type CcidReader, ccidReader } from './usb/ccid-reader.ts';
import { type Plugged, plug } from './usb/port.ts';

export type Order =
  | { readonly do: 'plug'; readonly key: KeyOrder }
  | { readonly do: 'pull'; readonly place: number }
  | { readonly do: 'plug-reader'; readonly serial: string }
  | { readonly do: 'insert'; readonly place: number; readonly iccid: string }
  | { readonly do: 'remove'; readonly place: number }
  | { readonly do: 'powered-at'; readonly place: number };

/** `at`: milliseconds since 1970 at which it was done; `place`: what later orders name the thing by. */
export interface Report {
  readonly place: number;
  readonly at: number;
  readonly error?: string;
}

const plugged = new Map<number, Plugged>();
const readers = new Map<number, CcidReader>();
let count = 0;

function reader(place: number): CcidReader {
  const found = readers.get(place);
  if (found === undefined) throw new Error(`no reader at ${place}`);
  return found;
}

async function carryOut(order: Order): Promise<Report> {
  switch (order.do) {
    case 'plug': {
      const one = await plug(make(order.key));
      plugged.set(++count, one);
      return { place: count, at: one.at };
    }
    case 'plug-reader': {
      const made = ccidReader(order.serial);
      const one = await plug(made);
      plugged.set(++count, one);
      readers.set(count, made);
      return { place: count, at: one.at };
    }
    case 'pull': {
      const at = Date.now();
      plugged.get(order.place)?.pull();
      plugged.delete(order.place);
      readers.delete(order.place);
      return { place: order.place, at };
    }
    case 'insert':
      return { place: order.place, at: reader(order.place).insert(uicc({ iccid: order.iccid, t0: false })) };
    case 'remove':
      reader(order.place).remove();
      return { place: order.place, at: Date.now() };
    case 'powered-at':
      return { place: order.place, at: reader(order.place).poweredAt };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const report = await carryOut(JSON.parse(line) as Order).catch(error => ({ place: 0, at: 0, error: String(error) }));
  process.stdout.write(`${JSON.stringify(report)}\n`);
}
process.exit(0);
