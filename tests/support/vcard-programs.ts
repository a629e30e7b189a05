import { fromHex, toHex } from '../../drivers/protocols/hex.ts';
import { received } from './received-commands.ts';

/** The behavior of a virtual card. */
export interface CardProgram {
  readonly atr: Uint8Array;
  /** The reader notices it, but it does not answer to power. */
  readonly mute?: boolean;
  /** The response to a command, with the status word; null: it does not answer. */
  answer(command: Uint8Array): Uint8Array | null;
  reset(): void;
}

const T0_ATR = '3B9F96801FC78031E073FE211B63E208A8830F900088';
const T1_ATR = '3B8080018101'; // as contactless readers make it up
const JAVA_ATR = '3B6800000073C84012009000';

type Rule = (command: string) => string | null;

/** A card that answers by rules on hex digits: the first that matches, else 6D00. */
export function cardOf(rules: readonly Rule[], atr = T0_ATR, reset: () => void = () => undefined): CardProgram {
  return {
    atr: fromHex(atr),
    reset,
    answer(command) {
      received.apdu(command);
      const hex = toHex(command);
      for (const rule of rules) {
        const answer = rule(hex);
        if (answer !== null) return fromHex(answer);
      }
      return fromHex('6D00');
    },
  };
}

/** A rule: the answer to commands with this prefix. */
export function on(prefix: string, answer: string): Rule {
  return command => (command.startsWith(prefix) ? answer : null);
}

/** The ten bytes of an ICCID file: digits with swapped nibbles, padded with F. */
export function iccidFile(digits: string): string {
  return digits.padEnd(20, 'F').replace(/(.)(.)/g, '$2$1');
}

interface SimOptions {
  readonly iccid: string;
  /** Answers SELECT with 61xx or 9Fxx, and a wrong length with 6Cxx, as a card in a T=0 reader does. Default: true. */
  readonly t0?: boolean;
}

/** The file system of a SIM as far as the ICCID, in the class of its generation. */
function sim({ iccid, t0 = true }: SimOptions, class_: '00' | 'A0'): CardProgram {
  let file = '3F00';
  let pending = '';
  const [more, description] = class_ === 'A0' ? ['9F', '0000000A2FE2040011FF44'] : ['61', '6208820241218302'];
  const contents: Record<string, string> = { '2FE2': iccidFile(iccid) };
  const select: Rule = command => {
    if (!new RegExp(`^${class_}A400${class_ === 'A0' ? '00' : '0[04]'}02`).test(command)) return null;
    const id = command.slice(10, 14);
    if (id !== '3F00' && contents[id] === undefined) return class_ === 'A0' ? '9404' : '6A82';
    file = id;
    if (!t0) return `${description}9000`;
    pending = description;
    return more + byte(description.length / 2);
  };
  const getResponse: Rule = command => {
    if (!command.startsWith(`${class_}C00000`)) return null;
    const answer = pending;
    pending = '';
    return answer === '' ? '6F00' : `${answer}9000`;
  };
  const read: Rule = command => {
    if (!command.startsWith(`${class_}B0`)) return null;
    const content = contents[file];
    if (content === undefined) return class_ === 'A0' ? '9400' : '6986';
    return command.slice(8) === byte(content.length / 2) ? `${content}9000` : `6C${byte(content.length / 2)}`;
  };
  const otherClass: Rule = command => (command.startsWith(class_) ? '6D00' : '6E00');
  const program = cardOf([select, getResponse, read, otherClass], T0_ATR, () => {
    file = '3F00';
    pending = '';
  });
  return program;
}

function byte(value: number): string {
  return value.toString(16).toUpperCase().padStart(2, '0');
}

/** A present-day SIM. */
export function uicc(options: SimOptions): CardProgram {
  return sim(options, '00');
}

/** A SIM of the second generation, which supports only class A0. */
export function classicSim(options: SimOptions): CardProgram {
  return sim(options, 'A0');
}

/** An eUICC without a profile: no ICCID, an EID on a logical channel. */
export function euicc({ eid, info }: { readonly eid: string; readonly info?: string }): CardProgram {
  let open = false;
  const onChannel =
    (rule: Rule): Rule =>
    command =>
      open ? rule(command) : null;
  return cardOf([
    on('00A40004023F00', '9000'),
    on('00A4', '6A82'),
    on('A0', '6E00'),
    on('80AA', '9000'),
    command => {
      if (command !== '0070000001') return null;
      open = true;
      return '019000';
    },
    on('00708001', '9000'),
    onChannel(on('01A4040010A0000005591010FFFFFFFF8900000100', '6100')),
    onChannel(on('01C00000', '6F009000')),
    onChannel(on('81E2910006BF3E035C015A', '6115')),
    onChannel(on('81C0000015', `BF3E125A10${eid}9000`)),
    ...(info === undefined ? [] : [onChannel(on('81E2910003BF2000', `${info}9000`))]),
  ]);
}

/** A Java card with CPLC data that is not a SIM. */
export function javaCard({ cplc }: { readonly cplc: string }): CardProgram {
  return cardOf(
    [on('00A4', '6A82'), on('80CA9F7F00', '6C2D'), on('80CA9F7F2D', `9F7F2A${cplc}9000`), on('A0', '6E00')],
    JAVA_ATR,
  );
}

/** The CPLC data of a chip, 42 bytes in hex; the other fields are zero. */
export function cplcData(chip: {
  fabricator: string;
  type: string;
  date: string;
  serial: string;
  batch: string;
}): string {
  return `${chip.fabricator}${chip.type}${'00'.repeat(6)}${chip.date}${chip.serial}${chip.batch}`.padEnd(84, '0');
}

/** An OpenPGP card without other applications. */
export function openPgpCard({ aid }: { readonly aid: string }): CardProgram {
  return cardOf([on('00A4040006D27600012401', '9000'), on('00CA004F', `${aid}9000`), on('00A4', '6A82')], JAVA_ATR);
}

/** A contactless card with a UID, as its reader reports it. */
export function contactlessCard({ uid }: { readonly uid: string }): CardProgram {
  return cardOf([on('FFCA000000', `${uid}9000`), on('00A4', '6A82')], T1_ATR);
}

/** A card that does not answer to power. */
export function muteCard(): CardProgram {
  return { atr: fromHex(T0_ATR), mute: true, reset: () => undefined, answer: () => null };
}

/** Like `program`, but silent from the first command with this prefix on. */
export function silentFrom(prefix: string, program: CardProgram): CardProgram {
  let silent = false;
  return {
    ...program,
    answer(command) {
      silent ||= toHex(command).startsWith(prefix);
      if (!silent) return program.answer(command);
      received.apdu(command);
      return null;
    },
  };
}

/** The applications of a YubiKey. */
export function yubiKeyCard(key: {
  /** Eight hex digits. */
  readonly serial: string;
  /** Six hex digits. */
  readonly version: string;
  /** False for keys that are too old for the management application. */
  readonly management?: boolean;
}): CardProgram {
  const values = `0204${key.serial}0503${key.version}040103`;
  const managed = key.management !== false;
  return cardOf(
    [
      on('00A4040008A000000527471117', managed ? '9000' : '6A82'),
      on('00A4040007A0000005272001', '9000'),
      on('001D0000', managed ? `${byte(values.length / 2)}${values}9000` : '6D00'),
      on('00011000', `${key.serial}9000`),
      on('00A4', '6A82'),
    ],
    JAVA_ATR,
  );
}

/** The application of a Token2 key; `serial` is ASCII. */
export function token2Card({ serial }: { readonly serial: string }): CardProgram {
  const hex = toHex(new Uint8Array(Buffer.from(serial, 'latin1')));
  return cardOf(
    [
      on('00A4040008F00000014F747001', '9000'),
      on('8033000012D110', `D1${byte(serial.length)}${hex}9000`),
      on('00A4', '6A82'),
    ],
    JAVA_ATR,
  );
}
