import ipaddr from 'ipaddr.js';
import { daemonSettings } from '../../src/contract/daemon-settings.ts';
import { passwordLength } from '../../src/contract/limits.ts';
import { isLoopbackName } from '../../src/contract/local.ts';
import { StartRefused } from '../base/start-refused.ts';
import type { Cost } from './bounds.ts';
import type { ReadSettings } from './given-settings.ts';

/** How the daemon runs. */
export interface DaemonSettings extends ReadSettings {
  /** Folder of everything that the daemon stores. */
  readonly home: string;
  /** Log as NDJSON on stdout instead of lines for people on stderr. */
  readonly json: boolean;
  readonly verbose: boolean;
  /** Whether to watch USB and PC/SC, if the role includes keys; tests of other things leave the hardware of the machine alone. */
  readonly hardware: boolean;
  /** Cost of new password hashes; absent for the recommended one. Only tests set it: no flag and no variable does. */
  readonly passwordCost?: Cost | undefined;
}

/** Throws `StartRefused` if a setting belongs to what the role leaves out. */
export function checkRole({ role, simulateKeys, ukeyMatch, files, forward, store, secrets }: DaemonSettings): void {
  if (role === 'registry' && (simulateKeys > 0 || ukeyMatch.length > 0))
    throw new StartRefused(
      2,
      'a daemon with the role registry does not look for keys',
      'omit --simulate-keys and --ukey-match',
    );
  if (role === 'station' && (files || forward || store || secrets))
    throw new StartRefused(
      2,
      'a daemon with the role station has no registry',
      'omit --store, --secrets, --files and --forward',
    );
}

/** Only for the first administrator: later the variable has no effect. Throws `StartRefused`. */
export function checkFirstPassword(password: string): void {
  const length = [...password].length;
  if (length < passwordLength.min || length > passwordLength.max)
    throw new StartRefused(
      2,
      `${daemonSettings.admin.password.variable} must have ${passwordLength.min} to ${passwordLength.max} characters`,
    );
}

/** Whether requests can come through a proxy. One that adds no header looks like a client on this machine. */
export function isBehindProxy({ trustProxy, allowHost }: DaemonSettings): boolean {
  return trustProxy.length > 0 || allowHost.length > 0;
}

/** Throws `StartRefused` if passwords and tokens would cross a network unencrypted, or if an address is not valid. */
export function checkNetwork(settings: DaemonSettings): void {
  if ((settings.tlsCert === undefined) !== (settings.tlsKey === undefined))
    throw new StartRefused(2, '--tls-cert and --tls-key must be given together');
  if (!isLoopbackName(settings.host) && !settings.tlsCert && !settings.insecureHttp)
    throw new StartRefused(
      2,
      `${settings.host} is not loopback: passwords would cross the network unencrypted`,
      'give --tls-cert and --tls-key, or --insecure-http behind a proxy that does TLS',
    );
  for (const cidr of settings.trustProxy)
    if (!ipaddr.isValidCIDR(cidr) && !ipaddr.isValid(cidr))
      throw new StartRefused(2, `--trust-proxy ${cidr} is neither an address nor a CIDR`, 'write it like 10.0.0.0/8');
}
