/** A hardware service over HTTP whose only key answers challenges of SCP11b as a card does. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Proof } from '../../src/contract/proof.ts';
import { answering, json, success } from './http-servers.ts';
import type { TestScp11bCard } from './test-scp11b-card.ts';

export interface FakeHardwareOptions {
  readonly serialNumber: string;
  readonly card: TestScp11bCard;
  /** Why the key gives no evidence; absent if it does. */
  readonly problem?: string;
  /** Waits for a touch that never comes. */
  readonly untouched?: true;
  /** Answers with the evidence that it has given first. */
  readonly replays?: true;
  /** The proof of the key in the list; null if absent. */
  readonly proof?: Proof;
}

export interface FakeHardware {
  readonly url: string;
  readonly keyId: string;
  /** Bodies of the requests for a proof. */
  readonly asked: Record<string, unknown>[];
  /** Requests for a proof that were closed before their answer. */
  readonly cancelled: () => number;
}

/** Listens until the test ends. */
export async function fakeHardware(options: FakeHardwareOptions): Promise<FakeHardware> {
  const fake = new FakeService(options);
  const { url } = await answering((request, response) => void fake.answer(request, response));
  return { url, keyId: fake.keyId, asked: fake.asked, cancelled: () => fake.cancelled };
}

class FakeService {
  readonly keyId = 'fake-1';
  readonly asked: Record<string, unknown>[] = [];
  cancelled = 0;
  #proving: 'touch' | null = null;
  #first: object | null = null;
  readonly #options: FakeHardwareOptions;

  constructor(options: FakeHardwareOptions) {
    this.#options = options;
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const send = (data: unknown) => response.writeHead(200, json).end(success(data));
    if (request.url === '/api/hardware/keys') return void send({ list: [this.#key()], drivers: [driver] });
    if (request.url !== `/api/hardware/keys/${this.keyId}/prove`)
      return void response.writeHead(404, json).end('{"code":404,"message":"not found","data":null}');
    const body = JSON.parse(Buffer.concat(parts).toString());
    this.asked.push(body);
    if (this.#options.untouched) return this.#waitForTouch(response);
    send(this.#answer(body));
  }

  #waitForTouch(response: ServerResponse): void {
    this.#proving = 'touch';
    response.on('close', () => {
      this.cancelled++;
    });
  }

  #answer({ ephemeralPublicKey }: { ephemeralPublicKey: string }): object {
    const { problem, replays } = this.#options;
    if (problem !== undefined) return { claims, problem, failure: 'timeout' };
    const fresh = { claims, evidence: this.#options.card.evidence(ephemeralPublicKey), problem: null, failure: null };
    this.#first ??= fresh;
    return replays ? this.#first : fresh;
  }

  #key(): object {
    return {
      keyId: this.keyId,
      deviceType: 'UKEY',
      serialNumber: this.#options.serialNumber,
      serialSource: 'yubikey-ccid',
      manufacturer: 'Yubico',
      model: 'YubiKey 5',
      hardwareVersion: null,
      firmwareVersion: '5.7.4',
      transport: 'PCSC',
      reader: null,
      vendorId: '1050',
      productId: '0407',
      attachedAt: '2026-11-22T05:00:00.000Z',
      simulated: false,
      problem: null,
      claims,
      proof: this.#options.proof ?? null,
      proving: this.#proving,
      device: null,
    };
  }
}

const claims = { firmware: '5.7.4', formFactor: 'usb-a-keychain' };
const driver = { name: 'fake', state: 'ready', detail: 'one key' };
