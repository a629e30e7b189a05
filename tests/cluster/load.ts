/**
 * Clients with mixed load. Each device belongs to one client, which sends one request after the other and repeats each until it knows
 * its result. So the registry must be exactly as the clients remember it, and the journal must have each change once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { DeviceDetail } from '../../src/contract/device-shapes.ts';
import type { Requests } from './requests.ts';
import type { Chance } from './waiting.ts';

/** A device as its client remembers it. */
export interface Known {
  readonly number: number;
  readonly serial: string;
  readonly code: string;
  status: 'INACTIVE' | 'ACTIVE' | 'LOCKED';
  note: string | null;
  uses: number;
  /** Types of the journal entries since the last check. */
  expected: string[];
}

/** A registered device in a response. */
interface Registered {
  readonly deviceId: string;
  readonly activationCode: string;
}

/** The fields of a list that are compared. */
export interface DeviceList {
  readonly list: readonly unknown[];
  readonly pagination: { readonly total: number };
}

/** Devices of a client that still change; older ones stay as they are. */
const LIVE = 12;
const BATCH = 15;
/**
 * Milliseconds between two requests of a client, at most: with fewer, 64 clients would leave a machine of two processors no room
 * for faults.
 */
const THINK_MS = 500;

const registration = (serialNumber: string) => ({
  deviceType: 'UKEY',
  serialNumber,
  manufacturer: 'Feitian',
  model: 'K9',
});

export class Load {
  readonly #requests: Requests;
  readonly #chance: Chance;
  readonly #size: number;
  readonly #devices: Known[] = [];
  /** Devices that changed since the last check, by number. */
  readonly #changed = new Map<number, Known>();
  #running: Promise<unknown> = Promise.resolve();
  #stopping = false;
  #names = 0;
  readonly faults: string[] = [];

  constructor(requests: Requests, chance: Chance, size: number) {
    this.#requests = requests;
    this.#chance = chance;
    this.#size = size;
  }

  get devices(): number {
    return this.#devices.length;
  }

  start(): void {
    this.#stopping = false;
    this.#running = Promise.all(Array.from({ length: this.#size }, () => this.#client()));
  }

  /** Resolves when each client has the answer to its last request. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#running;
  }

  /** Registers a device while the clients pause. A stream that has shown it has also shown what it wrongly repeats of earlier entries. */
  registerLast(): Promise<void> {
    return this.#register([]);
  }

  /** The devices that changed since the last call, by number. */
  takeChanged(): ReadonlyMap<number, Known> {
    const taken = new Map([...this.#changed].map(([number, known]) => [number, { ...known }]));
    for (const known of this.#changed.values()) known.expected = [];
    this.#changed.clear();
    return taken;
  }

  async #client(): Promise<void> {
    const own: Known[] = [];
    while (!this.#stopping) {
      await this.#act(own).catch(error => this.faults.push((error as Error).message));
      await sleep(this.#chance.between(0, THINK_MS));
    }
  }

  async #act(own: Known[]): Promise<void> {
    if (own.length === 0) return this.#register(own);
    const device = this.#chance.of(own);
    const action = this.#chance.between(0, 100);
    if (action < 15) return this.#register(own);
    if (action < 18) return this.#batch();
    if (action < 28) return this.#list();
    if (action < 48) return this.#detail(device);
    if (action < 60) return this.#note(device);
    return this.#change(device);
  }

  async #register(own: Known[]): Promise<void> {
    const serial = this.#serial();
    const data = await this.#requests.write<Registered>('POST', '/api/devices/register', registration(serial));
    own.push(this.#remember(serial, data));
    if (own.length > LIVE) own.shift();
  }

  async #batch(): Promise<void> {
    const serials = Array.from({ length: BATCH }, () => this.#serial());
    const devices = serials.map(registration);
    const path = '/api/devices/batch-register';
    const { results } = await this.#requests.write<{ results: readonly Registered[] }>('POST', path, { devices });
    for (const [i, serial] of serials.entries()) this.#remember(serial, results[i]!);
  }

  async #list(): Promise<void> {
    const least = this.#devices.length;
    const { list, pagination } = await this.#requests.read<DeviceList>('/api/devices/list?size=20');
    if (pagination.total < least || list.length !== Math.min(20, pagination.total))
      this.faults.push(`a list shows ${list.length} of ${pagination.total} devices; ${least} were registered before`);
  }

  /** Any node must show what another one has acknowledged. */
  async #detail(device: Known): Promise<void> {
    const data = await this.#requests.read<DeviceDetail>(`/api/devices/DEV-${device.number}`);
    const shown = `${data.status} ${data.note} ${data.statistics.totalUsageCount}`;
    const known = `${device.status} ${device.note} ${device.uses}`;
    if (shown !== known) this.faults.push(`DEV-${device.number} is shown as ${shown}, and is ${known}`);
  }

  async #note(device: Known): Promise<void> {
    if (device.status === 'LOCKED') return this.#change(device);
    const note = `note ${++this.#names}`;
    await this.#requests.write('PUT', `/api/devices/DEV-${device.number}`, { note });
    device.note = note;
    this.#expect(device, 'DEVICE_UPDATED');
  }

  /** The operations that the state allows: activation, then uses, locks and unlocks. */
  async #change(device: Known): Promise<void> {
    const path = `/api/devices/DEV-${device.number}`;
    if (device.status === 'INACTIVE') {
      const body = { deviceId: `DEV-${device.number}`, activationCode: device.code, userId: 'alice' };
      await this.#requests.write('POST', '/api/devices/activate', body);
      device.status = 'ACTIVE';
      this.#expect(device, 'DEVICE_ACTIVATED');
    } else if (device.status === 'LOCKED') {
      await this.#requests.write('POST', `${path}/unlock`, {});
      device.status = 'ACTIVE';
      this.#expect(device, 'DEVICE_UNLOCKED');
    } else if (this.#chance.between(0, 1) < 0.5) {
      await this.#requests.write('POST', `${path}/usage`, { durationSeconds: 1 });
      device.uses++;
      this.#expect(device, 'DEVICE_USED');
    } else {
      await this.#requests.write('POST', `${path}/lock`, { reason: 'lost' });
      device.status = 'LOCKED';
      this.#expect(device, 'DEVICE_LOCKED');
    }
  }

  #serial(): string {
    return `C-${++this.#names}`;
  }

  #remember(serial: string, data: Registered): Known {
    const number = Number(/^DEV-(\d+)$/.exec(data.deviceId)?.[1]);
    const empty = { status: 'INACTIVE', note: null, uses: 0, expected: [] as string[] } as const;
    const known: Known = { ...empty, number, serial, code: data.activationCode };
    this.#devices.push(known);
    this.#expect(known, 'DEVICE_REGISTERED');
    return known;
  }

  #expect(device: Known, type: string): void {
    device.expected.push(type);
    this.#changed.set(device.number, device);
  }
}
