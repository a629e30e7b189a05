/** Clients that use the same few devices at once; each records what it did, what the responses were, and when. */
import fc from 'fast-check';
import { type DeviceStatus, deviceStatuses } from '../../src/contract/values.ts';
import { adminPassword, type TestDaemon } from './daemon.ts';
import * as model from './device-model.ts';
import type { Seen } from './linearize.ts';

export const DEVICES = 2;

/** The next step of a client; `device` is the place of a device among the few. */
export type Plan = { readonly device: number } & (
  | { readonly kind: 'register' | 'detail' | 'unlock' | 'malformed' }
  | { readonly kind: 'batch'; readonly others: readonly number[] }
  | { readonly kind: 'activate'; readonly code: 'known' | 'in small letters' | 'wrong'; readonly userId: string }
  | { readonly kind: 'lock'; readonly reason: string }
  | { readonly kind: 'deactivate'; readonly right: boolean }
  | { readonly kind: 'update'; readonly set: model.Edit }
  | { readonly kind: 'newCode'; readonly days: number }
  | { readonly kind: 'use'; readonly seconds: number }
  | { readonly kind: 'find'; readonly status?: DeviceStatus; readonly tag?: model.Tag }
);

const device = fc.nat(DEVICES - 1);
const word = fc.constantFrom('a', 'drawer 3', 'ü€🔑', 'x'.repeat(200));
const wordOrNull = fc.option(fc.constantFrom('1.0.3', '1.0.4'));
const range = (length: number) => Array.from({ length }, (_, i) => i);
const tagName = fc.constantFrom('lot', 'shelf', 'constructor');
/** Some changes give a device so many tags that the next one is refused. */
const tags = fc.oneof(
  { weight: 5, arbitrary: fc.dictionary(tagName, fc.option(fc.constantFrom('7', 'ü:🔑')), { maxKeys: 3 }) },
  { weight: 1, arbitrary: fc.nat(1).map(i => Object.fromEntries(range(15).map(n => [`t${i}-${n}`, 'x']))) },
  { weight: 1, arbitrary: fc.constant(Object.fromEntries(range(15).map(n => [`t0-${n}`, null]))) },
);
const of = <K extends string>(kind: K) => ({ kind: fc.constant(kind), device });

export const plans: fc.Arbitrary<Plan> = fc.oneof(
  { weight: 5, arbitrary: fc.record(of('register')) },
  { weight: 2, arbitrary: fc.record({ ...of('batch'), others: fc.array(device, { maxLength: 4 }) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      ...of('activate'),
      code: fc.constantFrom('known' as const, 'known' as const, 'in small letters' as const, 'wrong' as const),
      userId: fc.constantFrom('alice', 'bob'),
    }),
  },
  { weight: 4, arbitrary: fc.record({ ...of('lock'), reason: word }) },
  { weight: 4, arbitrary: fc.record(of('unlock')) },
  { weight: 1, arbitrary: fc.record({ ...of('deactivate'), right: fc.boolean() }) },
  {
    weight: 4,
    arbitrary: fc.record({
      ...of('update'),
      set: fc.oneof(
        fc.record({ note: wordOrNull }),
        fc.record({ firmwareVersion: wordOrNull }),
        fc.record({ note: wordOrNull, firmwareVersion: wordOrNull }),
        fc.record({ tags }),
        fc.record({ tags, note: wordOrNull }),
      ),
    }),
  },
  { weight: 4, arbitrary: fc.record({ ...of('newCode'), days: fc.constantFrom(1, 30, 3650) }) },
  { weight: 3, arbitrary: fc.record({ ...of('use'), seconds: fc.nat(1000) }) },
  { weight: 3, arbitrary: fc.record(of('detail')) },
  {
    weight: 3,
    arbitrary: fc.record(
      {
        ...of('find'),
        status: fc.constantFrom(...deviceStatuses),
        tag: fc.record({ name: tagName, value: fc.constantFrom('7', 'ü:🔑') }),
      },
      { requiredKeys: ['kind', 'device'] },
    ),
  },
  { weight: 1, arbitrary: fc.record(of('malformed')) },
);

export interface Client {
  readonly token: string;
  readonly isViewer: boolean;
}

type Request = readonly [method: string, path: string, body?: unknown];

/** The few devices, as the clients know them, and everything that was seen of each. */
export class Fleet {
  readonly #daemon: TestDaemon;
  readonly #serials: readonly string[];
  readonly #known = new Map<number, { deviceId: string; code: string }>();
  readonly #seen: readonly Seen<model.Modelled>[][] = Array.from({ length: DEVICES }, () => []);
  #clock = 0;
  readonly #created = new Map<number, string>();

  constructor(daemon: TestDaemon, name: string) {
    this.#daemon = daemon;
    // None is a part of another: a keyword finds one device alone.
    this.#serials = Array.from({ length: DEVICES }, (_, i) => `${name}-${'ABC'[i]}`);
  }

  seenOf(place: number): readonly Seen<model.Modelled>[] {
    return this.#seen[place]!;
  }

  async act(client: Client, plan: Plan): Promise<void> {
    if (plan.kind === 'batch') return this.#batch(client, [plan.device, ...plan.others]);
    const { deviceId, code } = this.#known.get(plan.device) ?? { deviceId: 'DEV-999999999', code: 'none' };
    const [request, step, isRead] = this.#operation(client, plan, deviceId, code);
    const reply = await this.#see(plan.device, client, request, this.#expected(client, plan, deviceId, step, isRead));
    this.#learn(plan.device, reply);
  }

  /** Looks at each device once more: what was seen must lead to this. */
  async look(client: Client): Promise<void> {
    for (const [place, { deviceId }] of this.#known) {
      const reply = await this.#see(place, client, ['GET', `/api/devices/${deviceId}`], model.detail(client.isViewer));
      this.#created.set(place, reply.data?.createdAt);
    }
    for (let place = 0; place < DEVICES; place++)
      await this.#see(place, client, this.#list(place), model.find(client.isViewer));
  }

  /** Role and form come before the device; a device that the client does not know of is not there. */
  #expected({ isViewer }: Client, plan: Plan, deviceId: string, step: model.Step, isRead: boolean): model.Step {
    if (isViewer && !isRead) return model.refuses(2007);
    if (plan.kind === 'malformed') return model.refuses(1001);
    const isNamed = plan.kind !== 'register' && plan.kind !== 'find';
    return isNamed && deviceId === 'DEV-999999999' ? model.refuses(2001) : step;
  }

  #operation(client: Client, plan: Plan, deviceId: string, code: string): [Request, model.Step, isRead: boolean] {
    const post = (operation: string, body: object): Request => ['POST', `/api/devices/${deviceId}/${operation}`, body];
    switch (plan.kind) {
      case 'register': {
        const body = this.#registration(plan.device);
        return [['POST', '/api/devices/register', body], model.register(body), false];
      }
      case 'activate': {
        const given = { known: code, 'in small letters': code.toLowerCase(), wrong: 'AAAA-BBBB-CCCC-DDDD' }[plan.code];
        const body = { deviceId, activationCode: given, userId: plan.userId };
        return [['POST', '/api/devices/activate', body], model.activate(given, plan.userId), false];
      }
      case 'lock':
        return [post('lock', { reason: plan.reason }), model.lock(plan.reason), false];
      case 'unlock':
        return [post('unlock', {}), model.unlock(), false];
      case 'deactivate': {
        const confirmPassword = plan.right ? adminPassword : 'not this one';
        return [post('deactivate', { reason: 'worn out', confirmPassword }), model.deactivate(plan.right), false];
      }
      case 'update':
        return [['PUT', `/api/devices/${deviceId}`, plan.set], model.update(plan.set), false];
      case 'newCode': {
        const body = { deviceId, validityDays: plan.days, reason: 'lost' };
        return [['POST', '/api/devices/generate-activation-code', body], model.newCode(plan.days), false];
      }
      case 'use':
        return [post('usage', { durationSeconds: plan.seconds }), model.use(plan.seconds), false];
      case 'detail':
        return [['GET', `/api/devices/${deviceId}`], model.detail(client.isViewer), true];
      case 'find': {
        const step = model.find(client.isViewer, plan.status, plan.tag);
        return [this.#list(plan.device, plan.status, plan.tag), step, true];
      }
      default:
        return [post('lock', { reason: 7 }), model.refuses(1001), false];
    }
  }

  #registration(place: number): model.Registering {
    const serialNumber = this.#serials[place]!;
    return {
      deviceType: place ? 'UKEY' : 'SIMKEY',
      serialNumber,
      manufacturer: 'Model',
      model: 'K9',
      tags: { lot: '7' },
    };
  }

  #list(place: number, status?: DeviceStatus, tag?: model.Tag): Request {
    const query = new URLSearchParams({ keyword: this.#serials[place]!, ...(status ? { status } : {}) });
    if (tag) query.set('tag', `${tag.name}:${tag.value}`);
    return ['GET', `/api/devices/list?${query}`];
  }

  async #see(place: number, client: Client, request: Request, step: model.Step): Promise<model.Reply> {
    const from = this.#clock++;
    const reply = await this.#send(client, request);
    this.#note(place, from, this.#clock++, request, reply, step);
    return reply;
  }

  #send({ token }: Client, [method, path, body]: Request): Promise<model.Reply> {
    return this.#daemon.call(method, path, body, { token });
  }

  #note(place: number, from: number, to: number, request: Request, reply: model.Reply, step: model.Step): void {
    const words = `${from}–${to} ${JSON.stringify(request)} → ${reply.code} ${JSON.stringify(reply.data ?? reply.message)}`;
    (this.#seen[place] as Seen<model.Modelled>[]).push({ from, to, words, step: state => step(state, reply) });
  }

  /** Every item is an operation on its device; the second of two equal ones comes after the first. */
  async #batch(client: Client, places: readonly number[]): Promise<void> {
    const devices = places.map(place => this.#registration(place));
    const request: Request = ['POST', '/api/devices/batch-register', { devices }];
    const from = this.#clock++;
    const reply = await this.#send(client, request);
    const to = this.#clock++;
    for (const [i, place] of places.entries()) {
      const item = reply.data?.results[i];
      const step = model.registerInBatch(devices[i]!, () => this.#created.get(place)!);
      this.#note(
        place,
        from,
        to,
        request,
        client.isViewer ? reply : { ...reply, data: item },
        client.isViewer ? model.refuses(2007) : step,
      );
      this.#learn(place, { ...reply, data: item ?? null });
    }
  }

  /** Clients share what their responses said, as if they had read the devices. */
  #learn(place: number, { data }: model.Reply): void {
    if (data?.deviceId && data.activationCode)
      this.#known.set(place, { deviceId: data.deviceId, code: data.activationCode });
  }
}
