/** A CTAPHID channel to a key: opened by INIT, then one command and its answer at a time. */
import { randomBytes } from 'node:crypto';
import { HardwareError } from '../driver.ts';
import {
  Assembler,
  BROADCAST_CHANNEL,
  CTAPHID_ERROR,
  CTAPHID_INIT,
  CTAPHID_KEEPALIVE,
  type Message,
  toPackets,
} from './ctaphid-packets.ts';
import { pause } from './deadline.ts';
import type { ReportConnection } from './ukey/connection.ts';

const INVALID_COMMAND = 0x01;
const MESSAGE_TIMEOUT = 0x05;
const CHANNEL_BUSY = 0x06;
const BUSY_RETRIES = 4;
const BUSY_PAUSE = 200;
/** Reports read for one answer before the key is taken for one that talks without end. */
const MOST_REPORTS = 1_000;

/** These make some keys restart into their update mode or change their settings: never to be sent. */
const FORBIDDEN: readonly number[] = [0x51, 0x53, 0x43];

export interface Version {
  readonly major: number;
  readonly minor: number;
  readonly build: number;
}

const INIT_REPLY_BYTES = 17;
const NONCE_BYTES = 8;

/** Reads the answer to INIT; null where it answers another program's nonce. Fails with HardwareError `protocol`. */
export function parseInit(data: Uint8Array, nonce: Uint8Array): { channel: number; device: Version } | null {
  if (data.length < INIT_REPLY_BYTES) {
    throw new HardwareError(
      'protocol',
      `CTAPHID INIT was answered with ${data.length} bytes, ${INIT_REPLY_BYTES} are due`,
    );
  }
  if (nonce.some((byte, i) => data[i] !== byte)) return null;
  const channel = new DataView(data.buffer, data.byteOffset).getUint32(NONCE_BYTES);
  return { channel, device: { major: data[13]!, minor: data[14]!, build: data[15]! } };
}

export class CtapHid {
  /** The version INIT told: of the firmware with some makers, of nothing in particular with others. */
  readonly device: Version;
  readonly #connection: ReportConnection;
  readonly #channel: number;

  private constructor(connection: ReportConnection, channel: number, device: Version) {
    this.#connection = connection;
    this.#channel = channel;
    this.device = device;
  }

  /** Opens a channel. Fails with a HardwareError; `signal` is the one limit over everything done with it. */
  static async open(connection: ReportConnection, signal: AbortSignal, nonce = randomBytes(8)): Promise<CtapHid> {
    await send(connection, BROADCAST_CHANNEL, CTAPHID_INIT, nonce, signal);
    for (let i = 0; i < MOST_REPORTS; i += 1) {
      const message = await receive(connection, BROADCAST_CHANNEL, signal);
      if (message.command !== CTAPHID_INIT) continue;
      const reply = parseInit(message.data, nonce);
      if (reply !== null) return new CtapHid(connection, reply.channel, reply.device);
    }
    throw new HardwareError('protocol', 'CTAPHID INIT is answered for others without end');
  }

  /** The answer to a command, or null where the key does not know it. Fails with a HardwareError. */
  async call(command: number, payload: Uint8Array, signal: AbortSignal): Promise<Uint8Array | null> {
    if (FORBIDDEN.includes(command)) throw new RangeError(`command ${command.toString(16)} is never sent`);
    for (let retry = 0; ; retry += 1) {
      await send(this.#connection, this.#channel, command, payload, signal);
      const answer = await receive(this.#connection, this.#channel, signal);
      if (answer.command === command) return answer.data;
      if (answer.command !== CTAPHID_ERROR) {
        throw new HardwareError('protocol', `command ${hex(command)} was answered with command ${hex(answer.command)}`);
      }
      const code = answer.data[0] ?? 0;
      if (code === INVALID_COMMAND) return null;
      if (code !== CHANNEL_BUSY || retry === BUSY_RETRIES) throw ctapError(code, command);
      await pause(BUSY_PAUSE, signal);
    }
  }
}

const hex = (byte: number): string => byte.toString(16).padStart(2, '0');

function ctapError(code: number, command: number): HardwareError {
  if (code === CHANNEL_BUSY) return new HardwareError('busy', 'the key is busy with another program');
  if (code === MESSAGE_TIMEOUT) return new HardwareError('timeout', 'the key gave up waiting for the message');
  return new HardwareError('protocol', `the key refused command ${hex(command)} with CTAPHID error ${hex(code)}`);
}

async function send(
  connection: ReportConnection,
  channel: number,
  command: number,
  payload: Uint8Array,
  signal: AbortSignal,
): Promise<void> {
  for (const packet of toPackets(channel, command, payload)) await connection.write(packet, signal);
}

/** The next message on the channel that is no keepalive. */
async function receive(connection: ReportConnection, channel: number, signal: AbortSignal): Promise<Message> {
  const assembler = new Assembler(channel);
  for (let i = 0; i < MOST_REPORTS; i += 1) {
    const message = assembler.add(await connection.read(signal));
    if (message !== null && message.command !== CTAPHID_KEEPALIVE) return message;
  }
  throw new HardwareError('protocol', 'the key sends reports without end');
}
