/**
 * A CTAPHID channel to a key: opened by INIT, then one command and one response at a time.
 * Source: FIDO CTAP 2.1, 11.2.
 */
import { randomBytes } from 'node:crypto';
import { pause } from '../deadline.ts';
import { HardwareError } from '../hardware-error.ts';
import type { CtapChannel, ReportConnection } from './connection.ts';
import { BROADCAST_CHANNEL, type CtaphidMessage, MessageAssembler, toPackets } from './ctaphid-packets.ts';
import { allowCtap, CTAPHID, type CtapGate } from './gate.ts';

/** Error codes in the response ERROR. */
const ERROR = { INVALID_COMMAND: 0x01, MESSAGE_TIMEOUT: 0x05, CHANNEL_BUSY: 0x06 } as const;

/** How often a busy key is asked again, and the pause before that in milliseconds. */
const BUSY_RETRIES = 4;
const BUSY_PAUSE = 200;
/** Milliseconds in which a key has to answer to CANCEL. */
const CANCEL_LIMIT = 500;
/** Reports read for one response before the key counts as one that never stops sending. */
const MAX_REPORTS = 1_000;

/** A version as INIT reports it. */
interface Version {
  readonly major: number;
  readonly minor: number;
  readonly build: number;
}

/** The response to INIT: nonce, channel (4), protocol, major, minor, build, capabilities. */
const INIT_RESPONSE_BYTES = 17;
const NONCE_BYTES = 8;
const MAJOR_AT = 13;

/** Parses the response to INIT; null if it answers the nonce of another program. Throws HardwareError `protocol`. */
export function parseInit(data: Uint8Array, nonce: Uint8Array): { channel: number; device: Version } | null {
  if (data.length < INIT_RESPONSE_BYTES) {
    throw new HardwareError(
      'protocol',
      `the response to CTAPHID INIT has ${data.length} bytes instead of ${INIT_RESPONSE_BYTES}`,
    );
  }
  if (nonce.some((byte, i) => data[i] !== byte)) return null;
  const channel = new DataView(data.buffer, data.byteOffset).getUint32(NONCE_BYTES);
  const [major, minor, build] = data.subarray(MAJOR_AT);
  return { channel, device: { major: major!, minor: minor!, build: build! } };
}

interface ChannelOptions {
  readonly nonce?: Uint8Array;
  readonly allow?: CtapGate;
}

/** An open channel. It needs no closing: the key forgets unused channels. */
export class CtapHidChannel implements CtapChannel {
  /** The version in the response to INIT: with some makers that of the firmware, with others without meaning. */
  readonly device: Version;
  readonly #connection: ReportConnection;
  readonly #channel: number;
  readonly #allow: CtapGate;

  private constructor(connection: ReportConnection, channel: number, device: Version, allow: CtapGate) {
    this.#allow = allow;
    this.#connection = connection;
    this.#channel = channel;
    this.device = device;
  }

  /** Opens a channel that sends what the gate allows. Fails with a HardwareError. */
  static async open(
    connection: ReportConnection,
    signal: AbortSignal,
    { nonce = randomBytes(NONCE_BYTES) as Uint8Array, allow = allowCtap }: ChannelOptions = {},
  ): Promise<CtapHidChannel> {
    await send(connection, BROADCAST_CHANNEL, CTAPHID.INIT, nonce, signal);
    for (let i = 0; i < MAX_REPORTS; i += 1) {
      const message = await receive(connection, BROADCAST_CHANNEL, signal);
      if (message.command !== CTAPHID.INIT) continue;
      const response = parseInit(message.data, nonce);
      if (response !== null) return new CtapHidChannel(connection, response.channel, response.device, allow);
    }
    throw new HardwareError('protocol', 'the key answers CTAPHID INIT only to other programs');
  }

  /** As in CtapChannel. If the signal is aborted, the key receives CANCEL. */
  async call(
    command: number,
    payload: Uint8Array,
    signal: AbortSignal,
    onKeepalive?: (status: number) => void,
  ): Promise<Uint8Array | null> {
    for (let retry = 0; ; retry += 1) {
      this.#allow(command, payload);
      await send(this.#connection, this.#channel, command, payload, signal);
      const response = await this.#response(command, signal, onKeepalive);
      if (response.command === command) return response.data;
      const error = errorCode(response, command);
      if (error === ERROR.INVALID_COMMAND) return null;
      if (error !== ERROR.CHANNEL_BUSY || retry === BUSY_RETRIES) throw ctapError(error, command);
      await pause(BUSY_PAUSE, signal);
    }
  }

  async #response(
    command: number,
    signal: AbortSignal,
    onKeepalive?: (status: number) => void,
  ): Promise<CtaphidMessage> {
    try {
      return await receive(this.#connection, this.#channel, signal, onKeepalive);
    } catch (error) {
      if (signal.aborted && command === CTAPHID.CBOR) await this.#cancel();
      throw error;
    }
  }

  /** Otherwise the key would wait for a touch, and answer other programs with "busy", until its own time is over. */
  async #cancel(): Promise<void> {
    const signal = AbortSignal.timeout(CANCEL_LIMIT);
    try {
      await send(this.#connection, this.#channel, CTAPHID.CANCEL, new Uint8Array(), signal);
      await receive(this.#connection, this.#channel, signal);
    } catch {
      // The key was unplugged or does not answer, so nothing needs to be cancelled.
    }
  }
}

const hex = (byte: number): string => byte.toString(16).padStart(2, '0');

function errorCode(response: CtaphidMessage, command: number): number {
  if (response.command === CTAPHID.ERROR) return response.data[0] ?? 0;
  throw new HardwareError('protocol', `the key answered command ${hex(command)} with command ${hex(response.command)}`);
}

function ctapError(code: number, command: number): HardwareError {
  if (code === ERROR.CHANNEL_BUSY) return new HardwareError('busy', 'the key is busy with another program');
  if (code === ERROR.MESSAGE_TIMEOUT) return new HardwareError('timeout', 'the key timed out waiting for the message');
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

/** The next message on the channel. Keepalives are not messages: their status goes to `onKeepalive`. */
async function receive(
  connection: ReportConnection,
  channel: number,
  signal: AbortSignal,
  onKeepalive?: (status: number) => void,
): Promise<CtaphidMessage> {
  const assembler = new MessageAssembler(channel);
  for (let i = 0; i < MAX_REPORTS; i += 1) {
    const message = assembler.add(await connection.read(signal));
    if (message === null) continue;
    if (message.command !== CTAPHID.KEEPALIVE) return message;
    onKeepalive?.(message.data[0] ?? 0);
  }
  throw new HardwareError('protocol', 'the key sends reports without end');
}
