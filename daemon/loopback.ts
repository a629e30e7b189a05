import { isIP } from 'node:net';

/** Whether a host name or address (without port) always means this machine. */
export function isLoopbackName(name: string): boolean {
  if (name === 'localhost' || name === '[::1]' || name === '::1') return true;
  return isIP(name) === 4 && name.startsWith('127.');
}
