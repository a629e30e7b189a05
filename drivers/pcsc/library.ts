import { existsSync } from 'node:fs';
import type * as PcscMini from 'pcsc-mini';
import type * as Addon from 'pcsc-mini/build/addon.node.js';
import { HardwareError } from '../driver.ts';
import { requireBinding } from './binding.ts';

export type Pcsc = typeof PcscMini;

/** Loads the PC/SC binding. Throws `unavailable` with the way to fix it; a later call tries again. */
export function loadPcsc(): Pcsc {
  try {
    return requireBinding('pcsc-mini') as Pcsc;
  } catch (cause) {
    throw new HardwareError('unavailable', whyNotLoaded(cause instanceof Error ? cause.message : String(cause)), {
      cause,
    });
  }
}

/** A native client that connects to any reader by name. It is never started. */
export function loadConnector(): ConstructorParameters<Pcsc['Reader']>[0] {
  return (requireBinding('pcsc-mini/build/addon.node.js') as typeof Addon).newClient();
}

/** The binding blames optional packages of npm for whatever fails: look at what the system said. */
export function whyNotLoaded(message: string): string {
  if (/libpcsclite\.so/.test(message)) {
    return 'The PC/SC library libpcsclite.so.1 is missing: install it with `apt-get install libpcsclite1 pcscd`.';
  }
  if (/Unsupported platform|Cannot find module|dependency not found/.test(message)) {
    return `The PC/SC binding for ${process.platform}-${process.arch} is not installed: run \`npm ci\` on this machine.`;
  }
  return `The PC/SC binding could not be loaded: ${message.split('\n', 1)[0]}`;
}

const SERVICE_PROGRAMS = ['/usr/sbin/pcscd', '/usr/local/sbin/pcscd', '/usr/bin/pcscd', '/sbin/pcscd'];

/** What to do about a PC/SC service that does not answer on this machine. */
export function howToStartService(): string {
  if (process.platform === 'win32') return 'Start the service "Smart Card" (SCardSvr).';
  if (process.platform === 'darwin') return 'Plug the reader in again, or restart the machine.';
  if (!SERVICE_PROGRAMS.some(file => existsSync(file))) return 'Install it with `apt-get install pcscd`.';
  if (existsSync('/run/systemd/system')) return 'Start it with `systemctl enable --now pcscd.socket`.';
  return 'Start it as root with `pcscd`.';
}
