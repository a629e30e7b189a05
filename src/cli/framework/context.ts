/** Context of a command. */
import type { Programs } from '../../contract/programs.ts';
import { fixedEndpoint, listEndpoint, type ServerEndpoint } from '../client/addresses.ts';
import { Client } from '../client/client.ts';
import { usage } from '../fault.ts';
import { LocalEndpoint } from '../session/endpoints.ts';
import { firstAdmin, firstPasswordFile } from '../session/first-password.ts';
import { LocalHardwareSession, RegistrySession } from '../session/session.ts';
import { localIdentity, readLoginName } from '../settings/credentials.ts';
import { textIn } from '../settings/files.ts';
import { listIdentity } from '../settings/known-servers.ts';
import {
  addressesOf,
  couldBeLocal,
  hasSeveralAddresses,
  isLocalServer,
  isLoopback,
  readDaemonInfo,
  runningDaemon,
  type Settings,
} from '../settings/settings.ts';
import type { Io } from '../terminal/io.ts';
import type { Output } from '../terminal/output.ts';
import { safeProse, shellWord } from '../terminal/text.ts';
import type { GlobalValues } from './flags.ts';

/** Context of a command. The clients are created at their first use. */
export interface Context {
  readonly io: Io;
  readonly out: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly settings: Settings;
  readonly globals: GlobalValues;
  readonly programs: Programs;
  /** The flags that name the server and the home, as the person typed them. */
  readonly serverFlags: string;
  /** Whether prompts are possible. */
  readonly canAsk: boolean;
  /** The registry. */
  readonly registry: Client;
  /** The hardware service: the daemon that sees the attached keys. */
  readonly hardware: Client;
  /** The name under which tokens of the registry are stored. */
  identity(): string;
  /** That name, then those that a registry with several addresses may have had. */
  identities(): readonly [string, ...string[]];
  /** Advice if there is no valid token. A token in the environment overrides a login, so logging in would not help. */
  loginHint(how?: string): string;
  /** How to accept a server that the profile does not know. */
  readonly acceptHint: string;
}

/** A notice on standard error. With --json, which reserves it for errors, only with --verbose. */
export function notify({ globals, out }: Pick<Context, 'globals' | 'out'>, text: string): void {
  if (globals.json) out.trace(text);
  else out.notice(text);
}

/** Parts of a context; the rest is derived. */
type ContextParts = Omit<
  Context,
  'canAsk' | 'registry' | 'hardware' | 'identity' | 'identities' | 'loginHint' | 'acceptHint'
>;

/** A context. Connects to nothing and starts nothing. */
export function createContext(given: ContextParts): Context {
  const { io, out, env, settings, globals, programs, serverFlags } = given;
  const parts: ContextParts = { io, out, env, settings, globals, programs, serverFlags };
  let registry: Client | undefined;
  let hardware: Client | undefined;
  const identity = () => identityOf(settings);
  return {
    ...parts,
    get canAsk() {
      return globals.input && io.stdinIsTerminal && io.stderrIsTerminal;
    },
    identity,
    identities: () => {
      const others = hasSeveralAddresses(settings.server) ? addressesOf(settings.server) : [];
      return [identity(), ...others.filter(address => address !== identity())];
    },
    loginHint: how => loginHintOf(parts, how),
    acceptHint: acceptHintOf(parts),
    get registry() {
      registry ??= createRegistry(parts, identity);
      return registry;
    },
    get hardware() {
      hardware ??= createHardware(parts, this.registry);
      return hardware;
    },
  };
}

function loginHintOf(parts: ContextParts, how = 'log in'): string {
  const { settings } = parts;
  if (settings.token !== null) return 'unset or replace DEVMGR_TOKEN';
  const file = firstPasswordFile(settings);
  return file === null
    ? `${how}: ${commandLine(parts, 'login')}`
    : `${how} with the first password: ${firstLogin(parts, file)}`;
}

const acceptHintOf = (parts: ContextParts): string =>
  `if it was reinstalled, or restored to a new home, accept it: ${commandLine(parts, 'login')} --accept-new-server`;

/** The first login as a command to copy. `file` holds the first password. */
export const firstLogin = (context: Pick<Context, 'serverFlags' | 'env'>, file: string): string =>
  `${commandLine(context, 'login')} ${firstAdmin(context.env)} --password-file ${shellWord(file)}`;

/** A command to copy, with the flags of this one that name the server and the home. */
export const commandLine = ({ serverFlags }: Pick<Context, 'serverFlags'>, words: string): string =>
  ['devmgr', words, serverFlags].filter(Boolean).join(' ');

function clientOptions({ io, out, settings, globals }: ContextParts) {
  return {
    ca: readCa(settings.ca),
    signal: io.interrupt,
    wait: globals.wait,
    // With --json standard error holds only JSON.
    notice: (text: string) => notify({ globals, out }, safeProse(text)),
    waiting: (text: string) => notify({ globals, out }, text),
    trace: (text: string) => out.trace(text),
  };
}

function localEndpoint(parts: ContextParts, settings: Settings): LocalEndpoint {
  const { notice } = clientOptions(parts);
  return new LocalEndpoint({ settings, autostart: parts.globals.autostart, signal: parts.io.interrupt, notice });
}

/**
 * A daemon that crashed leaves its address behind, and the daemon of another home or another process may listen there: only a
 * running one is the local daemon.
 */
function identityOf(settings: Settings): string {
  const { server } = settings;
  if (hasSeveralAddresses(server)) return listIdentity(settings, addressesOf(server));
  return server === null || (isLocalServer(settings) && runningDaemon(settings.home)) ? localIdentity : server;
}

function createRegistry(parts: ContextParts, identity: () => string): Client {
  const session = registrySession(parts, parts.settings, identity);
  return new Client({ ...clientOptions(parts), endpoint: registryEndpoint(parts), session });
}

function registrySession(parts: ContextParts, settings: Settings, identity: () => string): RegistrySession {
  const { notice } = clientOptions(parts);
  const loginHint = () => loginHintOf(parts);
  return new RegistrySession({ settings, identity, notice, loginHint, acceptHint: acceptHintOf(parts) });
}

function registryEndpoint(parts: ContextParts): ServerEndpoint {
  const { settings } = parts;
  if (hasSeveralAddresses(settings.server)) return listEndpoint(addressesOf(settings.server));
  return couldBeLocal(settings) ? localEndpoint(parts, settings) : fixedEndpoint(settings.server ?? '');
}

/** The one that --hardware names, else the registry if one of its addresses is on this machine, else the local daemon. */
function createHardware(parts: ContextParts, registry: Client): Client {
  const { settings } = parts;
  const { server, hardware } = settings;
  if (server === null && hardware === null) return registry;
  const all = addressesOf(server);
  const shared = all.filter(address => (hardware === null ? isLoopback(address) : hardware === address));
  const [first, ...others] = shared;
  if (first !== undefined) return shared.length === all.length ? registry : registry.at(first, ...others);
  const options = clientOptions(parts);
  const own = new LocalHardwareSession(settings.home);
  if (hardware === null || hardware === readDaemonInfo(settings.home)?.url)
    return new Client({ ...options, endpoint: localEndpoint(parts, { ...settings, server: null }), session: own });
  const loggedIn = readLoginName(settings, hardware) !== null;
  const session = loggedIn ? registrySession(parts, { ...settings, token: null }, () => hardware) : own;
  return new Client({ ...options, endpoint: fixedEndpoint(hardware), session });
}

function readCa(file: string | null): string | undefined {
  if (file === null) return undefined;
  const text = textIn(file, 'the certificates');
  if (!text.includes('-----BEGIN CERTIFICATE-----')) throw usage(`${file} does not contain a certificate in PEM form`);
  return text;
}
