import { existsSync } from 'node:fs';
import type * as PcscMini from 'pcsc-mini';
import type * as Addon from 'pcsc-mini/build/addon.node.js';
import { HardwareError } from '../driver.ts';
import { requireBinding } from './binding.ts';

/** The PC/SC binding. */
export type Pcsc = typeof PcscMini;

/**
 * Loads the PC/SC binding. Throws HardwareError `unavailable` with the fix. A later call tries again, so it finds a library
 * that was installed in the meantime: `require` forgets a module that failed to load, `import` does not.
 */
export function loadPcsc(): Pcsc {
  try {
    return requireBinding('pcsc-mini') as Pcsc;
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new HardwareError('unavailable', explainLoadFailure(message), { cause });
  }
}

/** A native client that only connects to readers by their names. It must never be started. */
export function loadConnector(): ConstructorParameters<Pcsc['Reader']>[0] {
  return (requireBinding('pcsc-mini/build/addon.node.js') as typeof Addon).newClient();
}

/** What to do about a binding that does not load. It blames npm's optional packages for every failure, so look at the system's text. */
export function explainLoadFailure(message: string): string {
  if (/libpcsclite\.so/.test(message)) {
    return 'The PC/SC library libpcsclite.so.1 is missing: install it with `apt-get install libpcsclite1 pcscd`.';
  }
  if (/Unsupported platform|Cannot find module|dependency not found/.test(message)) {
    return `The PC/SC binding for ${process.platform}-${process.arch} is not installed: run \`npm ci\` on this machine.`;
  }
  return `The PC/SC binding could not be loaded: ${message.split('\n', 1)[0]}`;
}

const SERVICE_PROGRAMS = ['/usr/sbin/pcscd', '/usr/local/sbin/pcscd', '/usr/bin/pcscd', '/sbin/pcscd'];

/** How to start the PC/SC service on this machine. */
export function howToStartService(): string {
  if (process.platform === 'win32') return 'Start the service "Smart Card" (SCardSvr).';
  if (process.platform === 'darwin') return 'Plug the reader in again, or restart the machine.';
  if (!SERVICE_PROGRAMS.some(file => existsSync(file))) return 'Install it with `apt-get install pcscd`.';
  if (existsSync('/run/systemd/system')) return 'Start it with `systemctl enable --now pcscd.socket`.';
  return 'Start it as root with `pcscd`.';
}
