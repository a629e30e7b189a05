/** Where journal entries are forwarded to, from a URL and the environment. */
import { readFileSync } from 'node:fs';
import { daemonSettings } from '../../src/contract/daemon-settings.ts';
import { type Env, isLoopbackName } from '../../src/contract/local.ts';
import { hostOf } from '../base/networks.ts';
import { privateText } from '../base/private-file.ts';
import { StartRefused } from '../base/start-refused.ts';

/** The place that receives journal entries. */
export type ForwardTarget = SyslogTarget | HttpTarget;

interface AnyTarget {
  /** The URL without its query: a query can contain a secret. */
  readonly name: string;
  /** The whole URL: tells one target from another. Not for the log. */
  readonly url: string;
  /** PEM file with the certificates to trust instead of the usual ones. */
  readonly caFile: string | null;
}

/** A syslog receiver: TCP, TLS or a Unix stream socket. */
export interface SyslogTarget extends AnyTarget {
  readonly kind: 'tcp' | 'tls' | 'unix';
  /** Empty for a Unix socket. */
  readonly host: string;
  readonly port: number;
  /** Path of a Unix socket, else empty. */
  readonly path: string;
}

/** A server that takes NDJSON in POST requests. */
export interface HttpTarget extends AnyTarget {
  readonly kind: 'http';
  /** The bearer token: a text, or a file that is read for each request. Null if there is none. */
  readonly token: { readonly text: string } | { readonly file: string } | null;
}

/** RFC 5425 assigns 6514 to TLS. Plain TCP has no port of its own; receivers use that of UDP. */
const defaultPorts = { tcp: 514, tls: 6514 } as const;
const forms = 'syslog+tcp://HOST:PORT, syslog+tls://HOST:PORT, syslog+unix:///PATH, or https://HOST/PATH';

/** Null if nothing is to be forwarded. Throws `StartRefused` if the target or a file that it needs is not usable. */
export function forwardTarget(flag: string | null, env: Env): ForwardTarget | null {
  const text = flag ?? env[daemonSettings.forward.variable];
  if (text === undefined || text === '') return null;
  const url = URL.parse(text);
  if (!url) throw refused('the target of --forward is not a URL');
  if (url.username || url.password)
    throw refused(
      'the target of --forward contains credentials, which others could read',
      `put a token into a file and name it in ${daemonSettings.forwarding.tokenFile.variable}`,
    );
  const caFile = readable(env[daemonSettings.forwarding.ca.variable], daemonSettings.forwarding.ca.variable);
  const shared = { name: `${url.protocol}//${url.host}${url.pathname}`, url: url.href, caFile };
  if (url.protocol === 'https:' || url.protocol === 'http:') return httpTarget(url, env, shared);
  return syslogTarget(url, shared);
}

function httpTarget(url: URL, env: Env, shared: AnyTarget): HttpTarget {
  if (url.protocol === 'http:' && !isLoopbackName(url.hostname))
    throw refused(`--forward ${shared.name} is not encrypted`, 'write https://; http:// is for this machine only');
  const text = env[daemonSettings.forwarding.token.variable];
  const file = tokenFile(env);
  return { kind: 'http', ...shared, token: file !== null ? { file } : text ? { text } : null };
}

function syslogTarget(url: URL, shared: AnyTarget): SyslogTarget {
  const kind = /^syslog\+(tcp|tls|unix):$/.exec(url.protocol)?.[1] as SyslogTarget['kind'] | undefined;
  if (!kind) throw refused(`--forward does not know the scheme ${url.protocol.slice(0, -1)}`);
  if (url.search || url.hash) throw refused(`--forward ${shared.name} must not have a query or fragment`);
  if (kind === 'unix') {
    const path = pathOf(url);
    if (url.host || path === '' || path === '/') throw refused('--forward needs the path of the socket');
    return { kind, ...shared, host: '', port: 0, path };
  }
  const host = hostOf(url);
  if (host === '' || url.port === '0') throw refused('--forward needs a host and a port from 1 to 65535');
  if (url.pathname !== '' && url.pathname !== '/') throw refused(`--forward ${shared.name} must not have a path`);
  return { kind, ...shared, host, port: url.port ? Number(url.port) : defaultPorts[kind], path: '' };
}

function pathOf(url: URL): string {
  try {
    return decodeURIComponent(url.pathname);
  } catch {
    throw refused('the path of the socket in --forward is malformed');
  }
}

/** The file with the token if it can be read now; null if none is named. Refuses a file that others can read. */
function tokenFile(env: Env): string | null {
  const file = env[daemonSettings.forwarding.tokenFile.variable];
  if (file === undefined || file === '') return null;
  if (privateText(file, 'a token', env, refused) === null)
    throw refused(
      `${file} of ${daemonSettings.forwarding.tokenFile.variable} cannot be read: it does not exist`,
      'check its path',
    );
  return file;
}

/** The file if it can be read now; null if none is named. */
function readable(file: string | undefined, name: string): string | null {
  if (file === undefined || file === '') return null;
  try {
    readFileSync(file);
    return file;
  } catch (error) {
    throw refused(`${file} of ${name} cannot be read: ${(error as Error).message}`, 'check its path and its mode');
  }
}

const refused = (message: string, hint = `write ${forms}`): StartRefused => new StartRefused(2, message, hint);
