/**
 * Clients that do a bit of everything to a daemon that will be killed, and know afterwards what must be there. Each device has
 * one client: what was acknowledged is certain, and of the one request under way either all is there or nothing.
 */
import type { DaemonProcess } from './daemon-process.ts';
import { beginUpload, block } from './sending.ts';
import { openStream } from './stream-client.ts';

interface State {
  readonly status: string;
  readonly note: string | null;
  readonly uses: number;
  readonly backups: number;
}

/** A device and its one client's knowledge of it. */
interface Known {
  readonly serial: string;
  /** Null if it is not certain that it is registered. */
  deviceId: string | null;
  code: string;
  certain: State | null;
  /** Its state once the request in progress is done; undefined without one. */
  underWay: State | undefined;
}

interface Batch {
  readonly prefix: string;
  readonly size: number;
  /** Undefined where no answer came. */
  acknowledged: boolean | undefined;
}

type Body = Readonly<Record<string, unknown>>;
interface Envelope {
  readonly code: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  readonly data: any;
}

const BATCH = 60;
const registration = (serialNumber: string) => ({
  deviceType: 'UKEY',
  serialNumber,
  manufacturer: 'Feitian',
  model: 'K9',
});

/** The daemon is gone: expected. Anything else is a fault. */
class Gone extends Error {}

export interface Watcher {
  /** Ids in the order in which they came, over all connections. */
  readonly ids: number[];
}

export class MixedLoad {
  readonly #devices: Known[] = [];
  readonly #batches: Batch[] = [];
  /** Versions uploaded, with the digest answered; null where no answer came. */
  readonly #versions = new Map<string, string | null>();
  readonly #watchers: readonly Watcher[] = [{ ids: [] }, { ids: [] }];
  readonly #random: () => number;
  #run = 0;
  acknowledged = 0;
  readonly faults: string[] = [];

  constructor(random: () => number) {
    this.#random = random;
  }

  get watchers(): readonly Watcher[] {
    return this.#watchers;
  }

  /** Works until the daemon is gone. Calls `onAcknowledged` after each acknowledged change. */
  async work(daemon: DaemonProcess, onAcknowledged: () => void): Promise<void> {
    const run = ++this.#run;
    const client = (name: string, act: (call: Call, i: number) => Promise<void>) =>
      this.#until(async i => {
        await act(new Call(daemon, () => this.#count(onAcknowledged)), i);
      }, name);
    await Promise.all([
      ...Array.from({ length: 6 }, (_, n) =>
        client('registers', async (call, i) => void (await this.#register(call, `r${run}-${n}-${i}`))),
      ),
      ...Array.from({ length: 6 }, (_, n) => client('changes', call => this.#change(call, `c${n}-${run}`))),
      client('batches', (call, i) => this.#batch(call, `b${run}-${i}-`)),
      client('uploads', (call, i) => this.#upload(call, `${run}.${i}`)),
      ...this.#watchers.map(watcher => this.#watch(daemon, watcher)),
    ]);
  }

  /** Holds a daemon that has been started again against what is known; what is found becomes certain. */
  async verify(daemon: DaemonProcess): Promise<void> {
    const call = new Call(daemon, () => {});
    for (const device of this.#devices)
      if (device.underWay !== undefined || this.#random() < 0.05) await this.#verifyDevice(call, device);
    const registered = this.#devices.filter(({ certain }) => certain).length;
    let inBatches = 0;
    for (const batch of this.#batches) inBatches += await this.#verifyBatch(call, batch);
    const { pagination } = await call.data('GET', '/api/devices/list?size=1');
    this.#expect(
      pagination.total === registered + inBatches,
      `${pagination.total} devices, not ${registered} + ${inBatches}`,
    );
    await this.#verifyVersions(call, daemon);
  }

  /** Files that records refer to. */
  get files(): number {
    return this.#versions.size + this.#devices.reduce((sum, { certain }) => sum + (certain?.backups ?? 0), 0);
  }

  #count(onAcknowledged: () => void): void {
    this.acknowledged++;
    onAcknowledged();
  }

  #expect(holds: boolean, words: string): void {
    if (!holds) this.faults.push(words);
  }

  async #until(act: (i: number) => Promise<void>, name: string): Promise<void> {
    try {
      for (let i = 0; ; i++) await act(i);
    } catch (error) {
      if (!(error instanceof Gone)) this.faults.push(`${name}: ${(error as Error).message}`);
    }
  }

  async #register(call: Call, serial: string): Promise<Known> {
    const device: Known = { serial, deviceId: null, code: '', certain: null, underWay: fresh };
    this.#devices.push(device);
    const { deviceId, activationCode } = await call.data('POST', '/api/devices/register', registration(serial));
    Object.assign(device, { deviceId, code: activationCode, certain: fresh, underWay: undefined });
    return device;
  }

  /** The life of one device, one change after the other. */
  async #change(call: Call, client: string): Promise<void> {
    const device = await this.#register(call, `${client}-${this.#devices.length}`);
    const path = `/api/devices/${device.deviceId}`;
    const step = async (after: Partial<State>, method: string, path: string, body: Body) => {
      device.underWay = { ...device.certain!, ...after };
      await call.data(method, path, body);
      Object.assign(device, { certain: device.underWay, underWay: undefined });
    };
    const { deviceId, code: activationCode } = device;
    await step({ status: 'ACTIVE' }, 'POST', '/api/devices/activate', { deviceId, activationCode, userId: 'alice' });
    await step({ uses: 1 }, 'POST', `${path}/usage`, { durationSeconds: 7 });
    await step({ note: 'n' }, 'PUT', path, { note: 'n' });
    device.underWay = { ...device.certain!, backups: 1 };
    await call.upload(`${path}/backups`, '1.0.0');
    Object.assign(device, { certain: device.underWay, underWay: undefined });
    await step({ status: 'LOCKED' }, 'POST', `${path}/lock`, { reason: 'lost' });
    await step({ status: 'ACTIVE' }, 'POST', `${path}/unlock`, {});
  }

  async #batch(call: Call, prefix: string): Promise<void> {
    const batch: Batch = { prefix, size: BATCH, acknowledged: undefined };
    this.#batches.push(batch);
    const devices = Array.from({ length: BATCH }, (_, i) => registration(`${prefix}${i}`));
    await call.data('POST', '/api/devices/batch-register', { devices });
    batch.acknowledged = true;
  }

  async #upload(call: Call, version: string): Promise<void> {
    this.#versions.set(version, null);
    const { sha256 } = await call.upload('/api/app-versions/upload', version);
    this.#versions.set(version, sha256);
  }

  /** Continues after the last event that it processed; what is sent after the kill is lost on the way, and is sent again. */
  async #watch(daemon: DaemonProcess, watcher: Watcher): Promise<void> {
    const stream = await openStream(daemon.url, { token: daemon.token, since: watcher.ids.at(-1) ?? 0 }).catch(
      () => null,
    );
    if (!stream) return;
    const take = ({ id }: { readonly id?: number }) => id !== undefined && watcher.ids.push(id);
    for (const frame of stream.frames) take(frame);
    stream.ws.on('message', data => take(JSON.parse(String(data))));
    await stream.closed;
  }

  async #verifyDevice(call: Call, device: Known): Promise<void> {
    const { list } = await call.data('GET', `/api/devices/list?size=100&keyword=${device.serial}`);
    const found = list.find(({ serialNumber }: { serialNumber: string }) => serialNumber === device.serial);
    const detail = found ? await call.data('GET', `/api/devices/${found.deviceId}`) : null;
    const now: State | null = detail && {
      status: detail.status,
      note: detail.note,
      uses: detail.statistics.totalUsageCount,
      backups: detail.statistics.backupCount,
    };
    const good = [device.certain, ...(device.underWay ? [device.underWay] : [])].map(state => JSON.stringify(state));
    this.#expect(
      good.includes(JSON.stringify(now)),
      `${device.serial} is ${JSON.stringify(now)}, not ${good.join(' or ')}`,
    );
    Object.assign(device, { certain: now, underWay: undefined, deviceId: found?.deviceId ?? null });
  }

  /** How many of its devices there are. */
  async #verifyBatch(call: Call, batch: Batch): Promise<number> {
    if (batch.acknowledged === undefined) {
      const { pagination } = await call.data('GET', `/api/devices/list?size=1&keyword=${batch.prefix}`);
      this.#expect([0, batch.size].includes(pagination.total), `${pagination.total} of the ${batch.size} of a batch`);
      batch.acknowledged = pagination.total > 0;
    }
    return batch.acknowledged ? batch.size : 0;
  }

  async #verifyVersions(call: Call, daemon: DaemonProcess): Promise<void> {
    const { list, pagination } = await call.data('GET', '/api/app-versions/list?size=100');
    const found = new Map<string, { sha256: string; versionId: string }>(
      list.map((app: { version: string }) => [app.version, app]),
    );
    for (const [version, sha256] of this.#versions) {
      const app = found.get(version);
      if (sha256 === null && !app) this.#versions.delete(version);
      if (sha256 === null && app) {
        await call.download(daemon, app);
        this.#versions.set(version, app.sha256);
      }
      if (pagination.total <= 100) this.#expect(sha256 === null || app?.sha256 === sha256, `upload ${version} is gone`);
    }
    this.#expect(pagination.total === this.#versions.size, `${pagination.total} versions, not ${this.#versions.size}`);
  }
}

const fresh: State = { status: 'INACTIVE', note: null, uses: 0, backups: 0 };
const fileSize = 3 * block.length;

/** Requests of one client. Rejects with `Gone` where the daemon is, with words where it refuses. */
class Call {
  readonly #daemon: DaemonProcess;
  readonly #acknowledged: () => void;

  constructor(daemon: DaemonProcess, acknowledged: () => void) {
    this.#daemon = daemon;
    this.#acknowledged = acknowledged;
  }

  async data(method: string, path: string, body?: Body): Promise<Envelope['data']> {
    return this.#good(await this.#daemon.call(method, path, body).catch(gone), `${method} ${path}`);
  }

  async upload(path: string, version: string): Promise<Envelope['data']> {
    const sending = beginUpload(this.#daemon, version, { path, size: fileSize });
    await sending.file(fileSize);
    sending.end();
    return this.#good(await sending.answered.catch(gone), path);
  }

  async download(daemon: DaemonProcess, { versionId, sha256 }: { versionId: string; sha256: string }): Promise<void> {
    const headers = { authorization: `Bearer ${daemon.token}` };
    const response = await fetch(`${daemon.url}/api/app-versions/${versionId}/download`, { headers });
    const digest = await crypto.subtle.digest('SHA-256', await response.arrayBuffer());
    if (Buffer.from(digest).toString('hex') !== sha256) throw new Error(`the file of ${versionId} is damaged`);
  }

  #good(answer: Envelope, words: string): Envelope['data'] {
    if (answer.code !== 200) throw new Error(`${words}: ${JSON.stringify(answer)}`);
    this.#acknowledged();
    return answer.data;
  }
}

const gone = () => {
  throw new Gone();
};
