/**
 * Runs in the guest as a separate process, so that a busy driver does not slow the emulated devices: plugs keys in, unplugs
 * them, touches them, inserts cards into readers and removes them. Reads commands and writes replies as lines of JSON. At the
 * end it fails if a device has received a command that the gate does not list.
 */
import { createInterface } from 'node:readline';
import { fidoCard } from '../support/fido-card.ts';
import type { FidoKey } from '../support/fido-key.ts';
import { takeUnlisted } from '../support/received-commands.ts';
import { uicc } from '../support/vcard.ts';
import { createKey, type KeySpec, type RootName, rootCertificate, unit } from './key-models.ts';
import { type CcidReader, ccidReader } from './usb/ccid-reader.ts';
import { type Plugged, plug } from './usb/port.ts';

export type BenchCommand =
  | { readonly do: 'plug'; readonly key: KeySpec }
  | { readonly do: 'unplug'; readonly id: number }
  | { readonly do: 'touch'; readonly id: number }
  | { readonly do: 'canceled'; readonly id: number }
  | { readonly do: 'root'; readonly name: RootName }
  | { readonly do: 'plug-reader'; readonly serial: string }
  | { readonly do: 'insert'; readonly id: number; readonly iccid: string }
  /** The key of this name, on a contactless reader. */
  | { readonly do: 'tap'; readonly id: number; readonly unit: string }
  | { readonly do: 'remove'; readonly id: number }
  | { readonly do: 'powered-at'; readonly id: number };

export interface BenchReply {
  /** Identifies the device in later commands. */
  readonly id: number;
  /** Milliseconds since 1970 at which the command was carried out. */
  readonly at: number;
  /** How many requests for a touch were canceled. */
  readonly canceled?: number;
  /** A certificate in base64. */
  readonly certificate?: string;
  readonly error?: string;
}

const plugged = new Map<number, Plugged>();
const readers = new Map<number, CcidReader>();
const authenticators = new Map<number, FidoKey>();
let lastId = 0;

function known<T>(devices: ReadonlyMap<number, T>, id: number): T {
  const found = devices.get(id);
  if (found === undefined) throw new Error(`device ${id} cannot do this`);
  return found;
}

async function plugKey(spec: KeySpec): Promise<BenchReply> {
  const { device, fido } = createKey(spec);
  const { at, unplug } = await plug(device);
  plugged.set(++lastId, { at, unplug });
  if (fido !== null) authenticators.set(lastId, fido);
  return { id: lastId, at };
}

async function plugReader(serial: string): Promise<BenchReply> {
  const created = ccidReader(serial);
  const device = await plug(created);
  plugged.set(++lastId, device);
  readers.set(lastId, created);
  return { id: lastId, at: device.at };
}

function unplug(id: number): BenchReply {
  const at = Date.now();
  plugged.get(id)?.unplug();
  plugged.delete(id);
  readers.delete(id);
  authenticators.delete(id);
  return { id, at };
}

async function carryOut(command: BenchCommand): Promise<BenchReply> {
  const reply = (id: number, more: Partial<BenchReply> = {}): BenchReply => ({ id, at: Date.now(), ...more });
  switch (command.do) {
    case 'plug':
      return plugKey(command.key);
    case 'plug-reader':
      return plugReader(command.serial);
    case 'unplug':
      return unplug(command.id);
    case 'touch': {
      const key = known(authenticators, command.id);
      await key.asksForTouch();
      key.touch();
      return reply(command.id);
    }
    case 'canceled':
      return reply(command.id, { canceled: known(authenticators, command.id).canceled });
    case 'root':
      return reply(0, { certificate: Buffer.from(rootCertificate(command.name)).toString('base64') });
    case 'insert':
      return reply(command.id, { at: known(readers, command.id).insert(uicc({ iccid: command.iccid, t0: false })) });
    case 'tap':
      return reply(command.id, {
        at: known(readers, command.id).insert(fidoCard({ authenticator: unit(command.unit), uid: '08AABBCC' })),
      });
    case 'remove':
      known(readers, command.id).remove();
      return reply(command.id);
    case 'powered-at':
      return reply(command.id, { at: known(readers, command.id).poweredAt });
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
const unlisted = takeUnlisted();
if (unlisted.length > 0) console.error('commands outside of the gate were received:', unlisted);
process.exit(unlisted.length === 0 ? 0 : 1);
