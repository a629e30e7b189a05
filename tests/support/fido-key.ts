/** The test authenticator behind CTAPHID: waits for a touch with keepalives, and can be canceled. */
import { HardwareError } from '../../drivers/hardware-error.ts';
import { expectMap, readCbor } from '../../drivers/protocols/cbor.ts';
import { MessageAssembler, toPackets } from '../../drivers/protocols/ctaphid-packets.ts';
import { allowCtap, allowReset } from '../../drivers/protocols/gate.ts';
import { received } from './received-commands.ts';
import { asksForTouch, type TestAuthenticator } from './test-authenticator.ts';

const COMMAND = { msg: 0x03, init: 0x06, cbor: 0x10, cancel: 0x11, keepalive: 0x3b, error: 0x3f } as const;
/** Capability flag of INIT. */
const SUPPORTS_CBOR = 0x04;
const BROADCAST = 0xffffffff;
/** Commands that need a touch: makeCredential, getAssertion and reset. */
const TOUCHED: readonly number[] = [0x01, 0x02, 0x07];
const WAITS_FOR_TOUCH = Uint8Array.of(2);
const CANCELED = Uint8Array.of(0x2d);
const INVALID_COMMAND = Uint8Array.of(0x01);
const NOT_TOUCHED = Uint8Array.of(0x69, 0x85);
const DONE = Uint8Array.of(0x90, 0x00);
const WRONG_DATA = Uint8Array.of(0x6a, 0x80);
const U2F_REGISTER = 0x01;
const CHECK_ONLY = 0x07;

export interface FidoKeyOptions {
  readonly authenticator: TestAuthenticator;
  readonly version?: readonly [number, number, number];
  /** Answers to other CTAPHID commands, by command. */
  readonly vendor?: Readonly<Record<number, (payload: Uint8Array) => Uint8Array | null>>;
  /** False: it supports U2F only. */
  readonly ctap2?: boolean;
  /** Replaces the response to a CBOR command. */
  readonly answer?: (request: Uint8Array) => Uint8Array | null;
  /** Whether someone keeps a finger on it. */
  readonly touched?: boolean;
  /** Programs other than devmgr use it, which also send commands that the gate does not list. */
  readonly forOthers?: boolean;
  /** It asks for a touch where it must not. */
  readonly asksAlways?: boolean;
  /** It is issued: PINs, stored credentials and a reset may be sent to it. */
  readonly issued?: boolean;
}

/** One FIDO interface. Reports are 64 bytes in both directions. */
export class FidoKey {
  /** Every message that it received, command and payload in hex: tests assert what was never sent. */
  readonly received: string[] = [];
  canceled = 0;
  readonly #options: FidoKeyOptions;
  readonly #assemblers = new Map<number, MessageAssembler>();
  readonly #out: Uint8Array[] = [];
  readonly #waiting = new Set<PromiseWithResolvers<void>>();
  #onReports: () => void = () => undefined;
  #asksForTouch = Promise.withResolvers<void>();
  #channels = 0;
  /** The effect of a touch. */
  #pending: (() => void) | null = null;
  #pendingChannel = 0;
  /** A touch that no request has used. */
  #touched = false;

  constructor(options: FidoKeyOptions) {
    this.#options = options;
  }

  /** Touches the key for one request: the one that waits for it, or the next one. */
  touch(): void {
    this.#touched = true;
    this.#pending?.();
    this.#pending = null;
    this.#wake();
  }

  /** Resolves when a request waits for a touch. */
  async asksForTouch(): Promise<void> {
    await this.#asksForTouch.promise;
  }

  /** `listener` is called when there are unread reports. */
  onReports(listener: () => void): void {
    this.#onReports = listener;
  }

  async write(report: Uint8Array): Promise<void> {
    const channel = new DataView(report.buffer, report.byteOffset).getUint32(0);
    const assembler = this.#assemblers.get(channel) ?? new MessageAssembler(channel);
    this.#assemblers.set(channel, assembler);
    const message = assembler.add(report);
    if (message !== null) this.#handle(channel, message.command, message.data);
    this.#wake();
  }

  async read(signal: AbortSignal): Promise<Uint8Array> {
    for (;;) {
      const report = this.#out.shift();
      if (report !== undefined) return report;
      const more = Promise.withResolvers<void>();
      this.#waiting.add(more);
      const abort = (): void => more.reject(abortedBy(signal));
      if (signal.aborted) abort();
      signal.addEventListener('abort', abort, { once: true });
      await more.promise.finally(() => signal.removeEventListener('abort', abort));
    }
  }

  /** Takes every unread report. */
  takeAll(): Uint8Array[] {
    return this.#out.splice(0);
  }

  #wake(): void {
    for (const one of this.#waiting) one.resolve();
    this.#waiting.clear();
    if (this.#out.length > 0) this.#onReports();
  }

  #send(channel: number, command: number, payload: Uint8Array): void {
    this.#out.push(...toPackets(channel, command, payload));
  }

  #handle(channel: number, command: number, payload: Uint8Array): void {
    if (!this.#options.forOthers) received.ctap(command, payload, this.#options.issued ? allowReset : allowCtap);
    if (command === COMMAND.init) {
      this.#open(channel, payload);
      return;
    }
    this.received.push(Buffer.from([command, ...payload]).toString('hex'));
    if (command === COMMAND.cancel) this.#cancel(channel);
    else if (command === COMMAND.msg) this.#u2f(channel, payload);
    else if (command === COMMAND.cbor && this.#options.ctap2 !== false) this.#cbor(channel, payload);
    else this.#other(channel, command, payload);
  }

  #other(channel: number, command: number, payload: Uint8Array): void {
    const answer = this.#options.vendor?.[command]?.(payload) ?? null;
    if (answer === null) this.#send(channel, COMMAND.error, INVALID_COMMAND);
    else this.#send(channel, command, answer);
  }

  #open(channel: number, nonce: Uint8Array): void {
    if (channel !== BROADCAST) return;
    const id = Buffer.alloc(4);
    id.writeUInt32BE(++this.#channels);
    this.#send(
      channel,
      COMMAND.init,
      Buffer.concat([nonce, id, Uint8Array.of(2, ...(this.#options.version ?? [5, 7, 4]), this.#capabilities)]),
    );
  }

  get #capabilities(): number {
    return this.#options.ctap2 === false ? 0 : SUPPORTS_CBOR;
  }

  /** Uses up a touch. Without one, notes that a request waits for it. */
  #takeTouch(): boolean {
    const touched = this.#touched || this.#options.touched === true;
    this.#touched = false;
    this.#asksForTouch.resolve();
    if (touched) this.#asksForTouch = Promise.withResolvers();
    return touched;
  }

  #cbor(channel: number, request: Uint8Array): void {
    const respond = () => {
      const response = this.#options.answer?.(request) ?? this.#options.authenticator.cbor(request);
      this.#send(channel, COMMAND.cbor, response);
    };
    if (!TOUCHED.includes(request[0]!) || this.#isSilent(request) || this.#takeTouch()) {
      respond();
      return;
    }
    this.#pending = () => {
      this.#takeTouch();
      respond();
    };
    this.#pendingChannel = channel;
    this.#send(channel, COMMAND.keepalive, WAITS_FOR_TOUCH);
  }

  #isSilent(request: Uint8Array): boolean {
    if (request[0] !== 0x02 || this.#options.asksAlways === true) return false;
    return !asksForTouch(expectMap(readCbor(request.subarray(1)), 'parameters'));
  }

  #cancel(channel: number): void {
    if (this.#pending === null || this.#pendingChannel !== channel) return;
    this.canceled += 1;
    this.#pending = null;
    this.#asksForTouch = Promise.withResolvers();
    this.#send(channel, COMMAND.cbor, CANCELED);
  }

  #u2f(channel: number, apdu: Uint8Array): void {
    this.#send(channel, COMMAND.msg, this.#u2fAnswer(apdu));
  }

  #u2fAnswer(apdu: Uint8Array): Uint8Array {
    const { authenticator } = this.#options;
    const data = apdu.subarray(7);
    const [challenge, application] = [data.subarray(0, 32), data.subarray(32, 64)];
    if (apdu[1] === U2F_REGISTER) {
      if (!this.#takeTouch()) return NOT_TOUCHED;
      return Buffer.concat([authenticator.u2fRegister(challenge, application), DONE]);
    }
    const signed = authenticator.u2fAuthenticate(challenge, application, data.subarray(65, 65 + data[64]!));
    if (signed === null) return WRONG_DATA;
    return apdu[2] === CHECK_ONLY || !this.#takeTouch() ? NOT_TOUCHED : Buffer.concat([signed, DONE]);
  }
}

function abortedBy(signal: AbortSignal): HardwareError {
  const timeout = signal.reason instanceof Error && signal.reason.name === 'TimeoutError';
  return new HardwareError(timeout ? 'timeout' : 'aborted', 'no answer');
}
