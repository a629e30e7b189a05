/** The functions of the PC/SC library. Only the worker imports this file: its calls block the thread. */
import { dlopen, getRawPointer } from 'node:ffi';
import type { Abi } from './abi.ts';

type Argument = number | bigint | Uint8Array | null;
type NativeFunction = (...values: Argument[]) => number | bigint;

const FUNCTIONS = [
  'establish',
  'release',
  'readers',
  'statusChange',
  'cancel',
  'connect',
  'reconnect',
  'disconnect',
  'begin',
  'end',
  'transmit',
  'status',
  'attribute',
] as const;

/** The functions, by our names. Each returns a result of PC/SC. */
export type NativeFunctions = Readonly<Record<(typeof FUNCTIONS)[number], NativeFunction>>;

/** Loads the library. Throws the text of the system if it is missing. */
export function loadNative(abi: Abi): NativeFunctions {
  const { dword, handle, textSuffix } = abi;
  const returning = (...types: readonly string[]) => ({ return: abi.long, arguments: types }) as const;
  const pointer = 'pointer';
  const signatures = {
    establish: ['SCardEstablishContext', returning(dword, pointer, pointer, pointer)],
    release: ['SCardReleaseContext', returning(handle)],
    readers: [`SCardListReaders${textSuffix}`, returning(handle, pointer, pointer, pointer)],
    statusChange: [`SCardGetStatusChange${textSuffix}`, returning(handle, dword, pointer, dword)],
    cancel: ['SCardCancel', returning(handle)],
    connect: [`SCardConnect${textSuffix}`, returning(handle, pointer, dword, dword, pointer, pointer)],
    reconnect: ['SCardReconnect', returning(handle, dword, dword, dword, pointer)],
    disconnect: ['SCardDisconnect', returning(handle, dword)],
    begin: ['SCardBeginTransaction', returning(handle)],
    end: ['SCardEndTransaction', returning(handle, dword)],
    transmit: ['SCardTransmit', returning(handle, pointer, pointer, dword, pointer, pointer, pointer)],
    status: [`SCardStatus${textSuffix}`, returning(handle, pointer, pointer, pointer, pointer, pointer, pointer)],
    attribute: ['SCardGetAttrib', returning(handle, dword, pointer, pointer)],
  } as const;
  const { lib } = dlopen(abi.library);
  const entries = FUNCTIONS.map(name => {
    const [symbol, signature] = signatures[name];
    return [
      name,
      lib.getFunction(symbol, signature as Parameters<typeof lib.getFunction>[1]) as NativeFunction,
    ] as const;
  });
  return Object.fromEntries(entries) as NativeFunctions;
}

/** The address of memory. It is valid as long as the memory is referenced. */
export const addressOf = (memory: Buffer): bigint => getRawPointer(memory);
