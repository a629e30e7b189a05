import { existsSync } from 'node:fs';
import { howToReinstall } from '../reinstall.ts';

/** In the text of the system about a library of PC/SC that it does not find. */
const SYSTEM_LIBRARY = /libpcsclite\.so|PCSC\.framework|WinSCard/i;
/** In the text of pcsc-mini about a machine that npm has no binary for. */
const NOT_INSTALLED = /Unsupported platform|Cannot find module|dependency not found/;

/** Whether this error of loading pcsc-mini reports that npm has no binary for this machine, or did not install it. */
export function isNotInstalled(cause: unknown): boolean {
  const message = cause instanceof Error ? cause.message : '';
  return !SYSTEM_LIBRARY.test(message) && NOT_INSTALLED.test(message);
}

/** Advice about a binding that does not load. It blames npm's optional packages for every failure, so look at the system's text. */
export function explainLoadFailure(message: string): string {
  if (/libpcsclite\.so/.test(message)) {
    return 'The PC/SC library libpcsclite.so.1 is missing: install it with `apt-get install libpcsclite1 pcscd`.';
  }
  if (NOT_INSTALLED.test(message)) {
    return `The PC/SC binding for ${process.platform}-${process.arch} is not installed: ${howToReinstall()}.`;
  }
  return `The PC/SC binding could not be loaded: ${message.split('\n', 1)[0]}`;
}

/** Advice if node:ffi is missing. */
export const explainNoFfi = (): string =>
  `Card readers on ${process.platform}-${process.arch} need devmgr's executable or Node 26.1 or later; this is Node ${process.versions.node}.`;

const SERVICE_PROGRAMS = ['/usr/sbin/pcscd', '/usr/local/sbin/pcscd', '/usr/bin/pcscd', '/sbin/pcscd'];

/** How to start the PC/SC service on this machine. */
export function howToStartService(): string {
  if (process.platform === 'win32') return 'Start the service "Smart Card" (SCardSvr).';
  if (process.platform === 'darwin') return 'Plug the reader in again, or restart the machine.';
  if (!SERVICE_PROGRAMS.some(file => existsSync(file))) return 'Install it with `apt-get install pcscd`.';
  if (existsSync('/run/systemd/system')) return 'Start it with `systemctl enable --now pcscd.socket`.';
  return 'Start it as root with `pcscd`.';
}
