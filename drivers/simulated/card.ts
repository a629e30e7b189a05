import { HardwareError } from '../hardware-error.ts';
import { CLA, commandApdu, INS, query, SW, SW1, selectApplication } from '../protocols/apdu.ts';
import type { CardConnection } from '../protocols/connection.ts';
import { concat } from '../protocols/hex.ts';
import type { CardSerialSource } from '../protocols/identify-card.ts';

/** AID of a simulated SIM key: `devmgr` in the range that is free for anyone (F0). */
const SIMULATED_AID = 'F06465766D6772';
const SELECT = selectApplication(SIMULATED_AID);
const GET_SERIAL = commandApdu({ ins: INS.GET_DATA, p1: 0x00, p2: 0x4f, le: 0 });

const FILE_NOT_FOUND = 0x6a82;
const statusOf = (word: number): Uint8Array => Uint8Array.of(word >> 8, word & 0xff);

/**
 * A SIM key in software. It answers as a T=0 card does (61xx, 6Cxx, refusals) and supports no command that a real card
 * would not. After `removed` is aborted, every command fails as with a card that was removed.
 */
export class SimulatedCard implements CardConnection {
  readonly #serial: Uint8Array;
  readonly #removed: AbortSignal;
  #selected = false;
  #pending: Uint8Array | null = null;

  constructor(serial: string, removed: AbortSignal) {
    this.#serial = new Uint8Array(Buffer.from(serial, 'latin1'));
    this.#removed = removed;
  }

  async transmit(command: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
    if (this.#removed.aborted) {
      throw new HardwareError('removed', 'The simulated card was removed while it was read.');
    }
    if (signal.aborted) throw new HardwareError('aborted', 'Reading the simulated card was canceled.');
    return this.#respond(command);
  }

  #respond(command: Uint8Array): Uint8Array {
    const [cla, ins] = command;
    if (cla !== CLA.ISO) return statusOf(SW.CLA_NOT_SUPPORTED);
    if (ins === INS.SELECT) {
      this.#selected = Buffer.from(command).equals(SELECT);
      return statusOf(this.#selected ? SW.OK : FILE_NOT_FOUND);
    }
    if (ins === INS.GET_DATA && this.#selected) {
      this.#pending = this.#serial;
      return Uint8Array.of(SW1.MORE_DATA, this.#serial.length);
    }
    if (ins === INS.GET_RESPONSE && this.#pending !== null) return this.#getResponse(this.#pending, command[4]);
    return statusOf(SW.INS_NOT_SUPPORTED);
  }

  #getResponse(data: Uint8Array, le: number | undefined): Uint8Array {
    if (le !== data.length) return Uint8Array.of(SW1.WRONG_LE, data.length);
    this.#pending = null;
    return concat(data, statusOf(SW.OK));
  }
}

/** Reads the serial of a simulated SIM key. */
export const SIMULATED_SOURCE: CardSerialSource = {
  name: 'simulated',
  async read(card, signal) {
    if ((await query(card, SELECT, signal)) === null) return null;
    const serial = await query(card, GET_SERIAL, signal);
    return serial && { serialNumber: Buffer.from(serial).toString('latin1'), model: 'Simulated SIMKEY' };
  },
};
