/**
 * Every fake key and card reports here what it receives. A command that the gate does not list fails the test, whichever way it
 * was sent and whatever the program made of the answer: `every-test.ts` looks after each test, the lab's bench at its end.
 */
import { allowApdu, allowCtap, allowSlot, type CtapGate } from '../../drivers/protocols/gate.ts';
import { toHex } from '../../drivers/protocols/hex.ts';

const unlisted: string[] = [];

function check(command: string, allow: () => void): void {
  try {
    allow();
  } catch {
    unlisted.push(command);
  }
}

export const received = {
  /** A CTAPHID message. */
  ctap: (command: number, payload: Uint8Array, gate: CtapGate = allowCtap): void =>
    check(`CTAPHID ${toHex(Uint8Array.of(command))} ${toHex(payload)}`, () => gate(command, payload)),
  /** A command to a smart card. */
  apdu: (apdu: Uint8Array): void => check(`APDU ${toHex(apdu)}`, () => allowApdu(apdu)),
  /** A slot command to the OTP interface of a YubiKey. */
  slot: (slot: number): void => check(`OTP slot ${toHex(Uint8Array.of(slot))}`, () => allowSlot(slot)),
};

/** Takes the commands outside of the gate's list that fakes in this process have received. */
export const takeUnlisted = (): string[] => unlisted.splice(0);
