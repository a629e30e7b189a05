/**
 * Plugs an emulated device into the running kernel: vhci_hcd, the kernel's USB/IP host controller, takes one end of a local
 * socket, and this program is the device at the other end.
 */

import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, Socket } from 'node:net';
import type { Setup, UsbDevice } from './usb-device.ts';

const CONTROLLER = '/sys/devices/platform/vhci_hcd.0';
const FREE_PORT = '004';
const FULL_SPEED = 2;

const CMD_SUBMIT = 1;
const CMD_UNLINK = 2;
const RET_SUBMIT = 3;
const RET_UNLINK = 4;
const HEADER = 48;
const STALLED = -32;
const UNLINKED = -104;

const taken = new Set<number>();

/** Reserves a free port of the controllers. */
function takePort(): number {
  for (const file of readdirSync(CONTROLLER).filter(name => name.startsWith('status'))) {
    for (const line of readFileSync(`${CONTROLLER}/${file}`, 'utf8').split('\n')) {
      const [hub, port, state] = line.trim().split(/\s+/);
      const number = Number(port);
      if (hub !== 'hs' || state !== FREE_PORT || taken.has(number)) continue;
      taken.add(number);
      return number;
    }
  }
  throw new Error('vhci_hcd has no free port');
}

export interface Plugged {
  /** Milliseconds since 1970 at which the kernel received the device. */
  readonly at: number;
  unplug(): void;
}

export async function plug(device: UsbDevice): Promise<Plugged> {
  const port = takePort();
  // An abstract socket address leaves no file.
  const address = `\0lab-usb-${process.pid}-${port}`;
  const server = createServer();
  server.listen(address);
  await once(server, 'listening');
  // Paused before it connects, so that this process never reads from the kernel's end.
  const kernelEnd = new Socket();
  kernelEnd.pause();
  kernelEnd.connect(address);
  const [[ours]] = (await Promise.all([once(server, 'connection'), once(kernelEnd, 'connect')])) as [[Socket], unknown];
  server.close();
  const { fd } = (kernelEnd as unknown as { _handle: { fd: number } })._handle;
  const at = Date.now();
  writeFileSync(`${CONTROLLER}/attach`, `${port} ${fd} ${0x10000 + port + 1} ${FULL_SPEED}`);
  serve(ours, device);
  return {
    at,
    unplug() {
      ours.destroy();
      kernelEnd.destroy();
      taken.delete(port);
    },
  };
}

interface Submit {
  readonly sequence: number;
  readonly endpoint: number;
  readonly inward: boolean;
  readonly length: number;
  readonly setup: Setup;
  readonly data: Uint8Array;
}

function serve(socket: Socket, device: UsbDevice): void {
  /** By endpoint: reads of the kernel that wait for data, and data that waits for a read. */
  const waiting = new Map<number, Submit[]>();
  const queued = new Map<number, Uint8Array[]>();
  const listOf = <T>(map: Map<number, T[]>, key: number): T[] => {
    const list = map.get(key) ?? [];
    map.set(key, list);
    return list;
  };

  const answer = (submit: Submit, status: number, data: Uint8Array, count = data.length): void => {
    const reply = Buffer.alloc(HEADER);
    reply.writeUInt32BE(RET_SUBMIT, 0);
    reply.writeUInt32BE(submit.sequence, 4);
    reply.writeInt32BE(status, 20);
    reply.writeUInt32BE(count, 24);
    if (!socket.destroyed) socket.write(submit.inward ? Buffer.concat([reply, data]) : reply);
  };
  const deliver = (endpoint: number): void => {
    const reads = listOf(waiting, endpoint);
    const data = listOf(queued, endpoint);
    while (reads.length > 0 && data.length > 0) {
      const read = reads.shift()!;
      answer(read, 0, data.shift()!.subarray(0, read.length));
    }
  };
  const unlink = (sequence: number, victim: number): void => {
    let found = false;
    for (const [endpoint, reads] of waiting) {
      const rest = reads.filter(read => read.sequence !== victim);
      found ||= rest.length < reads.length;
      waiting.set(endpoint, rest);
    }
    const reply = Buffer.alloc(HEADER);
    reply.writeUInt32BE(RET_UNLINK, 0);
    reply.writeUInt32BE(sequence, 4);
    reply.writeInt32BE(found ? UNLINKED : 0, 20);
    socket.write(reply);
  };
  const submit = async (one: Submit): Promise<void> => {
    if (one.endpoint === 0) {
      const data = standardAnswer(device, one.setup) ?? (await device.control(one.setup, one.data));
      if (data === null) answer(one, STALLED, new Uint8Array());
      else if (one.inward) answer(one, 0, data.subarray(0, one.length));
      else answer(one, 0, new Uint8Array(), one.data.length);
    } else if (one.inward) {
      listOf(waiting, one.endpoint).push(one);
      deliver(one.endpoint);
    } else {
      answer(one, 0, new Uint8Array(), one.data.length);
      await device.out(one.endpoint, one.data);
    }
  };

  device.plugged((endpoint, data) => {
    listOf(queued, endpoint).push(data);
    deliver(endpoint);
  });
  socket.on('error', () => undefined);
  onMessages(socket, submit, unlink);
}

function onMessages(socket: Socket, submit: (one: Submit) => void, unlink: (sequence: number, victim: number) => void) {
  let buffer = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    buffer = Buffer.concat([buffer, chunk]);
    while (buffer.length >= HEADER) {
      const command = buffer.readUInt32BE(0);
      const sequence = buffer.readUInt32BE(4);
      const inward = buffer.readUInt32BE(12) === 1;
      const length = command === CMD_SUBMIT ? buffer.readUInt32BE(24) : 0;
      const end = HEADER + (inward ? 0 : length);
      if (buffer.length < end) return;
      if (command === CMD_UNLINK) unlink(sequence, buffer.readUInt32BE(20));
      else {
        const endpoint = buffer.readUInt32BE(16);
        const setup = setupOf(buffer.subarray(40, 48));
        submit({ sequence, endpoint, inward, length, setup, data: Uint8Array.from(buffer.subarray(HEADER, end)) });
      }
      buffer = buffer.subarray(end);
    }
  });
}

function setupOf(bytes: Buffer): Setup {
  return {
    requestType: bytes[0]!,
    request: bytes[1]!,
    value: bytes.readUInt16LE(2),
    index: bytes.readUInt16LE(4),
    length: bytes.readUInt16LE(6),
  };
}

const GET_STATUS = 0;
const GET_DESCRIPTOR = 6;
const TO_DEVICE = 0x80;

/** The response to a standard request; null for a request that the device handles itself. */
function standardAnswer(device: UsbDevice, setup: Setup): Uint8Array | null {
  if ((setup.requestType & 0x60) !== 0) return null;
  if ((setup.requestType & 0x80) === 0) return new Uint8Array();
  if (setup.request === GET_STATUS) return Uint8Array.of(0, 0);
  if (setup.request !== GET_DESCRIPTOR || setup.requestType !== TO_DEVICE) return null;
  const index = setup.value & 0xff;
  switch (setup.value >> 8) {
    case 1:
      return device.descriptor;
    case 2:
      return device.configuration;
    case 3:
      return index === 0 ? Uint8Array.of(4, 3, 0x09, 0x04) : stringDescriptor(device.strings[index - 1]);
    default:
      return null;
  }
}

function stringDescriptor(text: string | undefined): Uint8Array | null {
  if (text === undefined) return null;
  const bytes = Buffer.from(text, 'utf16le').subarray(0, 252);
  return Uint8Array.of(2 + bytes.length, 3, ...bytes);
}
