import { HardwareError } from '../driver.ts';
import { type Connection, exchange, fromHex, type Identifier, succeeded } from '../protocols/simkey/index.ts';

/** The application of a simulated SIM key: its identifier is in the range that nobody registers. */
const APPLICATION = 'F0646576 6D6772';
const SELECT = fromHex(`00A4040007${APPLICATION}`);
const GET_SERIAL = fromHex('00CA004F00');

/**
 * A SIM key in software: it answers commands as a T=0 card does (61xx, 6Cxx, refusals) and knows no command that a real
 * one would not. `pulled`: from then on every command fails as with a card that is gone.
 */
export function simulatedCard(serial: string, pulled: AbortSignal): Connection {
  let selected = false;
  let pending = new Uint8Array();

  function answer(command: Uint8Array): Uint8Array {
    const [class_, instruction] = command;
    if (class_ !== 0x00) return fromHex('6E00');
    if (instruction === 0xa4) {
      selected = Buffer.from(command).equals(SELECT);
      return fromHex(selected ? '9000' : '6A82');
    }
    if (instruction === 0xca && selected) {
      pending = new Uint8Array(Buffer.from(serial, 'latin1'));
      return Uint8Array.of(0x61, pending.length);
    }
    if (instruction === 0xc0 && pending.length > 0) {
      if (command[4] !== pending.length) return Uint8Array.of(0x6c, pending.length);
      const data = pending;
      pending = new Uint8Array();
      return new Uint8Array([...data, 0x90, 0x00]);
    }
    return fromHex('6D00');
  }

  return {
    async transmit(command, signal) {
      if (pulled.aborted) throw new HardwareError('removed', 'The simulated card was removed while it was read.');
      if (signal.aborted) throw new HardwareError('aborted', 'Reading the simulated card was given up.');
      return answer(command);
    },
  };
}

/** How a simulated SIM key tells its serial. */
export const SIMULATED_CARD: Identifier = {
  source: 'simulated',
  async read(connection, signal) {
    if (!succeeded(await exchange(connection, SELECT, signal))) return null;
    const answer = await exchange(connection, GET_SERIAL, signal);
    if (!succeeded(answer)) return null;
    return { serialNumber: Buffer.from(answer.data).toString('latin1'), model: 'Simulated SIMKEY' };
  },
};
