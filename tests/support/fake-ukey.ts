/**
 * The key's end of the key protocols, on bytes, written from the protocols and not from the code under test. It is not a
 * complete key: it answers the commands it is constructed with, and records what it received.
 */
import { HardwareError } from '../../drivers/hardware-error.ts';
import type { CardConnection, FeatureConnection, ReportConnection } from '../../drivers/protocols/connection.ts';
import { received } from './received-commands.ts';

export const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.replaceAll(' ', ''), 'hex'));
export const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** Fails as a real transport does if the key does not answer and the signal is aborted. */
function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const give = () =>
      reject(new HardwareError(signal.reason?.name === 'TimeoutError' ? 'timeout' : 'aborted', 'no answer'));
    if (signal.aborted) give();
    else signal.addEventListener('abort', give, { once: true });
  });
}

/** A response to a CTAPHID command: its payload in hex, an error code, or raw reports in hex. */
export type CtapReply = string | { readonly error: number } | { readonly reports: readonly string[] };

export class FakeCtapKey implements ReportConnection {
  /** Commands received on the channel, with their payload in hex. */
  readonly received: { command: number; payload: string }[] = [];
  readonly #replies: Map<number, CtapReply[]>;
  readonly #version: readonly [number, number, number];
  readonly #out: Uint8Array[] = [];
  #incoming: { command: number; length: number; bytes: number[] } | null = null;
  static readonly CHANNEL = '0a0b0c0d';

  /** `replies`: the responses to each command in turn; the last one repeats. Other commands are not supported. */
  constructor(version: readonly [number, number, number], replies: Readonly<Record<number, CtapReply | CtapReply[]>>) {
    this.#version = version;
    this.#replies = new Map(Object.entries(replies).map(([command, reply]) => [Number(command), [reply].flat()]));
  }

  /** Sends reports without a command. */
  push(...reports: string[]): void {
    this.#out.push(...reports.map(report => Uint8Array.from({ ...hex(report), length: 64 })));
  }

  /** Takes every unread report. */
  takeAll(): Uint8Array[] {
    return this.#out.splice(0);
  }

  async write(report: Uint8Array): Promise<void> {
    if (report.length !== 64) throw new Error(`a report of ${report.length} bytes was written`);
    const channel = toHex(report.subarray(0, 4));
    if (report[4]! & 0x80) {
      const length = (report[5]! << 8) | report[6]!;
      this.#incoming = { command: report[4]! & 0x7f, length, bytes: [...report.subarray(7)] };
    } else {
      this.#incoming!.bytes.push(...report.subarray(5));
    }
    if (this.#incoming!.bytes.length < this.#incoming!.length) return;
    const { command, length, bytes } = this.#incoming!;
    this.#answer(channel, command, Uint8Array.from(bytes.slice(0, length)));
  }

  read(signal: AbortSignal): Promise<Uint8Array> {
    const report = this.#out.shift();
    return report === undefined ? untilAborted(signal) : Promise.resolve(report);
  }

  #answer(channel: string, command: number, payload: Uint8Array): void {
    received.ctap(command, payload);
    if (command === 0x06) {
      const version = Buffer.from(this.#version).toString('hex');
      this.#send(channel, 0x06, `${toHex(payload)}${FakeCtapKey.CHANNEL}02${version}05`);
      return;
    }
    this.received.push({ command, payload: toHex(payload) });
    const queue = this.#replies.get(command);
    const reply = queue === undefined ? { error: 0x01 } : queue.length > 1 ? queue.shift()! : queue[0]!;
    if (typeof reply === 'string') this.#send(channel, command, reply);
    else if ('error' in reply) this.#send(channel, 0x3f, reply.error.toString(16).padStart(2, '0'));
    else this.push(...reply.reports);
  }

  #send(channel: string, command: number, data: string): void {
    const length = data.length / 2;
    const head = `${channel}${(command | 0x80).toString(16)}${length.toString(16).padStart(4, '0')}`;
    this.push(head + data.slice(0, 114));
    for (let at = 114, sequence = 0; at < data.length; at += 118, sequence += 1) {
      this.push(channel + sequence.toString(16).padStart(2, '0') + data.slice(at, at + 118));
    }
  }
}

/** The OTP interface of a YubiKey: assembles a frame and answers piece by piece. */
export class FakeOtpKey implements FeatureConnection {
  /** The slot numbers of the complete frames. */
  readonly slots: number[] = [];
  resets = 0;
  readonly #status: string;
  readonly #answer: string | null;
  readonly #frame = new Uint8Array(70);
  #busy = 0;
  #pieces: string[] = [];

  /** `answer` is data and checksum in hex, null if the key has none. */
  constructor(version: string, answer: string | null) {
    this.#status = `00${version}010000`;
    this.#answer = answer;
  }

  async sendFeature(report: Uint8Array): Promise<void> {
    if (report.length !== 8) throw new Error(`a feature report of ${report.length} bytes was sent`);
    const flags = report[7]!;
    if (flags === 0xff) {
      this.resets += 1;
      this.#pieces = [];
      return;
    }
    const sequence = flags & 0x1f;
    this.#frame.set(report.subarray(0, 7), sequence * 7);
    this.#busy = 1;
    if (sequence === 9) this.#execute();
  }

  async getFeature(): Promise<Uint8Array> {
    if (this.#busy > 0) {
      this.#busy -= 1;
      return hex(`${this.#status}80`);
    }
    return hex(this.#pieces.shift() ?? `${this.#status}00`);
  }

  #execute(): void {
    received.slot(this.#frame[64]!);
    this.slots.push(this.#frame[64]!);
    if (this.#answer === null) return;
    const padded = this.#answer.padEnd(Math.ceil(this.#answer.length / 14) * 14, '0');
    const pieces = padded.match(/.{14}/g) ?? [];
    this.#pieces = [...pieces.map((piece, i) => piece + (0x40 | i).toString(16)), `${'00'.repeat(7)}40`];
  }
}

/** A smart card that answers each command, in hex, from a table; `6d00` to all others. */
export function fakeCard(answers: Readonly<Record<string, string>>): CardConnection & { readonly sent: string[] } {
  const sent: string[] = [];
  return {
    sent,
    async transmit(apdu) {
      received.apdu(apdu);
      sent.push(toHex(apdu));
      return hex(answers[toHex(apdu)] ?? '6d00');
    },
  };
}
