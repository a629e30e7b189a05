/** A USB card reader of the CCID class that libccid supports, with a slot for a card. */
import type { CardProgram } from '../../support/vcard.ts';
import { configurationOf, type Interface, identityOf, type UsbDevice } from './usb-device.ts';

const POWER_ON = 0x62;
const POWER_OFF = 0x63;
const SLOT_STATUS = 0x65;
const TRANSFER = 0x6f;
const GET_PARAMETERS = 0x6c;
const RESET_PARAMETERS = 0x6d;
const SET_PARAMETERS = 0x61;
const DATA_BLOCK = 0x80;
const SLOT_STATUS_REPLY = 0x81;
const PARAMETERS_REPLY = 0x82;
const SLOT_CHANGE = 0x50;
const HEADER = 10;

const PRESENT_ACTIVE = 0;
const PRESENT_INACTIVE = 1;
const NO_CARD = 2;
const FAILED = 0x40;
const CARD_MUTE = 0xfe;
const NOT_SUPPORTED = 1;

const T0_PARAMETERS = Uint8Array.of(0x11, 0, 0, 10, 0);

/** Both protocols, 5 V, short APDU exchange level, everything automatic. */
const CLASS_DESCRIPTOR = Uint8Array.of(
  ...[54, 0x21, 0x10, 0x01, 0, 1, 3, 0, 0, 0],
  ...[0xa0, 0x0f, 0, 0, 0xa0, 0x0f, 0, 0, 0],
  ...[0x80, 0x25, 0, 0, 0x80, 0x25, 0, 0, 0],
  ...[254, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  ...[0xbe, 0x04, 0x04, 0x00],
  ...[0x0f, 0x01, 0, 0, 0, 0, 0, 0, 0, 1],
);

/** One interface of the CCID class, with its slot. */
export interface CcidInterface {
  readonly interface: Interface;
  /** Milliseconds since 1970 at which the inserted card was last powered; 0 if it was not. */
  readonly poweredAt: number;
  plugged(send: (endpoint: number, data: Uint8Array) => void): void;
  /** Data on its OUT endpoint. */
  out(data: Uint8Array): void;
  /** Inserts a card. Returns the time in milliseconds since 1970. */
  insert(card: CardProgram): number;
  remove(): void;
}

export interface CcidReader extends UsbDevice, Pick<CcidInterface, 'poweredAt' | 'insert' | 'remove'> {}

/** Numbers of its endpoints, without the direction bit. */
export interface CcidEndpoints {
  readonly out: number;
  readonly in: number;
  readonly change: number;
}

/** `serial` distinguishes readers; the ids are those of a reader in libccid's list. */
export function ccidReader(serial: string): CcidReader {
  const slot = ccidInterface({ out: 1, in: 2, change: 3 });
  return {
    ...identityOf({
      vendorId: 0x08e6,
      productId: 0x4433,
      release: 0x0100,
      manufacturer: 'Lab',
      product: 'Lab reader',
      serial,
    }),
    configuration: configurationOf([slot.interface]),
    get poweredAt() {
      return slot.poweredAt;
    },
    plugged: slot.plugged,
    control: async () => new Uint8Array(),
    out: async (_endpoint, data) => slot.out(data),
    insert: slot.insert,
    remove: slot.remove,
  };
}

export function ccidInterface(endpoints: CcidEndpoints): CcidInterface {
  let card: CardProgram | null = null;
  let active = false;
  let poweredAt = 0;
  let send: (endpoint: number, data: Uint8Array) => void = () => undefined;

  const status = (): number => (card === null ? NO_CARD : active ? PRESENT_ACTIVE : PRESENT_INACTIVE);
  const reply = (kind: number, message: Uint8Array, data: Uint8Array, failure = 0): void => {
    const head = Buffer.alloc(HEADER);
    head[0] = kind;
    head.writeUInt32LE(data.length, 1);
    head[5] = message[5]!;
    head[6] = message[6]!;
    head[7] = status() | (failure === 0 ? 0 : FAILED);
    head[8] = failure;
    send(endpoints.in, Uint8Array.of(...head, ...data));
  };
  const reportChange = (): void => send(endpoints.change, Uint8Array.of(SLOT_CHANGE, card === null ? 0b10 : 0b11));
  const empty = new Uint8Array();

  const powerOn = (message: Uint8Array): void => {
    if (card === null || card.mute === true) {
      reply(DATA_BLOCK, message, empty, CARD_MUTE);
      return;
    }
    card.reset();
    active = true;
    poweredAt = Date.now();
    reply(DATA_BLOCK, message, card.atr);
  };
  const transfer = (message: Uint8Array): void => {
    if (card === null) {
      reply(DATA_BLOCK, message, empty, CARD_MUTE);
      return;
    }
    const answer = card.answer(message.subarray(HEADER));
    if (answer !== null) reply(DATA_BLOCK, message, answer);
  };
  const handle = (message: Uint8Array): void => {
    switch (message[0]) {
      case POWER_ON:
        powerOn(message);
        break;
      case POWER_OFF:
        active = false;
        reply(SLOT_STATUS_REPLY, message, empty);
        break;
      case SLOT_STATUS:
        reply(SLOT_STATUS_REPLY, message, empty);
        break;
      case TRANSFER:
        transfer(message);
        break;
      case GET_PARAMETERS:
      case RESET_PARAMETERS:
      case SET_PARAMETERS:
        reply(PARAMETERS_REPLY, message, T0_PARAMETERS);
        break;
      default:
        reply(SLOT_STATUS_REPLY, message, empty, NOT_SUPPORTED);
    }
  };

  let gathered = empty;
  return {
    interface: {
      class: 0x0b,
      subclass: 0,
      protocol: 0,
      extra: CLASS_DESCRIPTOR,
      endpoints: [
        { address: endpoints.out, kind: 'bulk' },
        { address: 0x80 | endpoints.in, kind: 'bulk' },
        { address: 0x80 | endpoints.change, kind: 'interrupt' },
      ],
    },
    get poweredAt() {
      return poweredAt;
    },
    plugged(sender) {
      send = sender;
    },
    out(data) {
      gathered = Uint8Array.of(...gathered, ...data);
      const wanted = HEADER + Buffer.from(gathered).readUInt32LE(1);
      if (gathered.length < wanted) return;
      const message = gathered;
      gathered = empty;
      handle(message);
    },
    insert(program) {
      card = program;
      active = false;
      poweredAt = 0;
      const at = Date.now();
      reportChange();
      return at;
    },
    remove() {
      card = null;
      active = false;
      reportChange();
    },
  };
}
